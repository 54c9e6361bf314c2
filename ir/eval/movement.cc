// Ops that place elements elsewhere: broadcast, reshape, transpose, reverse, concatenate, slice, pad, iota.
#include <algorithm>

#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"

namespace hlo {
namespace {

using CopyDims = llvm::SmallVector<CopyDim, 6>;

int Width(const Literal& literal) { return Info(literal.shape().element_type()).host_bytes(); }

/// Where to start and what to copy; offsets in elements.
struct Transfer {
  int64_t to = 0;
  int64_t from = 0;
  CopyDims dims;
};

void Copy(Literal& to, const Literal& from, const Transfer& t) {
  const int width = Width(from);
  StridedCopy(to.MutableData() + t.to * width, from.data() + t.from * width, width, t.dims);
}

/// Run-time sizes of all dimensions.
Dims Sizes(const Literal& literal) {
  Dims sizes;
  for (int64_t d = 0; d < literal.shape().rank(); ++d) sizes.push_back(literal.DynamicSize(d));
  return sizes;
}

void SetSizes(Literal& literal, llvm::ArrayRef<int64_t> sizes) {
  for (int64_t d = 0; d < literal.shape().rank(); ++d)
    if (literal.shape().is_dynamic(d))
      literal.SetDynamicSize(d,
                             std::clamp<int64_t>(sizes[static_cast<size_t>(d)], 0, literal.shape().dim(d)));
}

/// The valid elements of `from`, in row-major order, become those of a result with run-time sizes
/// `sizes`.
Literal ReshapeValid(const Literal& from, const Shape& shape, llvm::ArrayRef<int64_t> sizes) {
  Literal result = Literal::Zeros(shape);
  SetSizes(result, sizes);
  const Literal dense = from.ToStatic();
  Transfer t;
  const auto strides = RowMajorStrides(shape.dims()), packed = RowMajorStrides(sizes);
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    t.dims.push_back({sizes[d], strides[d], packed[d]});
    count *= sizes[d];
  }
  if (count > 0 && count <= dense.shape().ElementCount()) Copy(result, dense, t);
  return result;
}

/// Run-time sizes of a reshape: within each pair of dimension groups of equal product, the valid
/// elements are divided by the static sizes.
Dims ReshapedSizes(const Literal& from, const Shape& shape) {
  Dims sizes(shape.dims());
  const Shape& source = from.shape();
  int64_t i = 0, k = 0;
  while (i < source.rank() && k < shape.rank()) {
    const int64_t first = k;
    int64_t bound_in = source.dim(i), bound_out = shape.dim(k), valid = from.DynamicSize(i);
    for (++i, ++k; bound_in != bound_out;) {
      if (bound_in < bound_out && i < source.rank()) {
        bound_in *= source.dim(i);
        valid *= from.DynamicSize(i++);
      } else if (bound_out < bound_in && k < shape.rank()) {
        bound_out *= shape.dim(k++);
      } else {
        break;
      }
    }
    for (int64_t d = first; d < k; ++d) {
      if (!shape.is_dynamic(d)) continue;
      int64_t others = 1;
      for (int64_t e = first; e < k; ++e)
        if (e != d) others *= sizes[static_cast<size_t>(e)];
      sizes[static_cast<size_t>(d)] = others == 0 ? 0 : valid / others;
    }
  }
  return sizes;
}

}  // namespace

Result<Literal> EvalBroadcast(EvalContext&, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  const Shape& shape = inst.shape();
  Literal result = Literal::Make(shape);
  const auto to = RowMajorStrides(shape.dims()), from = RowMajorStrides(x.shape().dims());
  Transfer t;
  for (int64_t d = 0; d < shape.rank(); ++d) t.dims.push_back({shape.dim(d), to[static_cast<size_t>(d)], 0});
  Dims sizes(shape.dims());
  for (const auto [d, target] : llvm::enumerate(inst.attr<DimensionsAttrs>().dimensions)) {
    t.dims[static_cast<size_t>(target)].from_stride = from[d];
    sizes[static_cast<size_t>(target)] = x.DynamicSize(static_cast<int64_t>(d));
  }
  Copy(result, x, t);
  if (x.HasDynamicSizes()) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalReshape(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  if (!x.HasDynamicSizes() || inst.shape().dynamic_flags().empty()) {
    Literal plain = std::move(operands[0]);
    return plain.WithShape(inst.shape());
  }
  return ReshapeValid(x, inst.shape(), ReshapedSizes(x, inst.shape()));
}

Result<Literal> EvalDynamicReshape(EvalContext&, const Instruction& inst,
                                   llvm::MutableArrayRef<Literal> operands) {
  Dims sizes(inst.shape().dims());
  for (int64_t d = 0; d < inst.shape().rank(); ++d)
    if (inst.shape().is_dynamic(d))
      sizes[static_cast<size_t>(d)] =
          std::clamp<int64_t>(ScalarIndex(operands[static_cast<size_t>(d) + 1]), 0, inst.shape().dim(d));
  return ReshapeValid(operands[0], inst.shape(), sizes);
}

Result<Literal> EvalTranspose(EvalContext&, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  Literal result = Literal::Make(inst.shape());
  const auto to = RowMajorStrides(inst.shape().dims()), from = RowMajorStrides(x.shape().dims());
  Transfer t;
  Dims sizes;
  for (const auto [d, source] : llvm::enumerate(inst.attr<DimensionsAttrs>().dimensions)) {
    t.dims.push_back({inst.shape().dims()[d], to[d], from[static_cast<size_t>(source)]});
    sizes.push_back(x.DynamicSize(source));
  }
  Copy(result, x, t);
  if (x.HasDynamicSizes()) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalReverse(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  Literal result = x.HasDynamicSizes() ? Literal::Zeros(inst.shape()) : Literal::Make(inst.shape());
  const auto strides = RowMajorStrides(x.shape().dims());
  const Dims sizes = Sizes(x);
  Transfer t;
  for (size_t d = 0; d < sizes.size(); ++d) t.dims.push_back({sizes[d], strides[d], strides[d]});
  for (const int64_t dim : inst.attr<DimensionsAttrs>().dimensions) {
    const auto d = static_cast<size_t>(dim);
    t.from += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
    t.dims[d].from_stride = -strides[d];
  }
  Copy(result, x, t);
  if (x.HasDynamicSizes()) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalConcatenate(EvalContext&, const Instruction& inst,
                                llvm::MutableArrayRef<Literal> operands) {
  const Shape& shape = inst.shape();
  const auto along = static_cast<size_t>(inst.attr<DimensionsAttrs>().dimensions[0]);
  const bool dynamic = llvm::any_of(operands, [](const Literal& x) { return x.HasDynamicSizes(); });
  Literal result = dynamic ? Literal::Zeros(shape) : Literal::Make(shape);
  const auto to = RowMajorStrides(shape.dims());
  Dims sizes(shape.dims());
  int64_t at = 0;
  for (Literal& operand : operands) {
    const Literal x = ConvertLiteral(std::move(operand), shape.element_type());
    const auto from = RowMajorStrides(x.shape().dims());
    Transfer t;
    t.to = at * to[along];
    for (size_t d = 0; d < to.size(); ++d) {
      const int64_t size = x.DynamicSize(static_cast<int64_t>(d));
      t.dims.push_back({size, to[d], from[d]});
      if (d != along) sizes[d] = std::min(sizes[d], size);
    }
    Copy(result, x, t);
    at += t.dims[along].size;
  }
  sizes[along] = at;
  if (dynamic) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalSlice(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const Literal& x = operands[0];
  Literal result = Literal::Make(inst.shape());
  const auto to = RowMajorStrides(inst.shape().dims()), from = RowMajorStrides(x.shape().dims());
  Transfer t;
  Dims sizes;
  for (const auto [d, range] : llvm::enumerate(inst.attr<SliceAttrs>().slice)) {
    t.from += range.start * from[d];
    const int64_t size = inst.shape().dims()[d];
    // A stride that nobody goes may be larger than the array.
    t.dims.push_back({size, to[d], size > 1 ? from[d] * range.stride : 0});
    const int64_t valid = std::min(range.limit, x.DynamicSize(static_cast<int64_t>(d))) - range.start;
    sizes.push_back(valid <= 0 ? 0 : (valid - 1) / range.stride + 1);
  }
  Copy(result, x, t);
  if (x.HasDynamicSizes()) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalPad(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const Shape& shape = inst.shape();
  const Literal x = ConvertLiteral(std::move(operands[0]), shape.element_type());
  const Literal value = ConvertLiteral(std::move(operands[1]), shape.element_type());
  Literal result = Literal::Make(shape);
  const auto to = RowMajorStrides(shape.dims()), from = RowMajorStrides(x.shape().dims());
  Transfer fill, t;
  Dims sizes;
  for (const auto [d, padding] : llvm::enumerate(inst.attr<PadAttrs>().padding)) {
    fill.dims.push_back({shape.dims()[d], to[d], 0});
    const int64_t size = x.DynamicSize(static_cast<int64_t>(d));
    const int64_t step = padding.interior + 1;
    // Operand elements [first, last) land inside the result.
    const int64_t first = padding.low >= 0 ? 0 : (-padding.low + step - 1) / step;
    const int64_t room = shape.dims()[d] - padding.low;
    const int64_t last = room <= 0 ? 0 : std::min(size, (room - 1) / step + 1);
    t.to += (padding.low + first * step) * to[d];
    t.from += first * from[d];
    t.dims.push_back({std::max<int64_t>(last - first, 0), to[d] * step, from[d]});
    sizes.push_back(padding.low + size + std::max<int64_t>(size - 1, 0) * padding.interior + padding.high);
  }
  Copy(result, value, fill);
  if (llvm::all_of(t.dims, [](const CopyDim& d) { return d.size > 0; })) Copy(result, x, t);
  if (x.HasDynamicSizes()) SetSizes(result, sizes);
  return result;
}

Result<Literal> EvalIota(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  const Shape& shape = inst.shape();
  const auto along = static_cast<size_t>(inst.attr<IotaAttrs>().iota_dimension);
  Literal counter = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::S64, shape.dims()[along]));
  const auto values = counter.MutableSpan<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  counter = ConvertLiteral(std::move(counter), shape.element_type());
  Literal result = Literal::Make(shape);
  const auto to = RowMajorStrides(shape.dims());
  Transfer t;
  for (size_t d = 0; d < to.size(); ++d) t.dims.push_back({shape.dims()[d], to[d], d == along ? 1 : 0});
  Copy(result, counter, t);
  return result;
}

}  // namespace hlo
