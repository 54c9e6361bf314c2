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
  if (bytes == 0) return CuResult::InvalidValue;
  const auto allocated = TheDriver().device().memory().Allocate(bytes);
  if (!allocated) return CuResult::OutOfMemory;
  *address = *allocated;
  return CuResult::Success;
}

CuResult MemFree(CuDevicePtr address) {
  const Call call("MemFree", Needs::Context);
  if (call.failed()) return call.result();
  if (address == 0) return CuResult::Success;
  return TheDriver().device().memory().Release(address) ? CuResult::Success : CuResult::InvalidValue;
}

CuResult MemHostAlloc(void** memory, size_t bytes, unsigned) {
  const Call call("MemHostAlloc", Needs::Context);
  if (call.failed()) return call.result();
  auto allocated = std::make_unique_for_overwrite<char[]>(bytes);
  *memory = allocated.get();
  TheDriver().host_memory[*memory] = std::move(allocated);
  return CuResult::Success;
}
CuResult MemFreeHost(void* memory) {
  const Call call("MemFreeHost", Needs::Context);
  if (call.failed()) return call.result();
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

CuResult ToDevice(llvm::StringRef name, CuDevicePtr to, const void* from, size_t bytes) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (from == nullptr || !IsInside(to, bytes)) return CuResult::InvalidValue;
  std::memcpy(BytesAt(to), from, bytes);
  TheDriver().device().memory().SetWritten(to, bytes, true);
  return CuResult::Success;
}
CuResult ToHost(llvm::StringRef name, void* to, CuDevicePtr from, size_t bytes) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (to == nullptr || !IsInside(from, bytes)) return CuResult::InvalidValue;
  // A card would give what was there.
  if (const uint64_t unwritten = TheDriver().device().memory().CountUnwritten(from, bytes); unwritten > 0) {
    TheDriver().report =
        llvm::formatv("{0} of {1} bytes that are copied to the host were written by nobody", unwritten, bytes)
            .str();
    return CuResult::LaunchFailed;
  }
  std::memcpy(to, BytesAt(from), bytes);
  return CuResult::Success;
}

}  // namespace

CuResult MemcpyHtoD(CuDevicePtr to, const void* from, size_t bytes) {
  return ToDevice("MemcpyHtoD", to, from, bytes);
}
CuResult MemcpyDtoH(void* to, CuDevicePtr from, size_t bytes) {
  return ToHost("MemcpyDtoH", to, from, bytes);
}
CuResult MemcpyHtoDAsync(CuDevicePtr to, const void* from, size_t bytes, CuStream) {
  return ToDevice("MemcpyHtoDAsync", to, from, bytes);
}
CuResult MemcpyDtoHAsync(void* to, CuDevicePtr from, size_t bytes, CuStream) {
  return ToHost("MemcpyDtoHAsync", to, from, bytes);
}

/// What nobody has written stays so where it is copied to.
CuResult MemcpyDtoDAsync(CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream) {
  const Call call("MemcpyDtoDAsync", Needs::Context);
  if (call.failed()) return call.result();
  if (bytes == 0) return CuResult::Success;
  if (!IsInside(to, bytes) || !IsInside(from, bytes)) return CuResult::InvalidValue;
  std::memmove(BytesAt(to), BytesAt(from), bytes);
  TheDriver().device().memory().CopyStates(to, from, bytes);
  return CuResult::Success;
}

namespace {

CuResult Fill(llvm::StringRef name, CuDevicePtr to, unsigned value, size_t count, size_t each) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  if (count == 0) return CuResult::Success;
  if (count > SIZE_MAX / each || !IsInside(to, count * each) || to % each != 0) return CuResult::InvalidValue;
  for (size_t i = 0; i < count; ++i) std::memcpy(BytesAt(to) + i * each, &value, each);
  TheDriver().device().memory().SetWritten(to, count * each, true);
  return CuResult::Success;
}

}  // namespace

CuResult MemsetD8Async(CuDevicePtr to, unsigned char value, size_t count, CuStream) {
  return Fill("MemsetD8Async", to, value, count, 1);
}
CuResult MemsetD32Async(CuDevicePtr to, unsigned value, size_t count, CuStream) {
  return Fill("MemsetD32Async", to, value, count, 4);
}

}  // namespace hlo::gpu::emulated
