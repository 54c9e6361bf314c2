#include "backends/gpu/runtime/gpu.h"

#include "ir/support/interrupt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

/// Of the log of a module that is refused: more is of no use.
constexpr size_t kLogBytes = 16 << 10;

std::string SymbolAt(size_t offset) {
  for (const DriverFunction& function : DriverFunctions())
    if (function.offset == offset) return function.symbol.str();
  return "?";
}

std::string Describe(CuResult result) {
  const char *name = NameOf(result), *text = TextOf(result);
  const int code = static_cast<int>(result);
  if (name == nullptr) return llvm::formatv("error {0}", code).str();
  return llvm::formatv("{0} ({1}), {2}", name, code, text).str();
}

}  // namespace

Status Gpu::Alive() const {
  const std::lock_guard lock(mutex_);
  if (!lost_) return {};
  Diagnostic again = *lost_;
  again.Note("the GPU was lost by that: nothing runs on it until the process ends");
  return Error(std::move(again));
}

Diagnostic Gpu::ErrorOf(size_t offset, CuResult result) {
  if (Interrupted()) return InterruptedError();
  const bool memory = result == CuResult::OutOfMemory;
  Diagnostic error = MakeError(memory ? DiagnosticId("limit-memory") : kGpuErrorId, {}, "{0}: {1}",
                               SymbolAt(offset), Describe(result));
  const std::string report = driver_.report && !memory ? driver_.report() : "";
  if (!report.empty()) error.Note(report);
  if (gpu::IsLost(result)) {
    const std::lock_guard lock(mutex_);
    lost_ = error;
  }
  return error;
}

Result<std::shared_ptr<Gpu>> Gpu::Open(DriverBinding driver, int ordinal, int sm) {
  auto gpu = std::shared_ptr<Gpu>(new Gpu(std::move(driver)));
  const CuResult started = gpu->driver_.api->Init(0);
  int& count = gpu->count_;
  if (started != CuResult::NoDevice) {
    HLO_CHECK_OK(gpu->Call(&DriverApi::Init, 0U));
    HLO_CHECK_OK(gpu->Call(&DriverApi::DeviceGetCount, &count));
  }
  if (count <= ordinal)
    return count == 0 ? Error("unavailable-gpu", {}, "no GPU: the NVIDIA driver sees none")
                      : Error("unavailable-gpu", {}, "no GPU {0}: the NVIDIA driver sees {1}, counted from 0",
                              ordinal, count);
  gpu->ordinal_ = ordinal;
  HLO_CHECK_OK(gpu->Call(&DriverApi::DeviceGet, &gpu->device_, ordinal));
  int major = 0, minor = 0;
  for (const auto& [attribute, value] : {std::pair(CuAttribute::ComputeCapabilityMajor, &major),
                                         {CuAttribute::ComputeCapabilityMinor, &minor}})
    HLO_CHECK_OK(gpu->Call(&DriverApi::DeviceGetAttribute, value, static_cast<int>(attribute), gpu->device_));
  if (major * 10 + minor < sm)
    return Error("unavailable-gpu", {},
                 "the GPU is sm_{0}, code is made for sm_{1}: --gpu-target names another", major * 10 + minor,
                 sm);
  HLO_CHECK_OK(gpu->Call(&DriverApi::DevicePrimaryCtxRetain, &gpu->context_, gpu->device_));
  gpu->retained_ = true;
  return gpu;
}

Gpu::~Gpu() {
  if (retained_) (void)driver_.api->DevicePrimaryCtxRelease(device_);
}

Result<CuModule> Gpu::LoadModule(const std::string& ptx) {
  HLO_CHECK_OK(MakeCurrent());
  std::string log(kLogBytes, '\0');
  int options[] = {CuAttribute::ErrorLogBuffer, CuAttribute::ErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};  // NOLINT(performance-no-int-to-ptr)
  CuModule module = nullptr;
  Status loaded = Call(&DriverApi::ModuleLoadDataEx, &module, ptx.c_str(), 2U, &options[0], &values[0]);
  if (loaded) return module;
  Diagnostic error = std::move(loaded).error();
  if (error.id == kGpuErrorId && log[0] != '\0') {
    error.id = "compile-kernels";
    error.notes.clear();
    error.Note(log.c_str());
  }
  return Error(std::move(error));
}

Result<bool> Gpu::IsDone(CuResult (*DriverApi::*function)(void*), void* what) {
  HLO_CHECK_OK(Alive());
  if ((driver_.api->*function)(what) == CuResult::NotReady) return false;
  HLO_CHECK_OK(Call(function, what));
  return true;
}

Result<DeviceMemoryBlock> DeviceMemoryBlock::Allocate(const GpuPtr& gpu, int64_t bytes) {
  DeviceMemoryBlock block;
  if (bytes == 0) return block;
  HLO_CHECK_OK(gpu->MakeCurrent());
  HLO_CHECK_OK(gpu->Call(&DriverApi::MemAlloc, &block.address_, static_cast<size_t>(bytes)));
  block.gpu_ = gpu;
  return block;
}

DeviceMemoryBlock::~DeviceMemoryBlock() {
  if (gpu_ == nullptr || !gpu_->MakeCurrent()) return;
  // Nobody could do anything about it.
  [[maybe_unused]] const Status freed = gpu_->Call(&DriverApi::MemFree, address_);
}

}  // namespace hlo::gpu
