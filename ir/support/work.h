// What a piece of work belongs to, instead of the process: who may stop it, and whose threads help with it.
#pragma once
#include <atomic>
#include <cstdint>

namespace hlo {

class ThreadPool;

enum class InterruptCause : uint8_t { None, Signal, Timeout };

/// A request to stop, which the work polls that it is for. A request to a token is one to all that were made
/// below it. May be requested from any thread and from signal handlers.
class StopToken {
 public:
  constexpr StopToken() = default;
  /// `above` outlives it; null: there is none.
  explicit constexpr StopToken(const StopToken* above) : above_(above) {}
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  /// The first request wins. `signal`: the number of the signal that asks, for InterruptCause::Signal.
  void Request(InterruptCause cause, int signal = 0) {
    int no_signal = 0;
    if (signal != 0) signal_.compare_exchange_strong(no_signal, signal);
    auto none = InterruptCause::None;
    cause_.compare_exchange_strong(none, cause);
  }
  /// Forgets the requests to this one, for work that comes later.
  void Clear() {
    signal_ = 0;
    cause_ = InterruptCause::None;
  }

  [[nodiscard]] bool requested() const {
    for (const StopToken* token = this; token != nullptr; token = token->above_)
      if (token->cause_.load(std::memory_order_relaxed) != InterruptCause::None) return true;
    return false;
  }
  /// What was requested of the nearest of this one and those above that was asked.
  [[nodiscard]] InterruptCause cause() const {
    const StopToken* asked = Asked();
    return asked == nullptr ? InterruptCause::None : asked->cause_.load();
  }
  [[nodiscard]] int signal() const {
    const StopToken* asked = Asked();
    return asked == nullptr ? 0 : asked->signal_.load();
  }

 private:
  [[nodiscard]] const StopToken* Asked() const {
    const StopToken* token = this;
    while (token != nullptr && token->cause_.load() == InterruptCause::None) token = token->above_;
    return token;
  }

  static_assert(std::atomic<InterruptCause>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
                "requested by signal handlers");
  std::atomic<InterruptCause> cause_{InterruptCause::None};
  std::atomic<int> signal_{0};
  const StopToken* above_ = nullptr;
};

/// What the work of a thread belongs to.
struct WorkContext {
  const StopToken* stop = nullptr;  // null: nobody stops it
  ThreadPool* pool = nullptr;       // null: that of the process
};

namespace internal {
extern thread_local constinit WorkContext current_work;
}

/// That of the calling thread. Loops that run on several threads hand it on (ParallelFor); who starts a
/// thread for a part of the work gives it a WorkScope.
inline const WorkContext& CurrentWork() { return internal::current_work; }

/// While it lives, what this thread does belongs to `work`.
class WorkScope {
 public:
  explicit WorkScope(const WorkContext& work) : before_(internal::current_work) {
    internal::current_work = work;
  }
  ~WorkScope() { internal::current_work = before_; }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  WorkContext before_;
};

/// A scope for the same work, but with another token.
class StopScope {
 public:
  explicit StopScope(const StopToken& stop) : scope_({&stop, CurrentWork().pool}) {}

 private:
  WorkScope scope_;
};

}  // namespace hlo
