// Evaluating scalar expressions whose inputs are known.
#pragma once
#include <optional>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Values of scalars that are known, or computed before.
using KnownScalars = llvm::DenseMap<const Instruction*, Literal>;

/// The instructions that compute a scalar from `leaves` and constants, operands first, the scalar itself
/// last. Nothing if other things take part (parameters, arrays, calls, random numbers, elided constants) or
/// they are more than a few hundred.
std::optional<std::vector<const Instruction*>> ScalarExpression(
    const Instruction& scalar, llvm::function_ref<bool(const Instruction&)> is_leaf);

/// The value of an expression made by ScalarExpression, leaves taken from `known`. Nothing if one is missing
/// or an operation has no value.
std::optional<Literal> EvaluateScalar(llvm::ArrayRef<const Instruction*> expression,
                                      KnownScalars known = KnownScalars());

/// A scalar's value that follows from constants alone.
std::optional<Literal> ScalarConstantValue(const Instruction& scalar);

}  // namespace hlo
