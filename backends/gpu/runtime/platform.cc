#include "backends/gpu/runtime/platform.h"

#include "backends/gpu/driver/load.h"

namespace hlo::gpu {
namespace {

Result<GpuPtr> OpenEmulated(const Platform& platform, const Target& target) {
  EmulatedDriverOptions options = platform.emulation;
  options.device.sm = static_cast<unsigned>(SmOf(target));
  if (options.device.memory == 0) options.device.memory = static_cast<uint64_t>(target.memory_bytes);
  return Gpu::Open({&StartEmulatedDriver(options), EmulatedReport, /*synchronous=*/true}, 0, SmOf(target));
}

Result<GpuPtr> OpenReal(const Target& target) {
  HLO_TRY(const DriverApi* const api, LoadDriver());
  return Gpu::Open({api, nullptr, /*synchronous=*/false}, 0, SmOf(target));
}

}  // namespace

int SmOf(const Target& target) {
  int sm = 0;
  llvm::StringRef digits = llvm::StringRef(target.arch).drop_front(llvm::StringRef("sm_").size());
  digits.consumeInteger(10, sm);
  return sm;
}

Status CheckDriver() {
  HLO_TRY([[maybe_unused]] const DriverApi* const api, LoadDriver());
  return {};
}

Result<GpuPtr> OpenGpu(const Platform& platform, const Target& target) {
  static std::mutex mutex;
  static std::array<std::weak_ptr<Gpu>, 2> open;
  const std::lock_guard lock(mutex);
  std::weak_ptr<Gpu>& known = open[platform.emulated ? 1 : 0];
  // An emulated one that is lost can be had anew, for the next module.
  GpuPtr gpu = known.lock();
  if (gpu != nullptr && !(platform.emulated && gpu->IsLost())) return gpu;
  HLO_TRY(gpu, platform.emulated ? OpenEmulated(platform, target) : OpenReal(target));
  known = gpu;
  return gpu;
}

}  // namespace hlo::gpu
