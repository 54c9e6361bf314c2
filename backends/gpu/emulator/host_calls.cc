#include "backends/gpu/emulator/host_calls.h"

#include "backends/gpu/emulator/atomics.h"
#include "backends/gpu/emulator/block.h"

namespace hlo::gpu {
namespace {

using ptx::Kind;
using ptx::Mod;

constexpr uint64_t kAll = ~uint64_t{0};

}  // namespace

uint8_t* HostAccess(Thread* thread, uint64_t address, const Site* site) {
  uint8_t* memory = thread->block->Access(*thread, address, *site, site->bytes);
  if (memory == nullptr) thread->block->Leave(*thread);
  return memory;
}

uint64_t HostAtomic(Thread* thread, uint64_t address, const Site* site, uint64_t x, uint64_t y) {
  Block& block = *thread->block;
  uint8_t* memory = block.Access(*thread, address, *site, site->bytes);
  if (memory == nullptr) block.Leave(*thread);
  block.NoteAtomic(*thread, address);
  ++block.device().counts().atomics;
  const bool global = site->space != ptx::Space::Shared && address < kSharedWindow;
  return PerformAtomic(*site->inst, memory, site->bytes, x, y, global);
}

void HostGroup(Thread* thread, const Site* site, uint64_t* values) {
  const ptx::Instruction& inst = *site->inst;
  Block& block = *thread->block;
  if (inst.kind() == Kind::Bar || inst.kind() == Kind::BarRed) {
    if (values[0] > 15) {
      block.Report(*thread, *site, FaultKind::Barrier, "there are barriers 0 to 15 only");
      block.Leave(*thread);
    }
    if (inst.Has(Mod::Arrive)) return block.Arrive(static_cast<uint32_t>(values[0]), 1);
  }
  block.Wait(*thread, *site, values);
}

void HostBranch(Thread* thread, const Site* site, uint32_t taken) {
  thread->block->NoteBranch(*thread, *site, taken != 0);
}

void HostFence(Thread* thread, const Site*) { thread->block->Fence(*thread); }

void HostExit(Thread* thread) { thread->block->Leave(*thread); }

void HostTrap(Thread* thread, const Site* site) {
  thread->block->Report(*thread, *site, FaultKind::Trap, "trap");
  thread->block->Leave(*thread);
}

void HostSetCondition(Thread* thread, const Site* site, uint64_t condition, uint32_t value) {
  Block& block = *thread->block;
  Conditions* const conditions = block.device().conditions();
  const auto known = conditions == nullptr ? Conditions::iterator() : conditions->find(condition);
  if (conditions == nullptr || known == conditions->end()) {
    block.Report(*thread, *site, FaultKind::Condition,
                 conditions == nullptr ? "sets a condition, and no graph with conditions is being done"
                                       : "sets a condition of another graph than the one that is being done");
    block.Leave(*thread);
  }
  known->second.value = value;
  known->second.set = true;
}

void HostCopy(Thread* thread, const Site* site, uint64_t to, uint64_t from, uint64_t bytes) {
  Block& block = *thread->block;
  Block::Copy copy{site, to, from, site->bytes, std::min<uint64_t>(bytes, site->bytes)};
  block.Begin(*thread, copy);
  if (block.fault()) block.Leave(*thread);
  auto& groups = block.CopiesOf(*thread);
  if (groups.empty()) groups.emplace_back();
  groups.back().push_back(copy);
}

/// Copies are done when they are waited for, as late as can be.
void HostCopyGroup(Thread* thread, const Site* site, uint64_t pending) {
  Block& block = *thread->block;
  auto& groups = block.CopiesOf(*thread);
  if (groups.empty()) groups.emplace_back();
  if (pending == kAll) {
    groups.emplace_back();
    return;
  }
  // The last group is open: it is waited for by wait_all only.
  const bool all = site->inst->kind() == Kind::CpWaitAll;
  while (groups.size() > (all ? 0 : pending + 1)) {
    const std::vector<Block::Copy> group = std::move(groups.front());
    groups.pop_front();
    for (const Block::Copy& copy : group) block.Complete(*thread, copy);
    if (block.fault()) break;
  }
  if (block.fault()) block.Leave(*thread);
}

uint64_t HostMbarrier(Thread* thread, uint64_t address, const Site* site, uint64_t x) {
  Block& block = *thread->block;
  const ptx::Instruction& inst = *site->inst;
  uint8_t* memory = nullptr;
  {
    Site store = *site;
    if (inst.kind() == Kind::MbarrierInit) store.access = Site::Access::Store;
    memory = block.Access(*thread, address, store, 8);
  }
  if (memory == nullptr) block.Leave(*thread);
  Block::Mbarrier& barrier = block.mbarriers()[reinterpret_cast<uint64_t>(memory)];
  switch (inst.kind()) {
    case Kind::MbarrierInit: barrier = {0, x, x}; return 0;
    case Kind::MbarrierInval: barrier = {}; return 0;
    case Kind::MbarrierArrive: {
      if (x > barrier.pending || barrier.expected == 0) {
        block.Report(*thread, *site, FaultKind::Barrier, "more arrivals than the barrier expects");
        block.Leave(*thread);
      }
      const uint64_t state = barrier.phase;
      if (inst.Has(Mod::ArriveDrop)) barrier.expected -= x;
      barrier.pending -= x;
      if (barrier.pending == 0) {
        ++barrier.phase;
        barrier.pending = barrier.expected;
        block.PhaseDone();
      }
      return state;
    }
    case Kind::MbarrierTest: {
      const bool over = inst.Has(Mod::Parity) ? (barrier.phase & 1) != (x & 1) : barrier.phase != x;
      // Who asks again and again must let others go on.
      if (!over) block.Wait(*thread, *site, nullptr);
      return over ? 1 : 0;
    }
    default: return 0;
  }
}

uint64_t HostClock(Thread* thread, uint32_t) { return thread->block->Clock(); }

}  // namespace hlo::gpu
