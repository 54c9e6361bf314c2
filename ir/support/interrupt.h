// Cooperative cancellation: requests that long computations poll.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ir/support/diagnostic.h"
#include "ir/support/work.h"

namespace hlo {

/// True once somebody wants the work of this thread to stop: who runs it, the user or a time limit. A few
/// relaxed loads: poll it once per piece of work of about a millisecond, and return InterruptedError().
inline bool Interrupted() {
  const StopToken* stop = CurrentWork().stop;
  return stop != nullptr && stop->requested();
}

/// What was requested first, and the signal's number for InterruptCause::Signal (else 0).
InterruptCause WhyInterrupted();
int InterruptSignal();

/// The diagnostic a cancelled computation returns: `interrupted` or `limit-timeout`.
Diagnostic InterruptedError(Loc loc = {});

/// Makes SIGINT, SIGTERM and (unless it is ignored) SIGHUP requests to `stop`, which is never destroyed. A
/// second signal, sent a quarter of a second later or more, ends the process as usual. `on_signal` is called
/// with each, `last` with the one that ends it; only async-signal-safe calls.
void InstallInterruptHandlers(StopToken& stop, void (*on_signal)(bool last) = nullptr);

/// Requests `stop` after `limit` unless destroyed before.
class TimeLimit {
 public:
  /// `expired`, if any, is called then, on a thread of its own.
  TimeLimit(StopToken& stop, std::chrono::milliseconds limit, void (*expired)() = nullptr);
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
