// Cooperative cancellation: a flag that long computations poll.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "ir/support/diagnostic.h"

namespace hlo {

enum class InterruptCause : uint8_t { None, Signal, Timeout };

namespace internal {
extern std::atomic<InterruptCause> interrupt_cause;
}

/// True once the user or a time limit wants the process to stop. One relaxed load: poll it once per piece
/// of work of about a millisecond, and return InterruptedError().
inline bool Interrupted() {
  return internal::interrupt_cause.load(std::memory_order_relaxed) != InterruptCause::None;
}

/// What was requested first, and the signal's number for InterruptCause::Signal (else 0).
InterruptCause WhyInterrupted();
int InterruptSignal();

/// Sets the flag; the first request wins.
void RequestInterrupt(InterruptCause cause, int signal = 0);
/// Forgets a request, for programs that run several jobs in turn.
void ClearInterrupt();

/// The diagnostic a cancelled computation returns: `interrupted` or `limit-timeout`.
Diagnostic InterruptedError(Loc loc = {});

/// Makes SIGINT, SIGTERM and (unless it is ignored) SIGHUP set the flag. A second signal, sent a quarter of a
/// second later or more, ends the process as usual. `on_signal` is called with each, `last` with the one that
/// ends it; only async-signal-safe calls.
void InstallInterruptHandlers(void (*on_signal)(bool last) = nullptr);

/// Sets the flag after `limit` unless destroyed before.
class TimeLimit {
 public:
  /// `expired`, if any, is called then, on a thread of its own.
  explicit TimeLimit(std::chrono::milliseconds limit, void (*expired)() = nullptr);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable cancelled_;
  bool cancel_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace hlo
