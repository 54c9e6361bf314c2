// Tests of single values that patterns of several families use.
#pragma once
#include "ir/instruction.h"

namespace hlo {

/// A constant whose value is known, or one that is only broadcast, reshaped, transposed, copied, sliced.
bool IsConstant(const Instruction& inst);
bool IsNotConstant(const Instruction& inst);
/// A scalar constant whose value is known, or broadcasts of one.
bool IsSplat(const Instruction& inst);
bool IsBoolean(const Instruction& inst);  // of type pred
/// Every element is the type's smallest (largest) value: −inf where there is one, false.
bool IsTypeMinimum(const Instruction& inst);
bool IsTypeMaximum(const Instruction& inst);
/// Every bit of every element is set: true, −1.
bool IsAllOnes(const Instruction& inst);

/// The base-2 logarithm of an integer splat that is a positive power of two.
std::optional<int64_t> LogOfPowerOfTwo(const Instruction& inst);

/// The starts of a dynamic-update-slice have the bounds that those of a dynamic-slice have (UpdateBoundBits).
bool BoundsFitIndices(const Instruction& update);

// Compares of a direction; not in total order.
bool IsLess(const Instruction& inst);
bool IsGreater(const Instruction& inst);
bool IsLessOrEqual(const Instruction& inst);
bool IsGreaterOrEqual(const Instruction& inst);
bool IsEqual(const Instruction& inst);
bool IsNotEqual(const Instruction& inst);

}  // namespace hlo
