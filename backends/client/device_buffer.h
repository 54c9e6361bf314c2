// Values in the memory of a client's devices, which stay there between runs.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/device_value.h"

namespace hlo {

/// A value that somebody is making. Threads may wait for it and set it at once.
template <class T>
class Pending {
 public:
  using Listener = std::function<void(const Result<T>&)>;
  /// Once.
  void Set(Result<T> value) {
    std::vector<Listener> listeners;
    {
      const std::lock_guard lock(mutex_);
      // Nobody takes it away before these have seen it.
      if (!listeners_.empty()) {
        listeners.swap(listeners_);
        for (const Listener& listener : listeners) listener(value);
      }
      value_ = std::move(value);
    }
    set_.notify_all();
  }
  /// Calls `listener`, which asks nothing of this one, with the value: now, or when it is set.
  void Then(Listener listener) {
    const std::lock_guard lock(mutex_);
    if (value_)
      listener(*value_);
    else
      listeners_.push_back(std::move(listener));
  }
  [[nodiscard]] bool IsSet() const {
    const std::lock_guard lock(mutex_);
    return value_.has_value();
  }
  /// Waits so long at most: whether it is there.
  bool WaitFor(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    return set_.wait_for(lock, limit, [this] { return value_.has_value(); });
  }
  /// Waits for it. Errors: that which it was set to.
  Status Wait() {
    const std::unique_lock lock = Locked();
    if (!*value_) return Error(value_->error());
    return {};
  }
  Result<T> Get() {
    const std::unique_lock lock = Locked();
    return *value_;
  }
  /// The same by its last user.
  Result<T> Take() {
    const std::unique_lock lock = Locked();
    return std::move(*value_);
  }

 private:
  std::unique_lock<std::mutex> Locked() {
    std::unique_lock lock(mutex_);
    set_.wait(lock, [this] { return value_.has_value(); });
    return lock;
  }
  mutable std::mutex mutex_;
  std::condition_variable set_;
  std::optional<Result<T>> value_;
  std::vector<Listener> listeners_;
};

using PendingValue = std::shared_ptr<Pending<DeviceValue>>;

/// A value on a device; copies are the same buffer. It can be used before it has been made: what uses it
/// waits.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const Shape& shape, PendingValue value);
  /// A tuple of values that others have or make. `donate`: nobody may use the elements any more. Errors:
  /// those of Claim().
  static Result<DeviceBuffer> OfElements(llvm::ArrayRef<DeviceBuffer> elements, bool donate);
  /// An element of a tuple as a buffer of its own; does not wait. Errors: those of Claim().
  [[nodiscard]] Result<DeviceBuffer> Element(size_t number) const;

  /// With its layout.
  [[nodiscard]] const Shape& shape() const { return state_->shape; }
  /// Waiting for it would cost no time.
  [[nodiscard]] bool IsReady() const;
  /// Waits so long at most: whether waiting would now cost no time.
  [[nodiscard]] bool WaitFor(std::chrono::nanoseconds limit) const;
  /// Waits until it is there. Errors: those of the run that was to make it; runtime-buffer, if it was
  /// donated.
  Status Wait() const;
  /// Waits, and brings the value to the host. Errors: those of Wait().
  [[nodiscard]] Result<Literal> ToHost() const;
  /// Waits, and gives the value where it is. Errors: those of Wait().
  [[nodiscard]] Result<DeviceValue> Value() const;
  /// What a run reads when its turn comes. `donate`: the buffer is the run's from now on, which may write its
  /// results there; nobody else may use it any more. Errors: runtime-buffer, if it was donated before.
  [[nodiscard]] Result<PendingValue> Claim(bool donate) const;
  /// Claims each of `buffers`; of those donated all or none, whoever else wants some at the same time. One
  /// may stand there several times.
  static Result<std::vector<PendingValue>> ClaimAll(
      llvm::ArrayRef<std::pair<const DeviceBuffer*, bool>> buffers);

 private:
  struct State {
    Shape shape;
    std::mutex mutex;
    PendingValue value;  // null: donated
  };
  std::shared_ptr<State> state_;
};

}  // namespace hlo
