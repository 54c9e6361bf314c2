// Evaluating scalar expressions whose inputs are known.
#pragma once
#include <optional>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Values that are known, or computed before.
using KnownScalars = llvm::DenseMap<const Instruction*, Literal>;

/// The instructions that compute a value from leaves, operands first, the value itself last. Nothing if one
/// that is no leaf may not take part, or they are more than a few hundred.
std::optional<std::vector<const Instruction*>> Expression(
    const Instruction& value, llvm::function_ref<bool(const Instruction&)> is_leaf,
    llvm::function_ref<bool(const Instruction&)> may_take_part);

/// The instructions that compute a scalar from `leaves` and constants, operands first, the scalar itself
/// last. Nothing if other things take part (parameters, arrays, calls, random numbers, elided constants) or
/// they are more than a few hundred.
std::optional<std::vector<const Instruction*>> ScalarExpression(
    const Instruction& scalar, llvm::function_ref<bool(const Instruction&)> is_leaf);

/// The value of an expression that calls nothing and asks for no device, leaves taken from `known`. Nothing
/// if one is missing or an operation has no value.
std::optional<Literal> EvaluateScalar(llvm::ArrayRef<const Instruction*> expression,
                                      KnownScalars known = KnownScalars());

/// A scalar's value that follows from constants alone.
std::optional<Literal> ScalarConstantValue(const Instruction& scalar);

}  // namespace hlo
