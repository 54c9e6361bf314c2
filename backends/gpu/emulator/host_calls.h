// What generated code calls. None returns where a thread must not go on: the fibre is just left.
#pragma once
#include "backends/gpu/emulator/thread.h"

namespace hlo::gpu {

/// Where on the host the bytes of an access lie, which is checked.
uint8_t* HostAccess(Thread* thread, uint64_t address, const Site* site);
/// The old value of an atomic operation on `site->bytes` bytes.
uint64_t HostAtomic(Thread* thread, uint64_t address, const Site* site, uint64_t x, uint64_t y);
/// Waits for the other threads that the instruction needs; arguments and results are in `values`.
void HostGroup(Thread* thread, const Site* site, uint64_t* values);
void HostFence(Thread* thread, const Site* site);
/// Ends the thread.
void HostExit(Thread* thread);
void HostTrap(Thread* thread, const Site* site);
/// A condition of the graph that is being done.
void HostSetCondition(Thread* thread, const Site* site, uint64_t condition, uint32_t value);
/// Of a branch with a guard.
void HostBranch(Thread* thread, const Site* site, uint32_t taken);
/// An asynchronous copy, or what waits for them.
void HostCopy(Thread* thread, const Site* site, uint64_t to, uint64_t from, uint64_t bytes);
void HostCopyGroup(Thread* thread, const Site* site, uint64_t pending);
/// Operations on mbarriers; what they give.
uint64_t HostMbarrier(Thread* thread, uint64_t address, const Site* site, uint64_t x);
/// Clocks and timers, which go on.
uint64_t HostClock(Thread* thread, uint32_t special);

}  // namespace hlo::gpu
