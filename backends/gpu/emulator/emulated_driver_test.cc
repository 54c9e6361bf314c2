// The driver's functions on an emulated device: what they do, what they refuse, what planned faults make of
// them.
#include "backends/gpu/emulator/emulated_driver.h"

#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

constexpr const char* kDouble = R"(.version 7.0
.target sm_80
.global .align 4 .u32 calls;
.visible .entry twice(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 exit;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  add.s32 %r3, %r3, %r3;
  st.global.u32 [%rd1], %r3;
  red.global.add.u32 [calls], 1;
  ret;
}
)";

/// A driver with a context and the module above.
struct Started {
  const DriverApi& api;
  CuModule module = nullptr;
  CuFunction function = nullptr;

  explicit Started(EmulatedDriverOptions options = {}) : api(Start(options)) {
    EXPECT_EQ(api.ModuleLoadDataEx(&module, kDouble, 0, nullptr, nullptr), CuResult::Success);
    EXPECT_EQ(api.ModuleGetFunction(&function, module, "twice"), CuResult::Success);
  }
  static const DriverApi& Start(EmulatedDriverOptions& options) {
    options.device.memory = 1 << 20;
    const DriverApi& api = StartEmulatedDriver(options);
    EXPECT_EQ(api.Init(0), CuResult::Success);
    CuContext context = nullptr;
    EXPECT_EQ(api.DevicePrimaryCtxRetain(&context, 0), CuResult::Success);
    EXPECT_EQ(api.CtxSetCurrent(context), CuResult::Success);
    return api;
  }
  [[nodiscard]] CuResult Launch(CuDevicePtr address, unsigned count, unsigned threads = 32) const {
    void* params[] = {&address, &count};
    return api.LaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, params, nullptr);
  }
  [[nodiscard]] CuDevicePtr Numbers() const {
    CuDevicePtr address = 0;
    EXPECT_EQ(api.MemAlloc(&address, 16), CuResult::Success);
    const uint32_t numbers[] = {1, 2, 3, 4};
    EXPECT_EQ(api.MemcpyHtoD(address, numbers, 16), CuResult::Success);
    return address;
  }
};

TEST(EmulatedDriver, RunsAKernel) {
  const Started driver;
  const CuDevicePtr address = driver.Numbers();
  ASSERT_EQ(driver.Launch(address, 4), CuResult::Success);
  uint32_t numbers[4] = {};
  ASSERT_EQ(driver.api.MemcpyDtoH(numbers, address, 16), CuResult::Success);
  EXPECT_EQ(numbers[3], 8U);
  CuDevicePtr calls = 0;
  size_t bytes = 0;
  ASSERT_EQ(driver.api.ModuleGetGlobal(&calls, &bytes, driver.module, "calls"), CuResult::Success);
  EXPECT_EQ(bytes, 4U);
  ASSERT_EQ(driver.api.MemcpyDtoH(numbers, calls, 4), CuResult::Success);
  EXPECT_EQ(numbers[0], 4U);
  EXPECT_EQ(EmulatedCounts().launches, 1U);
}

TEST(EmulatedDriver, AsksForInitAndContext) {
  const DriverApi& api = StartEmulatedDriver({});
  int count = 0;
  EXPECT_EQ(api.DeviceGetCount(&count), CuResult::NotInitialized);
  EXPECT_EQ(api.Init(1), CuResult::InvalidValue);
  EXPECT_EQ(api.Init(0), CuResult::Success);
  EXPECT_EQ(api.DeviceGetCount(&count), CuResult::Success);
  EXPECT_EQ(count, 1);
  CuDevice device = 0;
  EXPECT_EQ(api.DeviceGet(&device, 1), CuResult::InvalidDevice);
  CuDevicePtr address = 0;
  EXPECT_EQ(api.MemAlloc(&address, 16), CuResult::InvalidContext);
  EmulatedDriverOptions none;
  none.devices = 0;
  EXPECT_EQ(StartEmulatedDriver(none).Init(0), CuResult::NoDevice);
}

TEST(EmulatedDriver, TellsOfTheTarget) {
  EmulatedDriverOptions options;
  options.device.sm = 80;
  const DriverApi& api = Started::Start(options);
  int major = 0, shared = 0;
  EXPECT_EQ(api.DeviceGetAttribute(&major, CuAttribute::ComputeCapabilityMajor, 0), CuResult::Success);
  EXPECT_EQ(major, 8);
  EXPECT_EQ(api.DeviceGetAttribute(&shared, CuAttribute::MaxSharedMemoryPerBlockOptin, 0), CuResult::Success);
  EXPECT_EQ(shared, 163 << 10);
  EXPECT_EQ(api.DeviceGetAttribute(&shared, 4711, 0), CuResult::InvalidValue);
  CuModule module = nullptr;
  EXPECT_EQ(
      api.ModuleLoadDataEx(&module, ".version 8.0\n.target sm_90\n.entry k() { ret; }", 0, nullptr, nullptr),
      CuResult::NoBinaryForGpu);
}

TEST(EmulatedDriver, WrongPtxIsExplained) {
  const Started driver;
  CuModule module = nullptr;
  char log[256] = {};
  int options[] = {CuAttribute::ErrorLogBuffer, CuAttribute::ErrorLogBytes};
  // Sizes stand in the place of pointers.
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};  // NOLINT(performance-no-int-to-ptr)
  const char* wrong = ".version 8.0\n.target sm_80\n.entry k() {\n  sdd.s32 %r1, %r2, %r3;\n}\n";
  EXPECT_EQ(driver.api.ModuleLoadDataEx(&module, wrong, 2, options, values), CuResult::InvalidPtx);
  EXPECT_NE(std::string(log).find("ptx:4:3: error: unknown instruction 'sdd'"), std::string::npos) << log;
  EXPECT_EQ(driver.api.ModuleLoadDataEx(&module, "ELF", 0, nullptr, nullptr), CuResult::InvalidImage);
  CuFunction function = nullptr;
  EXPECT_EQ(driver.api.ModuleGetFunction(&function, driver.module, "thrice"), CuResult::NotFound);
  EXPECT_EQ(driver.api.ModuleGetFunction(&function, &log, "twice"), CuResult::InvalidHandle);
  EXPECT_EQ(driver.api.ModuleUnload(driver.module), CuResult::Success);
  EXPECT_EQ(driver.api.ModuleUnload(driver.module), CuResult::InvalidHandle);
}

TEST(EmulatedDriver, WhatAKernelDoesWrongStays) {
  const Started driver;
  const CuDevicePtr address = driver.Numbers();
  EXPECT_EQ(driver.Launch(address, 5), CuResult::Success);  // found out by the next call
  EXPECT_EQ(driver.api.CtxSynchronize(), CuResult::IllegalAddress);
  EXPECT_EQ(driver.api.MemFree(address), CuResult::IllegalAddress);
  EXPECT_NE(EmulatedReport().find("thread (4,0,0)"), std::string::npos) << EmulatedReport();
  EXPECT_NE(EmulatedReport().find("0 bytes beyond the 16 bytes"), std::string::npos) << EmulatedReport();
}

TEST(EmulatedDriver, LaunchesHaveLimits) {
  const Started driver;
  const CuDevicePtr address = driver.Numbers();
  EXPECT_EQ(driver.Launch(address, 4, 2048), CuResult::InvalidValue);
  EXPECT_EQ(driver.Launch(address, 4, 0), CuResult::InvalidValue);
  void* params[] = {nullptr, nullptr};
  EXPECT_EQ(driver.api.LaunchKernel(driver.function, 1, 1, 1, 32, 1, 1, 100 << 10, nullptr, params, nullptr),
            CuResult::InvalidValue);
  EXPECT_EQ(
      driver.api.FuncSetAttribute(driver.function, CuAttribute::FunctionMaxDynamicSharedBytes, 300 << 10),
      CuResult::InvalidValue);
  EXPECT_EQ(
      driver.api.FuncSetAttribute(driver.function, CuAttribute::FunctionMaxDynamicSharedBytes, 100 << 10),
      CuResult::Success);
  EXPECT_EQ(driver.api.CtxSynchronize(), CuResult::Success);  // none of these stays
}

TEST(EmulatedDriver, MemoryIsCounted) {
  const Started driver;
  size_t free = 0, total = 0, less = 0;
  ASSERT_EQ(driver.api.MemGetInfo(&free, &total), CuResult::Success);
  EXPECT_EQ(total, size_t{1} << 20);
  CuDevicePtr first = 0, second = 0;
  ASSERT_EQ(driver.api.MemAlloc(&first, 1 << 19), CuResult::Success);
  ASSERT_EQ(driver.api.MemGetInfo(&less, &total), CuResult::Success);
  EXPECT_EQ(free - less, size_t{1} << 19);
  EXPECT_EQ(driver.api.MemAlloc(&second, 1 << 19), CuResult::OutOfMemory);
  EXPECT_EQ(driver.api.MemFree(first), CuResult::Success);
  EXPECT_EQ(driver.api.MemFree(first), CuResult::InvalidValue);
  // What was freed is used again when nothing else is left.
  EXPECT_EQ(driver.api.MemAlloc(&second, 1 << 19), CuResult::Success);
  uint8_t byte = 0;
  EXPECT_EQ(driver.api.MemcpyDtoH(&byte, second + (1 << 19), 1), CuResult::InvalidValue);
}

TEST(EmulatedDriver, WhatNobodyWroteIsNotCopiedToTheHost) {
  const Started driver;
  const CuDevicePtr address = driver.Numbers();
  std::array<uint32_t, 4> numbers{};
  EXPECT_EQ(driver.api.MemcpyDtoH(numbers.data(), address, 16), CuResult::Success);
  ForgetEmulatedMemory(nullptr, address + 4, 8);
  EXPECT_EQ(driver.api.MemcpyDtoH(numbers.data(), address, 16), CuResult::LaunchFailed);
  EXPECT_EQ(EmulatedReport(), "8 of 16 bytes that are copied to the host were written by nobody");
}

TEST(EmulatedDriver, FaultsArePlanned) {
  EmulatedDriverOptions options;
  options.faults = {{"MemAlloc", 2, CuResult::OutOfMemory}, {"LaunchKernel", 2, CuResult::LaunchFailed}};
  const Started driver(options);
  CuDevicePtr address = driver.Numbers(), other = 0;
  EXPECT_EQ(driver.api.MemAlloc(&other, 16), CuResult::OutOfMemory);
  EXPECT_EQ(driver.api.MemAlloc(&other, 16), CuResult::Success);
  EXPECT_EQ(driver.Launch(address, 4), CuResult::Success);
  EXPECT_EQ(driver.Launch(address, 4), CuResult::LaunchFailed);
  EXPECT_EQ(driver.api.CtxSynchronize(), CuResult::LaunchFailed);  // for ever
}

TEST(EmulatedDriver, StreamsAndEventsAreThere) {
  const Started driver;
  CuStream stream = nullptr;
  CuEvent begin = nullptr, end = nullptr;
  ASSERT_EQ(driver.api.StreamCreate(&stream, 1), CuResult::Success);
  ASSERT_EQ(driver.api.EventCreate(&begin, 0), CuResult::Success);
  ASSERT_EQ(driver.api.EventCreate(&end, 0), CuResult::Success);
  float time = -1;
  EXPECT_EQ(driver.api.EventElapsedTime(&time, begin, end), CuResult::InvalidHandle);
  EXPECT_EQ(driver.api.EventRecord(begin, stream), CuResult::Success);
  EXPECT_EQ(driver.api.EventRecord(end, stream), CuResult::Success);
  EXPECT_EQ(driver.api.EventElapsedTime(&time, begin, end), CuResult::Success);
  EXPECT_GE(time, 0);
  EXPECT_EQ(driver.api.StreamWaitEvent(stream, begin, 0), CuResult::Success);
  EXPECT_EQ(driver.api.StreamDestroy(stream), CuResult::Success);
  EXPECT_EQ(driver.api.StreamSynchronize(stream), CuResult::InvalidHandle);
  EXPECT_EQ(driver.api.EventDestroy(begin), CuResult::Success);
  EXPECT_EQ(driver.api.EventQuery(begin), CuResult::InvalidHandle);
}

}  // namespace
}  // namespace hlo::gpu
