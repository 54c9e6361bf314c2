// Slices at run-time positions, and run-time sizes of dimensions.
#include <algorithm>

#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"
#include "ir/start_bounds.h"

namespace hlo {
namespace {

/// Start of a window of `sizes` in an array: scalars, or one vector (the old form), clamped so that
/// the window fits (ops-elementwise §10.5). The largest start is taken modulo 2^bits.
Dims ClampedStarts(llvm::ArrayRef<Literal> indices, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<int64_t> sizes, int bits = 64) {
  Dims starts;
  if (indices.size() == 1 && indices[0].shape().rank() == 1) {
    const Literal vector = ToIndices(indices[0]);
    starts.assign(vector.Data<int64_t>().begin(), vector.Data<int64_t>().end());
  } else {
    for (const Literal& index : indices) starts.push_back(ScalarIndex(index));
  }
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t limit = std::max<int64_t>(dims[d] - sizes[d], 0);
    starts[d] = std::clamp<int64_t>(starts[d], 0, bits < 64 ? limit & ((int64_t{1} << bits) - 1) : limit);
  }
  return starts;
}

int64_t Offset(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

}  // namespace

Result<Literal> EvalDynamicSlice(EvalContext&, const Instruction& inst,
                                 llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  const llvm::ArrayRef<int64_t> dims = x.shape().dims(), sizes = inst.shape().dims();
  const Dims starts = ClampedStarts(operands.drop_front(), dims, sizes);
  Literal result = Literal::Make(inst.shape());
  const auto from = RowMajorStrides(dims), to = RowMajorStrides(sizes);
  llvm::SmallVector<CopyDim, 6> copy;
  for (size_t d = 0; d < dims.size(); ++d) copy.push_back({sizes[d], to[d], from[d]});
  const int width = Info(x.shape().element_type()).host_bytes();
  StridedCopy(result.MutableData(), x.data() + Offset(starts, from) * width, width, copy);
  TakeDynamicSizes(result, x);
  return result;
}

Result<Literal> EvalDynamicUpdateSlice(EvalContext&, const Instruction& inst,
                                       llvm::MutableArrayRef<Literal> operands) {
  const Literal update = ConvertLiteral(std::move(operands[1]), operands[0].shape().element_type());
  Literal result = std::move(operands[0]);
  const Shape shape = result.shape();
  const llvm::ArrayRef<int64_t> dims = shape.dims(), sizes = update.shape().dims();
  const ElementType type = operands.size() > 2 ? operands[2].shape().element_type() : ElementType::S64;
  const Dims starts = ClampedStarts(operands.drop_front(2), dims, sizes, UpdateBoundBits(type));
  const auto to = RowMajorStrides(dims), from = RowMajorStrides(sizes);
  llvm::SmallVector<CopyDim, 6> copy;
  for (size_t d = 0; d < dims.size(); ++d)
    copy.push_back({update.DynamicSize(static_cast<int64_t>(d)), to[d], from[d]});
  const int width = Info(shape.element_type()).host_bytes();
  StridedCopy(result.MutableData() + Offset(starts, to) * width, update.data(), width, copy);
  if (inst.shape().IsArray()) result = result.WithShape(inst.shape());
  return result;
}

Result<Literal> EvalGetDimensionSize(EvalContext&, const Instruction& inst,
                                     llvm::MutableArrayRef<Literal> operands) {
  const int64_t size = operands[0].DynamicSize(inst.attr<DimensionsAttrs>().dimensions[0]);
  Literal result = Literal::Make(inst.shape());
  result.MutableSpan<int32_t>()[0] = static_cast<int32_t>(size);
  return result;
}

Result<Literal> EvalSetDimensionSize(EvalContext&, const Instruction& inst,
                                     llvm::MutableArrayRef<Literal> operands) {
  const int64_t d = inst.attr<DimensionsAttrs>().dimensions[0];
  const int64_t size = std::clamp<int64_t>(ScalarIndex(operands[1]), 0, inst.shape().dim(d));
  Literal result = std::move(operands[0]);
  result = result.WithShape(inst.shape());
  // A static result has the size of the bound everywhere.
  if (inst.shape().is_dynamic(d))
    result.SetDynamicSize(d, size);
  else if (result.HasDynamicSizes())
    result.SetDynamicSize(d, inst.shape().dim(d));
  return result;
}

}  // namespace hlo
