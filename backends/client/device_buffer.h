// Values in the memory of a client's devices, which stay there between runs.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/device_value.h"

namespace hlo {

/// A value that somebody is making. Threads may wait for it and set it at once.
template <class T>
class Pending {
 public:
  /// Once.
  void Set(Result<T> value) {
    {
      const std::lock_guard lock(mutex_);
      value_ = std::move(value);
    }
    set_.notify_all();
  }
  [[nodiscard]] bool IsSet() const {
    const std::lock_guard lock(mutex_);
    return value_.has_value();
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
};

using PendingValue = std::shared_ptr<Pending<DeviceValue>>;

/// A value on a device; copies are the same buffer. It can be used before it has been made: what uses it
/// waits.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const Shape& shape, PendingValue value);

  /// With its layout.
  [[nodiscard]] const Shape& shape() const { return state_->shape; }
  /// Waiting for it would cost no time.
  [[nodiscard]] bool IsReady() const;
  /// Waits until it is there. Errors: those of the run that was to make it; usage-name, if it was donated.
  Status Wait() const;
  /// Waits, and brings the value to the host. Errors: those of Wait().
  [[nodiscard]] Result<Literal> ToHost() const;
  /// Waits, and gives the value where it is. Errors: those of Wait().
  [[nodiscard]] Result<DeviceValue> Value() const;
  /// What a run reads when its turn comes. `donate`: the buffer is the run's from now on, which may write its
  /// results there; nobody else may use it any more. Errors: usage-name, if it was donated before.
  [[nodiscard]] Result<PendingValue> Claim(bool donate) const;

 private:
  struct State {
    Shape shape;
    std::mutex mutex;
    PendingValue value;  // null: donated
  };
  std::shared_ptr<State> state_;
};

}  // namespace hlo
