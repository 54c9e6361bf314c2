// Integers that follow from the ids of the device alone.
#pragma once
#include <optional>
#include <vector>

#include "ir/module.h"

namespace hlo {

/// A scalar integer computed of replica-id, partition-id and constants, tables included.
class DeviceValue {
 public:
  /// Nothing if other things take part, or more than a few hundred instructions or large arrays.
  static std::optional<DeviceValue> Of(const Instruction& scalar);
  /// The value on one device; nothing if an operation has none.
  [[nodiscard]] std::optional<int64_t> At(int64_t replica, int64_t partition) const;

 private:
  std::vector<const Instruction*> order_;  // operands first, the scalar itself last
};

}  // namespace hlo
