// Devices and contexts. A context is the address of its device.
#include "backends/gpu/emulator/driver_state.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu::emulated {
namespace {

constexpr int kMultiprocessors = 1;

bool IsDevice(CuDevice device) {
  return device >= 0 && device < static_cast<CuDevice>(TheDriver().devices.size());
}

}  // namespace

CuResult Init(unsigned flags) {
  const Call call("Init", Needs::Nothing);
  if (call.failed()) return call.result();
  if (flags != 0) return CuResult::InvalidValue;
  Driver& driver = TheDriver();
  if (driver.initialized) return CuResult::Success;
  for (int i = 0; i < driver.options.devices; ++i) {
    auto device = Device::Create(driver.options.device);
    if (!device) return CuResult::OutOfMemory;
    driver.devices.push_back(std::move(*device));
  }
  if (driver.devices.empty()) return CuResult::NoDevice;
  driver.work.Start(driver.options.device.seed);
  driver.initialized = true;
  return CuResult::Success;
}

CuResult DriverGetVersion(int* version) {
  const Call call("DriverGetVersion", Needs::Nothing);
  if (version == nullptr) return CuResult::InvalidValue;
  *version = TheDriver().options.version;
  return call.result();
}

CuResult GetErrorName(CuResult error, const char** name) {
  *name = NameOf(error);
  return *name != nullptr ? CuResult::Success : CuResult::InvalidValue;
}
CuResult GetErrorString(CuResult error, const char** text) {
  *text = TextOf(error);
  return *text != nullptr ? CuResult::Success : CuResult::InvalidValue;
}

CuResult DeviceGetCount(int* count) {
  const Call call("DeviceGetCount", Needs::Init);
  if (!call.failed()) *count = static_cast<int>(TheDriver().devices.size());
  return call.result();
}

CuResult DeviceGet(CuDevice* device, int ordinal) {
  const Call call("DeviceGet", Needs::Init);
  if (call.failed()) return call.result();
  if (!IsDevice(ordinal)) return CuResult::InvalidDevice;
  *device = ordinal;
  return CuResult::Success;
}

CuResult DeviceGetName(char* name, int length, CuDevice device) {
  const Call call("DeviceGetName", Needs::Init);
  if (call.failed()) return call.result();
  if (!IsDevice(device)) return CuResult::InvalidDevice;
  const std::string text = llvm::formatv("emulated sm_{0}", TheDriver().options.device.sm);
  std::snprintf(name, static_cast<size_t>(length), "%s", text.c_str());
  return CuResult::Success;
}

CuResult DeviceGetAttribute(int* value, int attribute, CuDevice device) {
  const Call call("DeviceGetAttribute", Needs::Init);
  if (call.failed()) return call.result();
  if (!IsDevice(device)) return CuResult::InvalidDevice;
  const auto sm = static_cast<int>(TheDriver().options.device.sm);
  const auto optin = static_cast<int>(LimitsOf(TheDriver().options.device.sm).shared_per_block);
  // A clock and buses of no card: nothing may depend on them.
  const std::pair<int, int> values[] = {{CuAttribute::MaxThreadsPerBlock, 1024},
                                        {CuAttribute::MaxBlockDimX, 1024},
                                        {CuAttribute::MaxGridDimX, INT32_MAX},
                                        {CuAttribute::MaxSharedMemoryPerBlock, 48 << 10},
                                        {CuAttribute::WarpSize, 32},
                                        {CuAttribute::MaxRegistersPerBlock, 65536},
                                        {CuAttribute::ClockRate, 1},
                                        {CuAttribute::MultiprocessorCount, kMultiprocessors},
                                        {CuAttribute::MemoryClockRate, 1},
                                        {CuAttribute::GlobalMemoryBusWidth, 1},
                                        {CuAttribute::L2CacheSize, 1 << 20},
                                        {CuAttribute::MaxThreadsPerMultiprocessor, 2048},
                                        {CuAttribute::ComputeCapabilityMajor, sm / 10},
                                        {CuAttribute::ComputeCapabilityMinor, sm % 10},
                                        {CuAttribute::MaxSharedMemoryPerMultiprocessor, optin + (1 << 10)},
                                        {CuAttribute::MaxSharedMemoryPerBlockOptin, optin}};
  for (const auto& [key, known] : values)
    if (key == attribute) {
      *value = known;
      return CuResult::Success;
    }
  return CuResult::InvalidValue;
}

CuResult DeviceTotalMem(size_t* bytes, CuDevice device) {
  const Call call("DeviceTotalMem", Needs::Init);
  if (call.failed()) return call.result();
  if (!IsDevice(device)) return CuResult::InvalidDevice;
  *bytes = TheDriver().devices[static_cast<size_t>(device)]->memory().size();
  return CuResult::Success;
}

CuResult DevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  const Call call("DevicePrimaryCtxRetain", Needs::Init);
  if (call.failed()) return call.result();
  if (!IsDevice(device)) return CuResult::InvalidDevice;
  *context = TheDriver().devices[static_cast<size_t>(device)].get();
  return CuResult::Success;
}
CuResult DevicePrimaryCtxRelease(CuDevice device) {
  const Call call("DevicePrimaryCtxRelease", Needs::Init);
  if (call.failed()) return call.result();
  return IsDevice(device) ? CuResult::Success : CuResult::InvalidDevice;
}

CuResult CtxSetCurrent(CuContext context) {
  const Call call("CtxSetCurrent", Needs::Init);
  if (call.failed()) return call.result();
  const Driver& driver = TheDriver();
  driver.SetCurrent(-1);
  for (size_t i = 0; i < driver.devices.size(); ++i)
    if (driver.devices[i].get() == context) driver.SetCurrent(static_cast<int>(i));
  return context == nullptr || driver.current() >= 0 ? CuResult::Success : CuResult::InvalidContext;
}
CuResult CtxGetCurrent(CuContext* context) {
  const Call call("CtxGetCurrent", Needs::Init);
  if (call.failed()) return call.result();
  *context = TheDriver().current() < 0 ? nullptr : &TheDriver().device();
  return CuResult::Success;
}
CuResult CtxSynchronize() {
  const Call call("CtxSynchronize", Needs::Context);
  if (call.failed()) return call.result();
  const CuResult result = TheDriver().work.FinishAll();
  return TheDriver().sticky != CuResult::Success ? TheDriver().sticky : result;
}

}  // namespace hlo::gpu::emulated
