#include "backends/gpu/runtime/platform.h"

#include <array>
#include <map>
#include <mutex>

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

/// `anew`: nobody uses it.
DriverBinding EmulatedDriver(const Platform& platform, const Target& target, bool anew) {
  static const DriverApi* started = nullptr;
  static bool counts = false, synchronous = true;
  static LentDriver lent;
  if (anew) {
    EmulatedDriverOptions options = platform.emulation;
    options.device.sm = static_cast<unsigned>(SmOf(target));
    if (options.device.memory == 0) options.device.memory = static_cast<uint64_t>(target.memory_bytes);
    started = &StartEmulatedDriver(options);
    lent = {started->MemcpyDtoHAsync, started->MemcpyHtoDAsync, started->StreamSynchronize, [](int gpu) {
              CuContext context = nullptr;
              const CuResult retained = started->DevicePrimaryCtxRetain(&context, gpu);
              if (retained != CuResult::Success) return retained;
              const CuResult used = started->CtxSetCurrent(context);
              const CuResult released = started->DevicePrimaryCtxRelease(gpu);
              return used != CuResult::Success ? used : released;
            }};
    counts = options.device.count;
    // With a seed the driver does it later.
    synchronous = options.device.seed == 0;
  }
  DriverBinding driver;
  driver.api = started;
  driver.report = EmulatedReport;
  driver.forget = ForgetEmulatedMemory;
  if (counts) driver.counts = DeviceCountsOf;
  driver.synchronous = synchronous;
  driver.lent = &lent;
  return driver;
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

namespace {

/// GPUs that are not given back. The driver is gone before what is static: nothing gives these back at the
/// end.
std::map<int, GpuPtr>& Kept() {
  static auto* const kept = new std::map<int, GpuPtr>;
  return *kept;
}

}  // namespace

void ReleaseGpus() { Kept().clear(); }

Result<GpuPtr> OpenGpu(const Platform& platform, const Target& target, int ordinal) {
  static std::mutex mutex;
  static std::array<std::map<int, std::weak_ptr<Gpu>>, 2> open;
  const std::lock_guard lock(mutex);
  std::map<int, std::weak_ptr<Gpu>>& known = open[platform.emulated ? 1 : 0];
  // An emulated one that is lost can be had anew, for the next module.
  const auto usable = [&](const GpuPtr& gpu) {
    return gpu != nullptr && !(platform.emulated && gpu->IsLost());
  };
  if (GpuPtr gpu = known[ordinal].lock(); usable(gpu)) return gpu;
  const bool anew = llvm::none_of(known, [&](const auto& other) { return usable(other.second.lock()); });
  DriverBinding driver;
  if (platform.emulated) {
    driver = EmulatedDriver(platform, target, anew);
    HLO_CHECK_OK(GrowEmulatedDriver(platform.emulation.devices));
  } else {
    HLO_TRY(driver.api, LoadDriver());
  }
  HLO_TRY(GpuPtr gpu, Gpu::Open(std::move(driver), ordinal, SmOf(target)));
  known[ordinal] = gpu;
  // Taking a GPU costs as much as many runs: the next module has it, too.
  if (!platform.emulated) Kept()[ordinal] = gpu;
  return gpu;
}

}  // namespace hlo::gpu
