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
  int64_t array = -1;                   // number of the operand; -1: the fusion's result
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
/// What a value of a fused computation sees of a parameter through transposes, reshapes, slices, broadcasts
/// and conversions to wider floats; nothing for other values.
std::optional<View> ViewOf(const Instruction& value);

}  // namespace hlo::gpu
