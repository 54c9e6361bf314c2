// Values between runs: on the host, or where a backend keeps them.
#pragma once
#include <memory>
#include <vector>

#include "ir/literal.h"
#include "ir/support/result.h"

namespace hlo {

/// An array in the memory of a backend's device. Nothing changes it; threads may share it.
class DeviceArray {
 public:
  /// Static; elements lie row by row whatever the layout. A tuple only within DeviceValue.
  explicit DeviceArray(Shape shape) : shape_(std::move(shape)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  virtual ~DeviceArray() = default;
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// A copy. Errors: those of the device.
  [[nodiscard]] virtual Result<Literal> ToHost() const = 0;

 private:
  Shape shape_;
};

/// An argument or a result of a run. Copies share it.
class DeviceValue {
 public:
  DeviceValue() = default;
  // NOLINTBEGIN(google-explicit-constructor): is either
  DeviceValue(Literal host) : host_(std::move(host)) {}
  DeviceValue(std::shared_ptr<const DeviceArray> array) : array_(std::move(array)) {}
  // NOLINTEND(google-explicit-constructor)
  /// A tuple; its elements stay where they are.
  static DeviceValue OfElements(std::vector<DeviceValue> elements);

  /// Whether some of it is in a device's memory.
  [[nodiscard]] bool IsOnDevice() const { return array_ != nullptr; }
  /// Null: the value is on the host, or a tuple.
  [[nodiscard]] const std::shared_ptr<const DeviceArray>& array() const {
    static const std::shared_ptr<const DeviceArray> kNone;
    return IsTuple() ? kNone : array_;
  }
  /// Of a tuple of which some is on a device; nothing for others.
  [[nodiscard]] llvm::ArrayRef<DeviceValue> elements() const;
  /// An element of a tuple, wherever that is.
  [[nodiscard]] DeviceValue Element(size_t number) const {
    return IsTuple() ? elements()[number] : DeviceValue(host_.elements()[number]);
  }
  /// Of a value on the host.
  [[nodiscard]] const Literal& host() const { return host_; }
  [[nodiscard]] const Shape& shape() const { return array_ != nullptr ? array_->shape() : host_.shape(); }
  /// Brings it to the host, if it is not there. Errors: those of the device.
  [[nodiscard]] Result<Literal> ToHost() const& { return array_ != nullptr ? array_->ToHost() : host_; }
  [[nodiscard]] Result<Literal> ToHost() && {
    return array_ != nullptr ? array_->ToHost() : std::move(host_);
  }

 private:
  [[nodiscard]] bool IsTuple() const { return array_ != nullptr && array_->shape().IsTuple(); }

  Literal host_;
  std::shared_ptr<const DeviceArray> array_;  // or a tuple, of which not all is on the host
};

/// Values on the host.
std::vector<DeviceValue> ToValues(std::vector<Literal> literals);

}  // namespace hlo
