#include "ir/support/interrupt.h"

#include <csignal>
#include <ctime>

#include "ir/support/parallel.h"

namespace hlo {
namespace internal {
thread_local constinit WorkContext current_work;
}
namespace {

std::atomic<StopToken*> signalled{nullptr};  // what signals are requests to
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
    signalled.load()->Request(InterruptCause::Signal, signal);
    if (signal_observer != nullptr) signal_observer(/*last=*/false);
    return;
  }
  if (signal_observer != nullptr) signal_observer(/*last=*/true);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

InterruptCause WhyInterrupted() {
  const StopToken* stop = CurrentWork().stop;
  return stop == nullptr ? InterruptCause::None : stop->cause();
}

int InterruptSignal() {
  const StopToken* stop = CurrentWork().stop;
  return stop == nullptr || stop->cause() != InterruptCause::Signal ? 0 : stop->signal();
}

Diagnostic InterruptedError(Loc loc) {
  if (WhyInterrupted() == InterruptCause::Timeout)
    return MakeError("limit-timeout", loc, "time limit exceeded");
  const int signal = InterruptSignal();
  if (signal == 0) return MakeError("interrupted", loc, "interrupted");
  return MakeError("interrupted", loc, "interrupted by signal {0}", signal);
}

void InstallInterruptHandlers(StopToken& stop, void (*on_signal)(bool last)) {
  signalled = &stop;
  first_signal_ns = 0;
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

TimeLimit::TimeLimit(StopToken& stop, std::chrono::milliseconds limit, void (*expired)())
    : thread_(TryThread([this, &stop, limit, expired] {
        std::unique_lock lock(mutex_);
        if (cancelled_.wait_for(lock, limit, [this] { return cancel_; })) return;
        stop.Request(InterruptCause::Timeout);
        if (expired != nullptr) expired();
      })) {
  // Nobody watches the clock: better no result than one that may take for ever.
  if (!thread_.joinable()) stop.Request(InterruptCause::Timeout);
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
