#include "backends/gpu/runtime/platform.h"

#include "backends/gpu/driver/load.h"

namespace hlo::gpu {
namespace {

DeviceCounts DeviceCountsOf() {
  const Counts all = EmulatedCounts();
  DeviceCounts counts;
  counts.launches = all.launches;
  counts.sectors = all.sectors;
  counts.fewest_sectors = all.fewest_sectors;
  counts.bytes_read = all.bytes_read;
  counts.bytes_written = all.bytes_written;
  counts.shared_cycles = all.shared_cycles;
  counts.fewest_shared_cycles = all.fewest_shared_cycles;
  counts.branches = all.branches;
  counts.divergent_branches = all.divergent_branches;
  return counts;
}

Result<GpuPtr> OpenEmulated(const Platform& platform, const Target& target) {
  EmulatedDriverOptions options = platform.emulation;
  options.device.sm = static_cast<unsigned>(SmOf(target));
  if (options.device.memory == 0) options.device.memory = static_cast<uint64_t>(target.memory_bytes);
  DriverBinding driver;
  driver.api = &StartEmulatedDriver(options);
  driver.report = EmulatedReport;
  driver.forget = ForgetEmulatedMemory;
  if (options.device.count) driver.counts = DeviceCountsOf;
  // With a seed the driver does it later.
  driver.synchronous = options.device.seed == 0;
  return Gpu::Open(std::move(driver), 0, SmOf(target));
}

Result<GpuPtr> OpenReal(const Target& target) {
  HLO_TRY(const DriverApi* const api, LoadDriver());
  DriverBinding driver;
  driver.api = api;
  return Gpu::Open(std::move(driver), 0, SmOf(target));
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
