// When threads that wait may go on (ptx.md §4.1, §4.3).
#include "backends/gpu/emulator/block.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

using ptx::Kind;
using ptx::Mod;

bool IsBarrier(const Site& site) {
  return site.inst->kind() == Kind::Bar || site.inst->kind() == Kind::BarRed;
}

/// Where the lanes that must come stand among the arguments: after all others, but for instructions of whole
/// warps.
uint32_t MembersOf(const Thread& thread) {
  const ptx::Instruction& inst = *thread.site->inst;
  static constexpr std::pair<Kind, size_t> kMasks[] = {{Kind::BarWarp, 0}, {Kind::Shfl, 3},  {Kind::Vote, 1},
                                                       {Kind::Ballot, 1},  {Kind::Match, 1}, {Kind::Redux, 1},
                                                       {Kind::Elect, 0}};
  for (const auto& [kind, at] : kMasks)
    if (kind == inst.kind()) return static_cast<uint32_t>(thread.arguments[at]);
  return 0xffffffff;
}

bool IsWholeWarp(Kind kind) {
  return kind == Kind::Mma || kind == Kind::Ldmatrix || kind == Kind::Stmatrix || kind == Kind::Movmatrix;
}

}  // namespace

Thread& Block::ThreadOf(const Meeting& meeting, unsigned lane) {
  return threads_[32 * size_t{meeting.warp} + lane];
}

/// Lanes that wait at one instruction for each other go on when all of them are there that have not ended.
bool Block::ReleaseWarp(uint32_t warp) {
  const size_t begin = 32 * size_t{warp}, end = std::min(threads_.size(), begin + 32);
  uint32_t live = 0;
  for (size_t i = begin; i < end; ++i)
    if (threads_[i].state != Thread::State::Exited) live |= 1U << threads_[i].lane;
  bool released = false;
  for (size_t i = begin; i < end; ++i) {
    Thread& first = threads_[i];
    if (first.state != Thread::State::Waiting || IsBarrier(*first.site)) continue;
    if (first.site->inst->kind() == Kind::MbarrierTest) continue;
    const uint32_t members =
        first.site->inst->kind() == Kind::Activemask ? 1U << first.lane : MembersOf(first);
    if ((members >> first.lane & 1) == 0) {
      Report(first, *first.site, FaultKind::Aligned,
             llvm::formatv("lane {0} is not in its own mask {1:x}", first.lane, members).str());
      return false;
    }
    if (IsWholeWarp(first.site->inst->kind()) && live != 0xffffffff) {
      Report(first, *first.site, FaultKind::Aligned, "not all 32 lanes of the warp are there");
      return false;
    }
    Meeting meeting{*this, *first.site};
    meeting.warp = warp;
    for (size_t k = begin; k < end; ++k) {
      Thread& other = threads_[k];
      const bool here = other.state == Thread::State::Waiting && other.site == first.site &&
                        (members >> other.lane & 1) != 0;
      if (!here) continue;
      meeting.mask |= 1U << other.lane;
      meeting.values[other.lane] = other.arguments;
    }
    if (meeting.mask != (members & live)) continue;
    if (WarpFunctionOf(first.site->inst->kind()) != nullptr)
      WarpFunctionOf(first.site->inst->kind())(meeting);
    if (fault_) return false;
    if (first.site->inst->kind() == Kind::BarWarp) ++warp_times_[warp];
    for (size_t k = begin; k < end; ++k)
      if (meeting.Has(threads_[k].lane)) threads_[k].state = Thread::State::Ready;
    released = true;
  }
  return released;
}

/// Threads that ask whether a phase is over, when nobody else can go on: not for ever.
bool Block::ReleaseTesters() {
  constexpr unsigned kPatience = 10000;
  bool released = false;
  for (Thread& thread : threads_) {
    if (thread.state != Thread::State::Waiting || thread.site->inst->kind() != Kind::MbarrierTest) continue;
    thread.state = Thread::State::Ready;
    released = true;
  }
  if (released && ++idle_rounds_ <= kPatience) return true;
  for (Thread& thread : threads_)
    if (thread.state == Thread::State::Ready) thread.state = Thread::State::Waiting;
  return false;
}

bool Block::ReleaseBarriers() {
  bool released = false;
  for (uint32_t barrier = 0; barrier < 16; ++barrier) {
    llvm::SmallVector<Thread*> waiting;
    for (Thread& thread : threads_)
      if (thread.state == Thread::State::Waiting && IsBarrier(*thread.site) && thread.arguments[0] == barrier)
        waiting.push_back(&thread);
    if (!waiting.empty()) released |= ReleaseBarrier(barrier, waiting);
    if (fault_) return false;
  }
  return released;
}

bool Block::ReleaseBarrier(uint32_t barrier, llvm::ArrayRef<Thread*> waiting) {
  const ptx::Instruction& inst = *waiting[0]->site->inst;
  const bool reduces = inst.kind() == Kind::BarRed;
  const bool counted =
      inst.form->operands[reduces ? 2 : 1].type != ptx::Type::Pred && waiting[0]->arguments[1] <= UINT32_MAX;
  const auto live = static_cast<size_t>(
      llvm::count_if(threads_, [](const Thread& t) { return t.state != Thread::State::Exited; }));
  size_t arrived = waiting.size();
  size_t wanted = live;
  if (counted) {
    // Whole warps count.
    llvm::SmallVector<uint32_t> warps;
    for (const Thread* thread : waiting)
      if (!llvm::is_contained(warps, thread->warp)) warps.push_back(thread->warp);
    arrived = 32 * warps.size() + arrivals_[barrier];
    wanted = waiting[0]->arguments[1];
  }
  if (arrived < wanted) return false;
  const bool aligned = inst.form->opcode == "bar" || inst.Has(Mod::Aligned);
  std::array<const Site*, 32> site_of_warp{};
  for (const Thread* thread : waiting) {
    const Site*& first = site_of_warp[thread->warp];
    if (first == nullptr) first = thread->site;
    if (!aligned || first->inst == thread->site->inst) continue;
    Report(*thread, *thread->site, FaultKind::DivergentBarrier,
           llvm::formatv("a warp waits at this barrier and at the one of line {0}", first->inst->line).str());
    return false;
  }
  if (reduces) {
    const size_t at = counted ? 2 : 1;
    uint64_t count = 0;
    for (const Thread* thread : waiting) count += thread->arguments[at] & 1;
    const uint64_t result = inst.Has(Mod::Popc)  ? count
                            : inst.Has(Mod::And) ? count == waiting.size()
                                                 : count != 0;
    for (Thread* thread : waiting) thread->arguments[0] = result;
  }
  for (Thread* thread : waiting) thread->state = Thread::State::Ready;
  arrivals_[barrier] = 0;
  time_ = device_.Tick();
  ++device_.counts().barriers;
  return true;
}

}  // namespace hlo::gpu
