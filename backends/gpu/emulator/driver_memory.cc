// Memory of the device and of the host, copies, fills.
#include "backends/gpu/emulator/driver_state.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu::emulated {

CuResult MemGetInfo(size_t* free, size_t* total) {
  const Call call("MemGetInfo", Needs::Context);
  if (call.failed()) return call.result();
  const DeviceMemory& memory = TheDriver().device().memory();
  *total = memory.size();
  *free = memory.size() - memory.used();
  return CuResult::Success;
}

CuResult MemAlloc(CuDevicePtr* address, size_t bytes) {
  const Call call("MemAlloc", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().work.IsCapturingHere()) return CuResult::StreamCaptureUnsupported;
  if (bytes == 0) return CuResult::InvalidValue;
  const auto allocated = TheDriver().device().memory().Allocate(bytes);
  if (!allocated) return CuResult::OutOfMemory;
  *address = *allocated;
  return CuResult::Success;
}

/// Waits for all work, as cards do.
CuResult MemFree(CuDevicePtr address) {
  const Call call("MemFree", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().work.IsCapturingHere()) return CuResult::StreamCaptureUnsupported;
  if (address == 0) return CuResult::Success;
  if (const CuResult result = TheDriver().work.FinishAll(); result != CuResult::Success) return result;
  return TheDriver().device().memory().Release(address) ? CuResult::Success : CuResult::InvalidValue;
}

CuResult MemHostAlloc(void** memory, size_t bytes, unsigned) {
  const Call call("MemHostAlloc", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().work.IsCapturingHere()) return CuResult::StreamCaptureUnsupported;
  auto allocated = std::make_unique_for_overwrite<char[]>(bytes);
  *memory = allocated.get();
  // As the driver does where the host's addresses are the GPU's, too.
  for (const auto& device : TheDriver().devices)
    device->memory().MapHost(reinterpret_cast<uint64_t>(*memory), bytes);
  TheDriver().host_memory[*memory] = {std::move(allocated), bytes};
  return CuResult::Success;
}
CuResult MemFreeHost(void* memory) {
  const Call call("MemFreeHost", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().work.IsCapturingHere()) return CuResult::StreamCaptureUnsupported;
  if (const CuResult result = TheDriver().work.FinishAll(); result != CuResult::Success) return result;
  for (const auto& device : TheDriver().devices)
    device->memory().UnmapHost(reinterpret_cast<uint64_t>(memory));
  return TheDriver().host_memory.erase(memory) != 0 ? CuResult::Success : CuResult::InvalidValue;
}

namespace {

/// The device's addresses are the host's.
uint8_t* BytesAt(CuDevicePtr address) {
  return reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Whether a copy or fill may touch these bytes of the device.
bool IsInside(CuDevicePtr address, size_t bytes) {
  return TheDriver().device().memory().IsAllocated(address, bytes);
}

/// Memory of the host that cards read and write by themselves, while the host goes on.
bool IsPinned(const void* memory, size_t bytes) {
  const auto& all = TheDriver().host_memory;
  auto it = all.upper_bound(memory);
  if (it == all.begin()) return false;
  --it;
  const auto at = static_cast<size_t>(static_cast<const char*>(memory) - it->second.bytes.get());
  return at <= it->second.size && bytes <= it->second.size - at;
}

/// What a copy did wrong stays.
CuResult Fail(std::string report) {
  TheDriver().report = std::move(report);
  return TheDriver().sticky = CuResult::LaunchFailed;
}

CuResult Touch(Device& device, CuDevicePtr address, size_t bytes, bool store) {
  const Fault fault = device.Touch(address, bytes, store);
  return fault ? Fail(fault.text) : CuResult::Success;
}

CuResult Add(CuStream stream, std::function<CuResult()> run) {
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  Operation operation;
  operation.device = &TheDriver().device();
  operation.run = std::move(run);
  return TheDriver().work.Add(*number, std::move(operation));
}

/// The host waits for what it has asked for.
CuResult AddAndWait(CuStream stream, std::function<CuResult()> run) {
  const auto number = StreamOf(stream);
  if (number && TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  const CuResult result = Add(stream, std::move(run));
  return result != CuResult::Success || !number ? result : TheDriver().work.Finish(*number);
}

CuResult ToDevice(llvm::StringRef name, CuStream stream, bool waits, CuDevicePtr to, const void* from,
                  size_t bytes) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (from == nullptr || !IsInside(to, bytes)) return CuResult::InvalidValue;
  const auto run = [to, from, bytes, &device = TheDriver().device()] {
    if (const CuResult result = Touch(device, to, bytes, true); result != CuResult::Success) return result;
    std::memcpy(BytesAt(to), from, bytes);
    device.memory().SetWritten(to, bytes, true);
    return CuResult::Success;
  };
  // Memory that is not pinned is copied before the call returns.
  return IsPinned(from, bytes) && !waits ? Add(stream, run) : AddAndWait(stream, run);
}
CuResult ToHost(llvm::StringRef name, CuStream stream, bool waits, void* to, CuDevicePtr from, size_t bytes) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (to == nullptr || !IsInside(from, bytes)) return CuResult::InvalidValue;
  const auto run = [to, from, bytes, &device = TheDriver().device()] {
    // A card would give what was there.
    if (const uint64_t unwritten = device.memory().CountUnwritten(from, bytes); unwritten > 0)
      return Fail(llvm::formatv("{0} of {1} bytes that are copied to the host were written by nobody",
                                unwritten, bytes));
    if (const CuResult result = Touch(device, from, bytes, false); result != CuResult::Success) return result;
    std::memcpy(to, BytesAt(from), bytes);
    return CuResult::Success;
  };
  return IsPinned(to, bytes) && !waits ? Add(stream, run) : AddAndWait(stream, run);
}

}  // namespace

// Without a stream: the one that is always there, which the host waits for.
CuResult MemcpyHtoD(CuDevicePtr to, const void* from, size_t bytes) {
  return ToDevice("MemcpyHtoD", nullptr, /*waits=*/true, to, from, bytes);
}
CuResult MemcpyDtoH(void* to, CuDevicePtr from, size_t bytes) {
  return ToHost("MemcpyDtoH", nullptr, /*waits=*/true, to, from, bytes);
}
CuResult MemcpyHtoDAsync(CuDevicePtr to, const void* from, size_t bytes, CuStream stream) {
  return ToDevice("MemcpyHtoDAsync", stream, /*waits=*/false, to, from, bytes);
}
CuResult MemcpyDtoHAsync(void* to, CuDevicePtr from, size_t bytes, CuStream stream) {
  return ToHost("MemcpyDtoHAsync", stream, /*waits=*/false, to, from, bytes);
}

/// What nobody has written stays so where it is copied to.
CuResult MemcpyDtoDAsync(CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream) {
  const Call call("MemcpyDtoDAsync", Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (!IsInside(to, bytes) || !IsInside(from, bytes)) return CuResult::InvalidValue;
  return Add(stream, [to, from, bytes, &device = TheDriver().device()] {
    CuResult result = Touch(device, from, bytes, false);
    if (result == CuResult::Success) result = Touch(device, to, bytes, true);
    if (result != CuResult::Success) return result;
    std::memmove(BytesAt(to), BytesAt(from), bytes);
    device.memory().CopyStates(to, from, bytes);
    return CuResult::Success;
  });
}

namespace {

CuResult Fill(llvm::StringRef name, CuStream stream, CuDevicePtr to, unsigned value, size_t count,
              size_t each) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (count == 0) return CuResult::Success;
  if (count > SIZE_MAX / each || !IsInside(to, count * each) || to % each != 0) return CuResult::InvalidValue;
  return Add(stream, [to, value, count, each, &device = TheDriver().device()] {
    if (const CuResult result = Touch(device, to, count * each, true); result != CuResult::Success)
      return result;
    for (size_t i = 0; i < count; ++i) std::memcpy(BytesAt(to) + i * each, &value, each);
    device.memory().SetWritten(to, count * each, true);
    return CuResult::Success;
  });
}

}  // namespace

CuResult MemsetD8Async(CuDevicePtr to, unsigned char value, size_t count, CuStream stream) {
  return Fill("MemsetD8Async", stream, to, value, count, 1);
}
CuResult MemsetD32Async(CuDevicePtr to, unsigned value, size_t count, CuStream stream) {
  return Fill("MemsetD32Async", stream, to, value, count, 4);
}

}  // namespace hlo::gpu::emulated
