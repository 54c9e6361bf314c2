// Data-parallel loops on pools of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Threads this process may use at once: the least of the CPUs it is allowed to run on and its
/// control group's CPU quota (rounded up); at least 1.
int AvailableThreads();

/// Threads that help with the work that has it (ir/support/work.h).
class ThreadPool {
 public:
  /// For `count` threads, a caller's included; 0 or less: AvailableThreads(). They start when they are
  /// needed.
  explicit ThreadPool(int count);
  /// When nobody runs a loop on it any more.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  class State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Threads that ParallelFor uses for the work of this thread, the calling one included.
int ThreadCount();

/// Sets ThreadCount() of work without a pool of its own; 0 or less means AvailableThreads(). Takes effect
/// with the next ParallelFor.
void SetThreadCount(int count);

/// Calls body(b, e) for the consecutive pieces [b, e) of [begin, end), each `grain` long but for the last
/// (grain below 1 means 1). The pieces depend on begin, end and grain only, never on the thread count, so
/// that a result combined per piece is the same on every machine. The calling thread helps and returns
/// when all pieces are done. Several threads may call at once; a call from within a body runs its
/// pieces in order on the calling thread. All of it belongs to the work of the caller (ir/support/work.h).
/// Bodies must not throw.
void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body);

/// True while the calling thread executes a body of ParallelFor.
bool InParallelRegion();

/// A thread beside the pool, with a deep stack (ir/support/stack.h); not joinable if the system grants none.
std::thread TryThread(std::function<void()> body);

/// The same for what need not be waited for: signals are left to the others.
std::thread QuietThread(std::function<void()> body);

}  // namespace hlo
