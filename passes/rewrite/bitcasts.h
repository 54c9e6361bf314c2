// Values that lie in memory as they lay, seen with other dimensions.
#pragma once
#include "passes/rewrite/maker.h"

namespace hlo {

/// An array with a layout of which nothing but the order of dimensions is special, and no dynamic dimension.
[[nodiscard]] bool IsPlainArray(const Shape& shape);
/// So are all operands and the arrays of the result.
[[nodiscard]] bool HasPlainArrays(const Instruction& inst);
/// The results of an instruction: the shape, or the elements of a tuple.
[[nodiscard]] llvm::ArrayRef<Shape> ResultShapes(const Shape& shape);
/// A single shape itself, several as tuple; a tuple of one if `like` is a tuple.
[[nodiscard]] Shape ResultShapeLike(const Shape& like, llvm::ArrayRef<Shape> shapes);

/// The value as the shape, which has to lie in memory like it; tuples of arrays element by element. Makes
/// nothing where it is of that shape, or a bitcast of what is.
Instruction* BitcastTo(Maker& make, Instruction* value, const Shape& shape);
/// The shape without some dimensions, the others lying in memory as they follow. Plain arrays only.
[[nodiscard]] Shape WithoutDims(const Shape& shape, llvm::ArrayRef<int64_t> dims);

}  // namespace hlo
