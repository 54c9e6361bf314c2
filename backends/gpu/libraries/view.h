// Arrays in memory as the values of a kernel see them.
#pragma once
#include <optional>

#include "ir/instruction.h"

namespace hlo::gpu {

/// A dimension: so many elements, and from one to the next.
struct ViewDim {
  int64_t size, stride;
};

/// An operand of a fusion, or a part of it, whose elements a value has in another order: element i of the
/// value lies at offset + sum of i[d] * stride[d], in elements.
struct View {
  int64_t array = -1;                   // number of the operand; -1: the result, -2: its second array, …
  ElementType type = ElementType::F32;  // in memory
  int64_t offset = 0;
  llvm::SmallVector<ViewDim, 4> dims;  // of the value
};

/// A whole array, row-major.
View ViewOfArray(int64_t array, const Shape& shape);
/// The same elements as an array of this shape, in row-major order before and after; nothing where that
/// needs a copy.
std::optional<View> Reshaped(const View& view, const Shape& shape);
/// The value seen before a transpose, of the view that it has behind it.
View BeforeTranspose(const View& view, llvm::ArrayRef<int64_t> permutation);
/// The view of a value, of that of its operand, through one of the ops that ViewOf() knows; nothing for
/// others.
std::optional<View> ViewBehind(const Instruction& value, const View& operand);
/// A value and what another one sees of its elements, as they lie row by row, through such ops.
struct Seen {
  const Instruction* inst;
  View view;
};
/// Nothing where one of the ops does not see them evenly.
std::optional<Seen> SeenThrough(const Instruction& value);
/// From one element of `dim` to the next: a dimension of what sees the elements of an array of these
/// dimensions row by row. Nothing where that is not even.
std::optional<int64_t> StrideThrough(llvm::ArrayRef<ViewDim> array, ViewDim dim);
/// What a value of a fused computation sees of a parameter through transposes, reshapes, slices, broadcasts
/// and conversions to wider floats; nothing for other values.
std::optional<View> ViewOf(const Instruction& value);

}  // namespace hlo::gpu
