#include "ir/support/interrupt.h"

#include <csignal>
#include <ctime>

#include "ir/support/parallel.h"

namespace hlo {
namespace internal {
std::atomic<InterruptCause> interrupt_cause{InterruptCause::None};
}
namespace {

static_assert(std::atomic<InterruptCause>::is_always_lock_free, "set in signal handlers");
std::atomic<int> interrupt_signal{0};

std::atomic<int64_t> first_signal_ns{0};
void (*signal_observer)(bool last) = nullptr;

int64_t MonotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The first signal asks the work to stop; a later one kills. One request may arrive as two signals
// (timeout(1) signals its child, then its whole process group), so what follows within a quarter of
// a second counts as the same. Only async-signal-safe calls.
void OnSignal(int signal) {
  int64_t unset = 0;
  const int64_t now = MonotonicNs();
  if (first_signal_ns.compare_exchange_strong(unset, now) || now - unset < 250'000'000) {
    RequestInterrupt(InterruptCause::Signal, signal);
    if (signal_observer != nullptr) signal_observer(/*last=*/false);
    return;
  }
  if (signal_observer != nullptr) signal_observer(/*last=*/true);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

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
  first_signal_ns = 0;
  internal::interrupt_cause = InterruptCause::None;
}

Diagnostic InterruptedError(Loc loc) {
  if (WhyInterrupted() == InterruptCause::Timeout)
    return MakeError("limit-timeout", loc, "time limit exceeded");
  return MakeError("interrupted", loc, "interrupted by signal {0}", InterruptSignal());
}

void InstallInterruptHandlers(void (*on_signal)(bool last)) {
  signal_observer = on_signal;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  // nohup has it ignored: then it stays so.
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
}

TimeLimit::TimeLimit(std::chrono::milliseconds limit, void (*expired)())
    : thread_(TryThread([this, limit, expired] {
        std::unique_lock lock(mutex_);
        if (cancelled_.wait_for(lock, limit, [this] { return cancel_; })) return;
        RequestInterrupt(InterruptCause::Timeout);
        if (expired != nullptr) expired();
      })) {
  // Nobody watches the clock: better no result than one that may take for ever.
  if (!thread_.joinable()) RequestInterrupt(InterruptCause::Timeout);
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    cancel_ = true;
  }
  cancelled_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace hlo
