#include "ir/support/interrupt.h"

#include <csignal>

namespace hlo {
namespace internal {
std::atomic<InterruptCause> interrupt_cause{InterruptCause::None};
}
namespace {

static_assert(std::atomic<InterruptCause>::is_always_lock_free, "set in signal handlers");
std::atomic<int> interrupt_signal{0};

void OnSignal(int signal) { RequestInterrupt(InterruptCause::Signal, signal); }

}  // namespace

InterruptCause WhyInterrupted() { return internal::interrupt_cause.load(); }

int InterruptSignal() { return WhyInterrupted() == InterruptCause::Signal ? interrupt_signal.load() : 0; }

void RequestInterrupt(InterruptCause cause, int signal) {
  int no_signal = 0;
  if (signal != 0) interrupt_signal.compare_exchange_strong(no_signal, signal);
  auto none = InterruptCause::None;
  internal::interrupt_cause.compare_exchange_strong(none, cause);
}

void ClearInterrupt() {
  interrupt_signal = 0;
  internal::interrupt_cause = InterruptCause::None;
}

Diagnostic InterruptedError(Loc loc) {
  if (WhyInterrupted() == InterruptCause::Timeout)
    return MakeError("limit-timeout", loc, "time limit exceeded");
  return MakeError("interrupted", loc, "interrupted by signal {0}", InterruptSignal());
}

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

TimeLimit::TimeLimit(std::chrono::milliseconds limit)
    : thread_([this, limit] {
        std::unique_lock lock(mutex_);
        if (!cancelled_.wait_for(lock, limit, [this] { return cancel_; }))
          RequestInterrupt(InterruptCause::Timeout);
      }) {}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    cancel_ = true;
  }
  cancelled_.notify_one();
  thread_.join();
}

}  // namespace hlo
