// Shape rules of ops that move data (ops-elementwise §10.2-§10.5, §10.8-§10.11).
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// 2^31-1, the largest size get-dimension-size and set-dimension-size can speak of.
constexpr int64_t kMaxSizeInS32 = std::numeric_limits<int32_t>::max();

llvm::SmallVector<bool, 8> Flags(const Shape& shape) {
  llvm::SmallVector<bool, 8> flags(shape.dynamic_flags());
  flags.resize(static_cast<size_t>(shape.rank()));
  return flags;
}

/// The one entry of `dimensions`, in range for operand 0.
Result<int64_t> SingleDimension(const Instruction& inst) {
  const Dims& dims = inst.attr<DimensionsAttrs>().dimensions;
  if (dims.size() != 1)
    return RuleError("verify-attribute", inst,
                     "'dimensions' of {0} is {1}, but {2} needs exactly one dimension", Name(inst),
                     List(dims), ToString(inst.kind()));
  HLO_CHECK_OK(CheckArray(inst, 0));
  HLO_CHECK_OK(
      CheckInRange(inst, "dimensions", dims[0], inst.operand(0)->shape().rank(), "the rank of operand 0"));
  return dims[0];
}

Status CheckSameElementType(const Instruction& inst) {
  const Shape& x = inst.operand(0)->shape();
  if (inst.shape().IsArray() && inst.shape().element_type() == x.element_type()) return {};
  return OperandError("verify-shape", inst, 0, "{0} is declared {1}, but {2} of {3} keeps the element type",
                      Name(inst), inst.shape(), ToString(inst.kind()), x);
}

/// §10.10: same element type and count; unbounded sizes are not counted.
Status CheckSameCount(const Instruction& inst) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  HLO_CHECK_OK(CheckSameElementType(inst));
  const Shape& x = inst.operand(0)->shape();
  if (x.ElementCount() == inst.shape().ElementCount() || x.HasUnboundedDimension() ||
      inst.shape().HasUnboundedDimension())
    return {};
  return OperandError("verify-shape", inst, 0,
                      "{0} is declared {1} with {2} elements, but its operand {3} has {4}", Name(inst),
                      inst.shape(), inst.shape().ElementCount(), x, x.ElementCount());
}

/// Start indices of dynamic-slice and dynamic-update-slice: operands `first`…, one scalar per
/// dimension or one vector with all of them (§10.5).
Status CheckStartIndices(const Instruction& inst, int64_t first, int64_t rank) {
  const int64_t count = inst.operand_count() - first;
  for (int64_t i = first; i < inst.operand_count(); ++i) HLO_CHECK_OK(CheckArray(inst, i));
  if (count == 1 && inst.operand(first)->shape().rank() == 1) {
    const Shape& indices = inst.operand(first)->shape();
    if (IsIntegral(indices.element_type()) && indices.dim(0) == rank) return {};
    return OperandError("verify-operand-shape", inst, first,
                        "start indices of {0} are {1}, but its operand has rank {2}", Name(inst), indices,
                        rank);
  }
  if (count != rank)
    return OperandError("verify-operand-count", inst, 0,
                        "{0} has {1} start indices, but its operand {2} has rank {3}", Name(inst), count,
                        inst.operand(0)->shape(), rank);
  for (int64_t i = first; i < inst.operand_count(); ++i) {
    HLO_CHECK_OK(CheckIntegralScalar(inst, i));
    HLO_CHECK_OK(CheckSameType(inst, first, i));
  }
  return {};
}

/// Size and flag of dimension d of a concatenation along another dimension (§10.3).
Status MergeOtherDim(const Instruction& inst, int64_t i, int64_t d, int64_t& size, bool& flag) {
  const Shape& shape = inst.operand(i)->shape();
  if (!SizesAgree(size, shape.dim(d)))
    return OperandError("verify-operand-shape", inst, i,
                        "operands of {0} differ in dimension {1}, which is not concatenated: {2} and {3}",
                        Name(inst), d, inst.operand(0)->shape(), shape);
  if (size == kUnboundedSize) {
    size = shape.dim(d);
    flag = shape.is_dynamic(d);
  } else if (!shape.is_unbounded(d)) {
    flag |= shape.is_dynamic(d);
  }
  return {};
}

/// The sum of two sizes along the concatenated dimension; unbounded if one is; nothing on overflow.
std::optional<int64_t> AddSizes(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (a == kUnboundedSize || b == kUnboundedSize) return kUnboundedSize;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// low + high + size + max(size-1,0)·interior, or nothing on overflow.
std::optional<int64_t> PaddedSize(const PaddingDim& p, int64_t size) {
  int64_t holes = 0, sum = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), p.interior, &holes) ||
      __builtin_add_overflow(size, holes, &sum) || __builtin_add_overflow(sum, p.low, &sum) ||
      __builtin_add_overflow(sum, p.high, &sum))
    return std::nullopt;
  return sum;
}

}  // namespace

// Layout-sensitive rules about bytes and memory space stand in the verifier.
Result<Shape> InferBitcast(const Instruction& inst, const InferOptions&) { return inst.shape(); }

// §10.2. Without a written shape XLA takes `dimensions` for sizes to put in front (§5).
Result<Shape> InferBroadcast(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  const Dims& dims = inst.attr<DimensionsAttrs>().dimensions;
  if (!inst.shape().valid()) {
    Dims sizes(dims);
    sizes.append(x.dims().begin(), x.dims().end());
    llvm::SmallVector<bool, 8> dynamic(dims.size());
    for (int64_t d = 0; d < x.rank(); ++d) dynamic.push_back(x.is_dynamic(d));
    if (llvm::any_of(dims, [](int64_t s) { return s < 0; }))
      return RuleError("verify-attribute", inst, "'dimensions' of {0} is {1}, which holds a negative size",
                       Name(inst), List(dims));
    return Shape::ArrayWithDefaultLayout(x.element_type(), sizes, dynamic);
  }
  HLO_CHECK_OK(CheckSameElementType(inst));
  if (static_cast<int64_t>(dims.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'dimensions' of {0} is {1}, but its operand {2} has rank {3}", Name(inst),
                        List(dims), x, x.rank());
  HLO_CHECK_OK(CheckDimList(inst, "dimensions", dims, inst.shape().rank(), "the rank of the result"));
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t to = dims[static_cast<size_t>(i)];
    if (SizesAgree(x.dim(i), inst.shape().dim(to))) continue;
    return OperandError("verify-shape", inst, 0,
                        "{0} is declared {1}, but dimension {2} of its operand {3} becomes dimension {4}",
                        Name(inst), inst.shape(), i, x, to);
  }
  return inst.shape();
}

Result<Shape> InferReshape(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckSameCount(inst));
  return inst.shape();
}

Result<Shape> InferDynamicReshape(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckSameCount(inst));
  if (inst.operand_count() != inst.shape().rank() + 1)
    return RuleError("verify-operand-count", inst, "{0} has {1} sizes, but its shape {2} has rank {3}",
                     Name(inst), inst.operand_count() - 1, inst.shape(), inst.shape().rank());
  for (int64_t i = 1; i < inst.operand_count(); ++i)
    if (!inst.operand(i)->shape().IsScalarOf(ElementType::S32))
      return OperandError("verify-operand-shape", inst, i,
                          "operand {0} of {1} is {2}, but sizes must be s32[]", i, Name(inst),
                          inst.operand(i)->shape());
  return inst.shape();
}

// §10.11
Result<Shape> InferTranspose(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  const Dims& perm = inst.attr<DimensionsAttrs>().dimensions;
  if (static_cast<int64_t>(perm.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'dimensions' of {0} is {1}, but its operand {2} has rank {3}", Name(inst),
                        List(perm), x, x.rank());
  HLO_CHECK_OK(CheckDimList(inst, "dimensions", perm, x.rank(), "the rank of operand 0"));
  Dims dims, inverse(perm.size());
  llvm::SmallVector<bool, 8> dynamic;
  for (size_t i = 0; i < perm.size(); ++i) {
    dims.push_back(x.dim(perm[i]));
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    if (!x.dynamic_flags().empty()) dynamic.push_back(x.is_dynamic(perm[i]));
  }
  if (inst.shape().valid() || !x.has_layout()) return ArrayResult(inst, x.element_type(), dims, dynamic);
  Layout layout = x.layout();
  for (int64_t& d : layout.minor_to_major) {
    HLO_CHECK_OK(CheckInRange(inst, "minor_to_major", d, x.rank(), "the rank of operand 0"));
    d = inverse[static_cast<size_t>(d)];
  }
  return Shape::Array(x.element_type(), dims, dynamic).WithLayout(std::move(layout));
}

Result<Shape> InferReverse(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  HLO_CHECK_OK(CheckDimList(inst, "dimensions", inst.attr<DimensionsAttrs>().dimensions, x.rank(),
                            "the rank of operand 0"));
  return x;
}

// §10.3
Result<Shape> InferConcatenate(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const int64_t along, SingleDimension(inst));
  const Shape& x = inst.operand(0)->shape();
  Dims dims(x.dims());
  llvm::SmallVector<bool, 8> dynamic = Flags(x);
  ElementType type = x.element_type();
  for (int64_t i = 1; i < inst.operand_count(); ++i) {
    HLO_CHECK_OK(CheckArray(inst, i));
    HLO_CHECK_OK(CheckSameType(inst, 0, i));
    const Shape& next = inst.operand(i)->shape();
    if (next.rank() != x.rank())
      return OperandError("verify-operand-shape", inst, i,
                          "operands of {0} have different ranks: {1} and {2}", Name(inst), x, next);
    type = HigherPrecision(type, next.element_type());
    for (int64_t d = 0; d < x.rank(); ++d) {
      const auto k = static_cast<size_t>(d);
      if (d != along) {
        HLO_CHECK_OK(MergeOtherDim(inst, i, d, dims[k], dynamic[k]));
        continue;
      }
      const std::optional<int64_t> sum = AddSizes(dims[k], next.dim(d));
      if (!sum)
        return OperandError("verify-operand-shape", inst, i,
                            "{0} concatenates sizes {1} and {2}, whose sum exceeds 64 bits", Name(inst),
                            dims[k], next.dim(d));
      dims[k] = *sum;
      dynamic[k] |= next.is_dynamic(d);
    }
  }
  return ArrayResult(inst, type, dims, dynamic);
}

// §10.4
Result<Shape> InferSlice(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  const SliceRanges& ranges = inst.attr<SliceAttrs>().slice;
  if (static_cast<int64_t>(ranges.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'slice' of {0} has {1} ranges, but its operand {2} has rank {3}", Name(inst),
                        ranges.size(), x, x.rank());
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const SliceRange& r = ranges[static_cast<size_t>(d)];
    if (r.start < 0 || r.start > r.limit || (!x.is_unbounded(d) && r.limit > x.dim(d)) || r.stride <= 0)
      return OperandError(
          "verify-attribute", inst, 0,
          "'slice' of {0} has range [{1}:{2}:{3}], which does not fit dimension {4} of its operand {5}",
          Name(inst), r.start, r.limit, r.stride, d, x);
    const int64_t length = r.limit - r.start;
    dims.push_back(length == 0 ? 0 : (length - 1) / r.stride + 1);
    dynamic.push_back(x.is_dynamic(d) && !x.is_unbounded(d) && dims.back() != 1);
  }
  return ArrayResult(inst, x.element_type(), dims, dynamic);
}

// §10.5
Result<Shape> InferDynamicSlice(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  HLO_CHECK_OK(CheckStartIndices(inst, 1, x.rank()));
  const Dims& sizes = inst.attr<DynamicSliceAttrs>().dynamic_slice_sizes;
  if (static_cast<int64_t>(sizes.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'dynamic_slice_sizes' of {0} is {1}, but its operand {2} has rank {3}", Name(inst),
                        List(sizes), x, x.rank());
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    if (size < 0 || (!x.is_unbounded(d) && size > x.dim(d)))
      return OperandError(
          "verify-attribute", inst, 0,
          "'dynamic_slice_sizes' of {0} is {1}, which does not fit its operand {2} in dimension {3}",
          Name(inst), List(sizes), x, d);
    dynamic.push_back(x.is_dynamic(d) && size == x.dim(d));
  }
  return ArrayResult(inst, x.element_type(), sizes, dynamic);
}

Result<Shape> InferDynamicUpdateSlice(const Instruction& inst, const InferOptions&) {
  const Shape& result = inst.operand(0)->shape();
  const Shape& x = result.IsBuffer() ? result.buffer_shape() : result;
  if (!x.IsArray()) HLO_CHECK_OK(CheckArray(inst, 0));
  HLO_CHECK_OK(CheckArray(inst, 1));
  const Shape& update = inst.operand(1)->shape();
  const bool types_agree = x.element_type() == update.element_type() ||
                           (IsFloat(x.element_type()) && IsFloat(update.element_type()));
  if (!types_agree)
    return OperandError("verify-operand-type", inst, 1,
                        "{0} updates {1} with {2}, but the element types must agree", Name(inst), x, update);
  HLO_CHECK_OK(CheckStartIndices(inst, 2, x.rank()));
  bool fits = update.rank() == x.rank();
  for (int64_t d = 0; fits && d < x.rank(); ++d) fits = x.is_unbounded(d) || update.dim(d) <= x.dim(d);
  if (!fits)
    return OperandError("verify-operand-shape", inst, 1,
                        "{0} updates {1} with {2}, which does not fit inside", Name(inst), x, update);
  return result;
}

// §10.9; negative low and high trim.
Result<Shape> InferPad(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& x = inst.operand(0)->shape();
  const Shape& value = inst.operand(1)->shape();
  const Padding& padding = inst.attr<PadAttrs>().padding;
  if (value.rank() != 0)
    return OperandError("verify-operand-shape", inst, 1, "padding value of {0} is {1}, but must be a scalar",
                        Name(inst), value);
  HLO_CHECK_OK(CheckSameType(inst, 0, 1));
  if (static_cast<int64_t>(padding.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'padding' of {0} has {1} dimensions, but its operand {2} has rank {3}", Name(inst),
                        padding.size(), x, x.rank());
  Dims dims;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const PaddingDim& p = padding[static_cast<size_t>(d)];
    if (p.interior < 0)
      return RuleError("verify-attribute", inst,
                       "'padding' of {0} has interior {1} in dimension {2}, but must not be negative",
                       Name(inst), p.interior, d);
    const std::optional<int64_t> size = x.is_unbounded(d) ? kUnboundedSize : PaddedSize(p, x.dim(d));
    if (!size || (*size < 0 && *size != kUnboundedSize))
      return OperandError("verify-attribute", inst, 0,
                          "'padding' {0}_{1}_{2} of {3} leaves no valid size for dimension {4} of {5}", p.low,
                          p.high, p.interior, Name(inst), d, x);
    dims.push_back(*size);
  }
  return ArrayResult(inst, HigherPrecision(x.element_type(), value.element_type()), dims, x.dynamic_flags());
}

// §10.8
Result<Shape> InferGetDimensionSize(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const int64_t d, SingleDimension(inst));
  const Shape& x = inst.operand(0)->shape();
  if (x.dim(d) > kMaxSizeInS32)
    return OperandError("verify-operand-shape", inst, 0,
                        "{0} asks for dimension {1} of {2}, but its size must fit s32", Name(inst), d, x);
  return ArrayResult(inst, ElementType::S32, {});
}

Result<Shape> InferSetDimensionSize(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const int64_t d, SingleDimension(inst));
  const Shape& x = inst.operand(0)->shape();
  if (!inst.operand(1)->shape().IsScalarOf(ElementType::S32))
    return OperandError("verify-operand-shape", inst, 1, "the size {0} sets is {1}, but must be s32[]",
                        Name(inst), inst.operand(1)->shape());
  if (x.dim(d) > kMaxSizeInS32)
    return OperandError("verify-operand-shape", inst, 0,
                        "{0} sets dimension {1} of {2}, but its size must fit s32", Name(inst), d, x);
  llvm::SmallVector<bool, 8> dynamic = Flags(x);
  dynamic[static_cast<size_t>(d)] = true;
  return ArrayResultLike(inst, x, x.element_type(), x.dims(), dynamic);
}

}  // namespace hlo
