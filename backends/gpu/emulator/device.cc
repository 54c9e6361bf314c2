#include "backends/gpu/emulator/device.h"

#include <numeric>

#include "backends/gpu/emulator/block.h"
#include "backends/gpu/emulator/loaded_module.h"
#include "ir/support/interrupt.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr TargetLimits kTargets[] = {{75, 64 << 10}, {80, 163 << 10}, {86, 99 << 10},   {87, 163 << 10},
                                     {89, 99 << 10}, {90, 227 << 10}, {100, 227 << 10}, {120, 99 << 10}};
constexpr unsigned kMaxThreads = 1024, kMaxThreadsZ = 64;
constexpr unsigned kMaxGridX = INT32_MAX, kMaxGrid = 65535;

/// Blocks in an order that the seed gives: each once.
class Order {
 public:
  Order(uint64_t count, uint64_t seed) : count_(count) {
    if (seed == 0 || count < 3) return;
    first_ = seed % count;
    step_ = seed * 0x9e3779b97f4a7c15 % count;
    while (step_ == 0 || std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
  }
  [[nodiscard]] uint64_t At(uint64_t i) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(i) * step_ + first_) % count_);
  }

 private:
  uint64_t count_, first_ = 0, step_ = 1;
};

}  // namespace

const TargetLimits& LimitsOf(unsigned sm) {
  const TargetLimits* best = &kTargets[0];
  for (const TargetLimits& target : kTargets)
    if (target.sm <= sm) best = &target;
  return *best;
}

Result<std::unique_ptr<Device>> Device::Create(const DeviceOptions& options) {
  auto device = std::unique_ptr<Device>(new Device(options));
  if (!device->memory_.Create(options.memory) ||
      (options.check_races && !device->races_.Create(device->memory_.size())))
    return Error("limit-memory", {}, "the host has no room for a device of {0} bytes", options.memory);
  return device;
}

std::string Device::CheckLaunch(const ptx::Function& entry, const LaunchSize& size) const {
  const uint64_t threads = uint64_t{size.block[0]} * size.block[1] * size.block[2];
  for (size_t d = 0; d < 3; ++d) {
    if (size.grid[d] == 0 || size.grid[d] > (d == 0 ? kMaxGridX : kMaxGrid))
      return llvm::formatv("grid of {0} x {1} x {2} blocks", size.grid[0], size.grid[1], size.grid[2]);
    if (size.block[d] == 0 || size.block[d] > (d == 2 ? kMaxThreadsZ : kMaxThreads) || threads > kMaxThreads)
      return llvm::formatv("block of {0} x {1} x {2} threads", size.block[0], size.block[1], size.block[2]);
    if (entry.reqntid[0] != 0 && entry.reqntid[d] != size.block[d])
      return llvm::formatv("block of {0} x {1} x {2} threads, '{3}' is for {4} x {5} x {6}", size.block[0],
                           size.block[1], size.block[2], entry.name, entry.reqntid[0], entry.reqntid[1],
                           entry.reqntid[2]);
  }
  const uint64_t most = uint64_t{entry.maxntid[0]} * entry.maxntid[1] * entry.maxntid[2];
  if (most != 0 && threads > most)
    return llvm::formatv("block of {0} threads, '{1}' is for at most {2}", threads, entry.name, most);
  const uint64_t shared = entry.shared_bytes + size.dynamic_shared;
  if (shared > LimitsOf(options_.sm).shared_per_block)
    return llvm::formatv("{0} bytes of shared memory, sm_{1} has {2}", shared, options_.sm,
                         LimitsOf(options_.sm).shared_per_block);
  return {};
}

bool Device::MustStop() {
  // On a busy machine the host may take long to see it.
  constexpr std::chrono::seconds kSoon{2};
  if (!Interrupted()) {
    asked_to_stop_.reset();
    return false;
  }
  if (conditions_ == nullptr) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!asked_to_stop_) asked_to_stop_ = now;
  return now - *asked_to_stop_ > kSoon;
}

Fault Device::Launch(const LoadedModule& module, const ptx::Function& entry, const LaunchSize& size,
                     const uint8_t* params) {
  using Clock = std::chrono::steady_clock;
  LoadedModule::State& state = *module.state_;
  const uint64_t blocks = uint64_t{size.grid[0]} * size.grid[1] * size.grid[2];
  const uint64_t shared = size.dynamic_shared == 0
                              ? entry.shared_bytes
                              : DynamicSharedOffset(*state.module, entry) + size.dynamic_shared;
  released_.clear();
  const uint32_t begin = Tick();
  Block block(*this, module, entry, size, params, LoadedModule::CodeOf(state, entry, {}), shared);
  const Order order(blocks, options_.seed);
  ++counts_.launches;
  for (uint64_t i = 0; i < blocks; ++i) {
    const Clock::time_point start = Clock::now();
    block.Run(order.At(i), begin);
    block.SetCode(LoadedModule::CodeOf(state, entry, Clock::now() - start));
    ++counts_.blocks;
    if (block.fault()) return block.fault();
  }
  return {};
}

Fault Device::Touch(uint64_t address, uint64_t bytes, bool store) {
  if (!options_.check_races || !several_streams_) return {};
  const uint32_t now = Tick();
  const RaceTable::Conflict conflict = races_.Access(
      memory_.OffsetOf(address), bytes, store, /*strong=*/false, {now, 0, 0}, {now, now, 0, &concurrent_});
  if (!conflict.found) return {};
  return {FaultKind::StreamRace,
          llvm::formatv("race: a copy {0} {1}, which work of another stream has {2} that is not waited for",
                        store ? "writes" : "reads", memory_.Describe(address),
                        conflict.other_wrote ? "written" : "read")};
}

}  // namespace hlo::gpu
