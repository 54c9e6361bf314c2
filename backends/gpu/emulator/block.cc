#include "backends/gpu/emulator/block.h"

#include <numeric>

#include "backends/gpu/emulator/loaded_module.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

using ptx::Kind;
using ptx::Mod;
using ptx::Special;

uint64_t& At(Thread& thread, Special special) { return thread.special[static_cast<size_t>(special)]; }

std::vector<uint32_t> Shuffled(uint32_t count, uint64_t seed) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (seed == 0) return order;
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (uint32_t i = count; i > 1; --i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

}  // namespace

Block::Block(Device& device, const LoadedModule& module, const ptx::Function& entry, const LaunchSize& size,
             const uint8_t* params, KernelCode* code, uint64_t shared_bytes)
    : device_(device), module_(module), entry_(entry), size_(size), code_(code), shared_bytes_(shared_bytes) {
  const unsigned count = size.block[0] * size.block[1] * size.block[2];
  const unsigned warps = (count + 31) / 32;
  threads_.resize(count);
  warp_order_ = Shuffled(warps, device.options().seed);
  lane_order_ = Shuffled(32, device.options().seed);
  warp_times_.resize(warps);
  if (!shared_.Map(std::max<uint64_t>(shared_bytes, 1)) ||
      !shared_states_.Map(std::max<uint64_t>(shared_bytes, 1)) ||
      !shared_races_.Create(std::max<uint64_t>(shared_bytes, 1)))
    llvm::report_fatal_error("the host has no memory for a block of threads");
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = threads_[i];
    thread.params = const_cast<uint8_t*>(params);
    thread.shared = shared_.data();
    thread.shared_states = shared_states_.data();
    thread.shared_bytes = shared_bytes;
    thread.block = this;
    thread.linear = i;
    thread.warp = i / 32;
    thread.lane = i % 32;
    thread.fiber = {};
    At(thread, Special::TidX) = i % size.block[0];
    At(thread, Special::TidY) = i / size.block[0] % size.block[1];
    At(thread, Special::TidZ) = i / size.block[0] / size.block[1];
    for (size_t d = 0; d < 3; ++d) {
      thread.special[static_cast<size_t>(Special::NtidX) + d] = size.block[d];
      thread.special[static_cast<size_t>(Special::NctaidX) + d] = size.grid[d];
    }
    At(thread, Special::Laneid) = thread.lane;
    At(thread, Special::Warpid) = thread.warp;
    At(thread, Special::Nwarpid) = warps;
    At(thread, Special::Nsmid) = 1;
    At(thread, Special::LanemaskEq) = uint64_t{1} << thread.lane;
    At(thread, Special::LanemaskLt) = (uint64_t{1} << thread.lane) - 1;
    At(thread, Special::LanemaskLe) = (uint64_t{2} << thread.lane) - 1;
    At(thread, Special::LanemaskGt) = 0xffffffff & ~((uint64_t{2} << thread.lane) - 1);
    At(thread, Special::LanemaskGe) = 0xffffffff & ~((uint64_t{1} << thread.lane) - 1);
    At(thread, Special::DynamicSmemSize) = size.dynamic_shared;
    At(thread, Special::TotalSmemSize) = shared_bytes;
    At(thread, Special::WarpSize) = 32;
    // One block is a cluster.
    for (const Special one : {Special::ClusterNctaidX, Special::ClusterNctaidY, Special::ClusterNctaidZ,
                              Special::ClusterNctarank})
      At(thread, one) = 1;
  }
}

Block::~Block() {
  for (Thread& thread : threads_)
    if (thread.stack != nullptr) device_.stacks().GiveBack(thread.stack);
}

void Block::Prepare(uint64_t number) {
  number_ = number;
  time_ = device_.Tick();
  since_.block = time_;
  since_.ordered = 0;
  fenced_ = false;
  seen_.clear();
  copies_.clear();
  arrivals_.fill(0);
  idle_rounds_ = 0;
  if (shared_bytes_ != 0) std::memset(shared_states_.data(), DeviceMemory::Unwritten, shared_bytes_);
  mbarriers_.clear();
  const uint64_t x = number % size_.grid[0], y = number / size_.grid[0] % size_.grid[1],
                 z = number / size_.grid[0] / size_.grid[1];
  for (Thread& thread : threads_) {
    thread.state = Thread::State::Ready;
    thread.started = false;
    thread.local_top = 0;
    thread.site = nullptr;
    At(thread, Special::CtaidX) = At(thread, Special::ClusteridX) = x;
    At(thread, Special::CtaidY) = At(thread, Special::ClusteridY) = y;
    At(thread, Special::CtaidZ) = At(thread, Special::ClusteridZ) = z;
  }
}

void Block::Run(uint64_t number, uint32_t launch_begin) {
  since_.launch = launch_begin;
  since_.concurrent = &device_.concurrent();
  Prepare(number);
  RunThreads();
  if (device_.options().count) counter_.Finish(device_.counts());
}

void Block::RunThreads() {
  for (;;) {
    for (const uint32_t warp : warp_order_)
      while (RunWarp(warp) && !fault_ && ReleaseWarp(warp)) {}
    if (fault_) return;
    if (llvm::all_of(threads_, [](const Thread& t) { return t.state == Thread::State::Exited; })) return;
    if (ReleaseBarriers() || (!fault_ && ReleaseTesters())) continue;
    if (!fault_) ReportDeadlock();
    return;
  }
}

void Block::Main(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  RunKernel(thread->block->code_, thread);
  thread->state = Thread::State::Exited;
}

void Block::RunThread(Thread& thread) {
  if (device_.MustStop()) {
    fault_ = {FaultKind::Interrupted, "interrupted"};
    return;
  }
  if (!thread.started) {
    thread.started = true;
    if (thread.stack == nullptr) thread.stack = device_.stacks().Take();
    if (thread.stack == nullptr) llvm::report_fatal_error("the host has no memory for stacks of threads");
    thread.fiber.Start(thread.stack, &Main, &thread);
  } else {
    thread.fiber.Resume();
  }
  if (thread.state == Thread::State::Ready) thread.state = Thread::State::Exited;
  if (thread.state != Thread::State::Exited) return;
  device_.stacks().GiveBack(thread.stack);
  thread.stack = nullptr;
}

/// Runs what can run; whether there are lanes that wait.
bool Block::RunWarp(uint32_t warp) {
  bool waiting = false;
  for (const uint32_t lane : lane_order_) {
    const uint32_t number = 32 * warp + lane;
    if (number >= threads_.size()) continue;
    Thread& thread = threads_[number];
    if (thread.state == Thread::State::Ready) RunThread(thread);
    if (fault_) return false;
    waiting |= thread.state == Thread::State::Waiting;
  }
  return waiting;
}

void Block::Wait(Thread& thread, const Site& site, uint64_t* values) {
  thread.site = &site;
  thread.arguments = values;
  thread.state = Thread::State::Waiting;
  thread.fiber.Yield();
}

void Block::Leave(Thread& thread) {
  thread.state = Thread::State::Exited;
  thread.fiber.Yield();
  llvm_unreachable("a thread that has ended goes on");
}

void Block::Report(const Thread& thread, const Site& site, FaultKind kind, const llvm::Twine& what) {
  if (fault_) return;
  fault_.kind = kind;
  const ptx::Instruction& inst = *site.inst;
  llvm::StringRef line;
  if (inst.loc.source != nullptr) {
    const llvm::StringRef text = inst.loc.source->text();
    line = text.slice(text.rfind('\n', inst.loc.begin) + 1, text.find('\n', inst.loc.begin)).trim();
  }
  const uint64_t x = number_ % size_.grid[0], y = number_ / size_.grid[0] % size_.grid[1],
                 z = number_ / size_.grid[0] / size_.grid[1];
  fault_.text = llvm::formatv("kernel '{0}', block ({1},{2},{3}), thread ({4},{5},{6}), line {7}: {8}\n  {9}",
                              entry_.name, x, y, z, thread.special[0], thread.special[1], thread.special[2],
                              inst.line, what.str(), line)
                    .str();
}

void Block::ReportDeadlock() {
  for (Thread& thread : threads_) {
    if (thread.state != Thread::State::Waiting) continue;
    for (const Thread& other : threads_) {
      if (other.state == Thread::State::Waiting && other.site == thread.site) continue;
      const bool ended = other.state == Thread::State::Exited;
      const std::string where =
          ended ? "has ended" : llvm::formatv("waits at line {0}", other.site->inst->line).str();
      if (ended && thread.site->inst->kind() == Kind::Bar) continue;
      Report(thread, *thread.site, FaultKind::DivergentBarrier,
             llvm::formatv("waits for threads that never come: thread ({0},{1},{2}) {3}", other.special[0],
                           other.special[1], other.special[2], where)
                 .str());
      return;
    }
    Report(thread, *thread.site, FaultKind::DivergentBarrier, "waits for threads that never come");
    return;
  }
}

void Block::Fence(Thread&) {
  fenced_ = true;
  for (const auto& [address, time] : seen_) since_.ordered = std::max(since_.ordered, time);
}

/// What others had released when this block did an atomic operation there is ordered by a fence that follows.
void Block::NoteAtomic(Thread&, uint64_t address) {
  uint32_t& released = device_.released()[address];
  if (released >= since_.launch && released < since_.block) seen_[address] = released;
  if (fenced_) released = time_;
}

void Block::CheckRace(Thread& thread, const Site& site, bool shared, uint64_t at, uint32_t bytes) {
  RaceTable& table = shared ? shared_races_ : device_.races();
  const bool store = site.access != Site::Access::Load;
  // Shared memory begins anew with each block.
  Since since = shared ? Since{since_.block, since_.block, 0} : since_;
  // No barrier helps what goes through the read-only cache.
  if (site.read_only) since = {since_.launch, time_ + 1, 0, since_.concurrent};
  const RaceTable::Conflict conflict = table.Access(at, bytes, store, site.strong, Now(thread), since);
  if (!conflict.found) return;
  if (conflict.other_stream) {
    Report(thread, site, FaultKind::StreamRace,
           llvm::formatv("race: {0} what work of another stream has {1} that is not waited for",
                         store ? "writes" : "reads", conflict.other_wrote ? "written" : "read")
               .str());
    return;
  }
  if (site.read_only) {
    Report(thread, site, FaultKind::GlobalRace,
           "race: reads through the read-only cache what this launch has written");
    return;
  }
  const char* other = conflict.other_wrote ? "written" : "read";
  std::string who = "another block";
  if (!conflict.other_block && conflict.other.thread == Now(thread).thread) {
    who = "another thread";  // the last of several is this one
  } else if (!conflict.other_block) {
    const Thread& by = threads_[std::min<size_t>(conflict.other.thread, threads_.size() - 1)];
    who = llvm::formatv("thread ({0},{1},{2})", by.special[0], by.special[1], by.special[2]).str();
  }
  Report(thread, site, shared ? FaultKind::SharedRace : FaultKind::GlobalRace,
         llvm::formatv("race: {0} what {1} has {2} without a barrier in between", store ? "writes" : "reads",
                       who, other)
             .str());
}

}  // namespace hlo::gpu
