// Elementwise ops on whole literals.
#pragma once
#include "ir/eval/kernel.h"
#include "ir/literal.h"

namespace hlo {

/// Applies `kernel` to arrays of one element count; operands with a single element count for all
/// positions. Runs on all cores and writes into an operand that nobody else holds. The result has the
/// operands' run-time sizes.
Literal ApplyElementwise(const Kernel& kernel, const Shape& shape, llvm::MutableArrayRef<Literal> operands);

/// The value converted to another element type (as `convert`); itself if it has that type.
Literal ConvertLiteral(Literal value, ElementType type);
/// An array of any integer type as S64; U64 values beyond its range become its maximum.
Literal ToIndices(const Literal& value);
/// The value of an integer scalar, likewise.
int64_t ScalarIndex(const Literal& value);

/// Gives dimensions that are dynamic in the result's shape the run-time sizes of the operands (of equal
/// rank) that have some.
void TakeDynamicSizes(Literal& result, llvm::ArrayRef<Literal> operands);

}  // namespace hlo
