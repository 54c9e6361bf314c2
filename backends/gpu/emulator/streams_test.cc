// Streams of the emulated driver: when work is done, what finds that nothing waits for it, graphs.
#include "backends/gpu/emulator/streams.h"

#include "backends/gpu/emulator/emulated_driver.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

constexpr const char* kAddOne = R"(.version 7.0
.target sm_80
.visible .entry more(.param .u64 p)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  add.s32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
constexpr unsigned kThreads = 32;
constexpr size_t kBytes = kThreads * sizeof(uint32_t);

/// Two streams, memory on both sides.
class StreamsOfADriver {
 public:
  explicit StreamsOfADriver(uint64_t seed, bool checks = true) : api_(Start(seed, checks)) {
    CuContext context = nullptr;
    CuModule module = nullptr;
    Expect(api_.Init(0));
    Expect(api_.DevicePrimaryCtxRetain(&context, 0));
    Expect(api_.CtxSetCurrent(context));
    Expect(api_.ModuleLoadDataEx(&module, kAddOne, 0, nullptr, nullptr));
    Expect(api_.ModuleGetFunction(&function_, module, "more"));
    for (CuStream& stream : streams) Expect(api_.StreamCreate(&stream, 1));
    Expect(api_.EventCreate(&event, 0));
    Expect(api_.MemAlloc(&device, kBytes));
    void* memory = nullptr;
    Expect(api_.MemHostAlloc(&memory, kBytes, 0));
    host = static_cast<uint32_t*>(memory);
    std::fill(host, host + kThreads, 0);
  }
  static const DriverApi& Start(uint64_t seed, bool checks) {
    EmulatedDriverOptions options;
    options.device.memory = 1 << 20;
    options.device.seed = seed;
    options.device.check_races = checks;
    return StartEmulatedDriver(options);
  }
  static void Expect(CuResult result) { EXPECT_EQ(result, CuResult::Success) << NameOf(result); }

  void Launch(CuStream stream) {
    void* params[] = {&device};
    Expect(api_.LaunchKernel(function_, 1, 1, 1, kThreads, 1, 1, 0, stream, params, nullptr));
  }
  void Upload(CuStream stream) { Expect(api_.MemcpyHtoDAsync(device, host, kBytes, stream)); }
  void Download(CuStream stream) { Expect(api_.MemcpyDtoHAsync(host, device, kBytes, stream)); }
  void Order(CuStream before, CuStream after) {
    Expect(api_.EventRecord(event, before));
    Expect(api_.StreamWaitEvent(after, event, 0));
  }
  const DriverApi& api() { return api_; }

  CuStream streams[2] = {};
  CuEvent event = nullptr;
  CuDevicePtr device = 0;
  uint32_t* host = nullptr;

 private:
  const DriverApi& api_;
  CuFunction function_ = nullptr;
};

TEST(EmulatedStreams, WorkIsDoneWhenItIsWaitedFor) {
  bool late = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    StreamsOfADriver driver(seed);
    driver.Upload(driver.streams[0]);
    driver.Launch(driver.streams[0]);
    driver.Download(driver.streams[0]);
    late |= driver.host[0] == 0;
    EXPECT_TRUE(seed != 0 || driver.host[0] == 1);
    driver.Expect(driver.api().StreamSynchronize(driver.streams[0]));
    EXPECT_EQ(driver.host[kThreads - 1], 1U);
  }
  EXPECT_TRUE(late);
}

TEST(EmulatedStreams, TheHostWritesTooEarly) {
  bool wrong = false;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    StreamsOfADriver driver(seed);
    driver.Upload(driver.streams[0]);
    driver.host[0] = 7;  // nobody has waited for the copy
    driver.Download(driver.streams[0]);
    driver.Expect(driver.api().EventRecord(driver.event, driver.streams[0]));
    driver.Expect(driver.api().EventSynchronize(driver.event));
    wrong |= driver.host[0] == 7;
  }
  EXPECT_TRUE(wrong);
}

TEST(EmulatedStreams, EventsOrderStreams) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    StreamsOfADriver driver(seed);
    driver.Upload(driver.streams[0]);
    driver.Order(driver.streams[0], driver.streams[1]);
    driver.Launch(driver.streams[1]);
    driver.Order(driver.streams[1], driver.streams[0]);
    driver.Launch(driver.streams[0]);
    driver.Download(driver.streams[0]);
    driver.Expect(driver.api().CtxSynchronize());
    EXPECT_EQ(driver.host[0], 2U);
  }
}

TEST(EmulatedStreams, WhatNothingOrdersIsFound) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    StreamsOfADriver driver(seed);
    driver.Upload(driver.streams[0]);
    driver.Expect(driver.api().StreamSynchronize(driver.streams[0]));
    driver.Launch(driver.streams[0]);
    driver.Launch(driver.streams[1]);
    EXPECT_EQ(driver.api().CtxSynchronize(), CuResult::LaunchFailed);
    EXPECT_NE(EmulatedReport().find("what work of another stream has written that is not waited for"),
              std::string::npos)
        << EmulatedReport();
  }
}

TEST(EmulatedStreams, CopiesThatNothingOrdersAreFound) {
  StreamsOfADriver driver(0);
  driver.Upload(driver.streams[0]);
  EXPECT_EQ(driver.api().MemcpyDtoHAsync(driver.host, driver.device, kBytes, driver.streams[1]),
            CuResult::LaunchFailed);
  EXPECT_NE(EmulatedReport().find("race: a copy reads"), std::string::npos) << EmulatedReport();
}

TEST(EmulatedStreams, PollingGoesOn) {
  StreamsOfADriver driver(3);
  driver.Upload(driver.streams[0]);
  for (int i = 0; i < 10; ++i) driver.Launch(driver.streams[0]);
  driver.Expect(driver.api().EventRecord(driver.event, driver.streams[0]));
  int polls = 0;
  CuResult result = CuResult::NotReady;
  for (; result == CuResult::NotReady && polls < 100; ++polls) result = driver.api().EventQuery(driver.event);
  EXPECT_EQ(result, CuResult::Success);
  EXPECT_GT(polls, 1);
  EXPECT_EQ(driver.api().StreamQuery(driver.streams[0]), CuResult::Success);
}

TEST(EmulatedStreams, GraphsAreAskedForAgain) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    StreamsOfADriver driver(seed);
    const DriverApi& api = driver.api();
    CuGraph graph = nullptr;
    CuGraphExec exec = nullptr;
    driver.Upload(driver.streams[0]);
    driver.Expect(api.StreamSynchronize(driver.streams[0]));
    EXPECT_EQ(api.StreamEndCapture(driver.streams[0], &graph), CuResult::IllegalState);
    EXPECT_EQ(api.StreamBeginCapture(nullptr, 0), CuResult::StreamCaptureUnsupported);
    driver.Expect(api.StreamBeginCapture(driver.streams[0], 0));
    EXPECT_EQ(api.StreamBeginCapture(driver.streams[0], 0), CuResult::IllegalState);
    driver.Launch(driver.streams[0]);
    driver.Launch(driver.streams[0]);
    EXPECT_EQ(api.StreamSynchronize(driver.streams[0]), CuResult::StreamCaptureUnsupported);
    driver.Expect(api.StreamEndCapture(driver.streams[0], &graph));
    driver.Expect(api.GraphInstantiate(&exec, graph, 0));
    driver.Expect(api.GraphDestroy(graph));
    for (int i = 0; i < 3; ++i) driver.Expect(api.GraphLaunch(exec, driver.streams[0]));
    driver.Download(driver.streams[0]);
    driver.Expect(api.StreamSynchronize(driver.streams[0]));
    EXPECT_EQ(driver.host[5], 6U);
    driver.Expect(api.GraphExecDestroy(exec));
    EXPECT_EQ(api.GraphLaunch(exec, driver.streams[0]), CuResult::InvalidHandle);
  }
}

}  // namespace
}  // namespace hlo::gpu
