// Data-parallel loops on one process-wide pool of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <thread>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Threads this process may use at once: the least of the CPUs it is allowed to run on and its
/// control group's CPU quota (rounded up); at least 1.
int AvailableThreads();

/// Threads that ParallelFor uses, the calling one included.
int ThreadCount();

/// Sets ThreadCount(); 0 or less means AvailableThreads(). Takes effect with the next ParallelFor.
void SetThreadCount(int count);

/// Calls body(b, e) for the consecutive pieces [b, e) of [begin, end), each `grain` long but for the last
/// (grain below 1 means 1). The pieces depend on begin, end and grain only, never on the thread count, so
/// that a result combined per piece is the same on every machine. The calling thread helps and returns
/// when all pieces are done. Several threads may call at once; a call from within a body runs its
/// pieces in order on the calling thread. Bodies must not throw.
void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body);

/// True while the calling thread executes a body of ParallelFor.
bool InParallelRegion();

/// A thread beside the pool, with a deep stack (ir/support/stack.h); not joinable if the system grants none.
std::thread TryThread(std::function<void()> body);

/// The same for what need not be waited for: signals are left to the others.
std::thread QuietThread(std::function<void()> body);

}  // namespace hlo
