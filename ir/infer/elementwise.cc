// Shape rules of elementwise ops (ops-elementwise §6-§9). The op table says which types operand 0 may have.
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// Flags of an elementwise result whose operands have equal or unbounded sizes (§4 "Dynamic dims").
Shape MergeDims(const Instruction& inst, const Shape& a, const Shape& b, ElementType type) {
  if (LLVM_LIKELY(a.dynamic_flags().empty() && b.dynamic_flags().empty())) return a.WithElementType(type);
  Dims dims(a.dims());
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < a.rank(); ++d) {
    // (X,<=X) -> <=X; (X,?) -> X; (<=X,?) -> ?
    bool flag = a.is_dynamic(d) || b.is_dynamic(d);
    int64_t& size = dims[static_cast<size_t>(d)];
    if (a.is_unbounded(d) != b.is_unbounded(d)) {
      const Shape& bounded = a.is_unbounded(d) ? b : a;
      flag = bounded.is_dynamic(d);
      size = flag ? kUnboundedSize : bounded.dim(d);
    }
    dynamic.push_back(flag);
  }
  return ArrayResultLike(inst, a, type, dims, dynamic);
}

/// Operands 0 and 1: arrays of one type and equal sizes.
Status CheckBinary(const Instruction& inst) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  HLO_CHECK_OK(CheckArray(inst, 1));
  if (LLVM_LIKELY(inst.operand(0)->shape() == inst.operand(1)->shape())) return {};
  HLO_CHECK_OK(CheckSameType(inst, 0, 1));
  return CheckSameDims(inst, 0, 1);
}

/// Operand i is a scalar or has the sizes of operand j.
Status CheckScalarOrSameDims(const Instruction& inst, int64_t i, int64_t j) {
  return inst.operand(i)->shape().rank() == 0 ? Status{} : CheckSameDims(inst, j, i);
}

int StorageBits(ElementType type) {
  const TypeInfo& info = Info(type);
  return info.is_packed() ? info.bits : info.host_bytes() * 8;
}

}  // namespace

Result<Shape> InferUnary(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  return inst.operand(0)->shape();
}

Result<Shape> InferAbs(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  return x.WithElementType(RealPartType(x.element_type()));
}

Result<Shape> InferRealImag(const Instruction& inst, const InferOptions& options) {
  return InferAbs(inst, options);
}

Result<Shape> InferIsFinite(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  return inst.operand(0)->shape().WithElementType(ElementType::Pred);
}

Result<Shape> InferCopy(const Instruction& inst, const InferOptions&) { return inst.operand(0)->shape(); }

Result<Shape> InferConvert(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  if (!inst.shape().IsArray())
    return RuleError("verify-shape", inst, "{0} is declared {1}, but convert of {2} makes an array",
                     Name(inst), inst.shape(), x);
  if (IsComplex(x.element_type()) && IsPred(inst.shape().element_type()))
    return OperandError("verify-operand-type", inst, 0,
                        "{0} converts {1} to pred, which has no meaning for complex numbers", Name(inst), x);
  return ArrayResultLike(inst, x, inst.shape().element_type(), x.dims(), x.dynamic_flags());
}

// §6.4: equal widths keep the sizes, others add or drop a minor dimension of the ratio's size.
Result<Shape> InferBitcastConvert(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& from = inst.operand(0)->shape();
  const Shape& to = inst.shape();
  if (!to.IsArray() || IsComplex(from.element_type()) != IsComplex(to.element_type()))
    return RuleError("verify-shape", inst, "{0} is declared {1}, but bitcast-convert of {2} makes {3}",
                     Name(inst), to, from,
                     IsComplex(from.element_type()) ? "a complex array" : "a real array");
  const int from_bits = StorageBits(from.element_type()), to_bits = StorageBits(to.element_type());
  Dims dims(from.dims());
  llvm::SmallVector<bool, 8> dynamic(from.dynamic_flags());
  assert((from_bits % to_bits == 0 || to_bits % from_bits == 0) && "storage sizes are powers of two");
  if (from_bits > to_bits) {
    dims.push_back(from_bits / to_bits);
    if (!dynamic.empty()) dynamic.push_back(false);
  } else if (from_bits < to_bits) {
    const int64_t ratio = to_bits / from_bits;
    if (from.rank() == 0 || !SizesAgree(dims.back(), ratio))
      return OperandError("verify-operand-shape", inst, 0,
                          "{0} makes {1} elements of {2}, whose last dimension must have size {3}",
                          Name(inst), ToString(to.element_type()), from, ratio);
    dims.pop_back();
    if (!dynamic.empty()) dynamic.pop_back();
  }
  return ArrayResult(inst, to.element_type(), dims, dynamic);
}

Result<Shape> InferReducePrecision(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const auto& attrs = inst.attr<ReducePrecisionAttrs>();
  if (attrs.exponent_bits < 1)
    return RuleError("verify-attribute", inst, "'exponent_bits' of {0} is {1}, but at least 1 is needed",
                     Name(inst), attrs.exponent_bits);
  if (attrs.mantissa_bits < 0)
    return RuleError("verify-attribute", inst, "'mantissa_bits' of {0} is {1}, but at least 0 is needed",
                     Name(inst), attrs.mantissa_bits);
  return inst.operand(0)->shape();
}

Result<Shape> InferBinary(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBinary(inst));
  const Shape& a = inst.operand(0)->shape();
  const Shape& b = inst.operand(1)->shape();
  return MergeDims(inst, a, b, HigherPrecision(a.element_type(), b.element_type()));
}

Result<Shape> InferComplex(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBinary(inst));
  const Shape& re = inst.operand(0)->shape();
  const Shape& im = inst.operand(1)->shape();
  const std::optional<ElementType> type = ComplexType(re.element_type());
  if (!type || re.element_type() != im.element_type())
    return OperandError("verify-operand-type", inst, 1,
                        "{0} has parts {1} and {2}, but complex needs two of f32 or two of f64", Name(inst),
                        re, im);
  return MergeDims(inst, re, im, *type);
}

// §7.5; the result's element type is the declared one.
Result<Shape> InferStochasticConvert(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& x = inst.operand(0)->shape();
  const Shape& random = inst.operand(1)->shape();
  if (!IsUnsigned(random.element_type()) || Info(random.element_type()).bits != Info(x.element_type()).bits)
    return OperandError("verify-operand-type", inst, 1,
                        "random bits of {0} are {1}, but {2} needs unsigned integers of {3} bits", Name(inst),
                        random, x, static_cast<int>(Info(x.element_type()).bits));
  HLO_CHECK_OK(CheckSameDims(inst, 0, 1));
  if (!inst.shape().IsArray() || !IsIntegral(inst.shape().element_type()))
    return RuleError("verify-shape", inst,
                     "{0} is declared {1}, but stochastic-convert of {2} makes integers", Name(inst),
                     inst.shape(), x);
  return ArrayResultLike(inst, x, inst.shape().element_type(), x.dims(), x.dynamic_flags());
}

// §8
Result<Shape> InferCompare(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBinary(inst));
  const Shape& a = inst.operand(0)->shape();
  const auto& attrs = inst.attr<CompareAttrs>();
  const ElementType type = a.element_type();
  if (attrs.type) {
    const CompareType natural = IsFloat(type) || IsComplex(type) ? CompareType::Float
                                : IsSigned(type)                 ? CompareType::Signed
                                                                 : CompareType::Unsigned;
    const auto counts = [](CompareType t) { return t == CompareType::Signed || t == CompareType::Unsigned; };
    // Of integers the operands say whether they are signed (errata-2 14).
    if (*attrs.type != natural && !(counts(*attrs.type) && counts(natural)) &&
        !(IsFloat(type) && *attrs.type == CompareType::TotalOrder))
      return OperandError("verify-attribute", inst, 0,
                          "{0} compares {1} with type={2}, but its elements need {3}", Name(inst), a,
                          ToString(*attrs.type), ToString(natural));
  }
  if (IsComplex(type) && attrs.direction != Direction::EQ && attrs.direction != Direction::NE)
    return OperandError("verify-attribute", inst, 0,
                        "{0} compares {1} with direction={2}, but complex numbers have EQ and NE only",
                        Name(inst), a, ToString(attrs.direction));
  return MergeDims(inst, a, inst.operand(1)->shape(), ElementType::Pred);
}

// §9: only the predicate may be a scalar.
Result<Shape> InferSelect(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& pred = inst.operand(0)->shape();
  const Shape& on_true = inst.operand(1)->shape();
  const Shape& on_false = inst.operand(2)->shape();
  HLO_CHECK_OK(CheckSameType(inst, 1, 2));
  HLO_CHECK_OK(CheckSameDims(inst, 1, 2));
  HLO_CHECK_OK(CheckScalarOrSameDims(inst, 0, 1));
  const ElementType type = HigherPrecision(on_true.element_type(), on_false.element_type());
  Shape merged = MergeDims(inst, on_true, on_false, type);
  if (inst.shape().valid() || pred.rank() == 0) return merged;
  Shape result = ArrayResultLike(inst, pred, type, merged.dims(), merged.dynamic_flags());
  if (!result.has_layout() || !on_true.has_layout()) return result;
  // errata-2 10: the layout is the predicate's, but elements are as wide as those selected.
  Layout layout = result.layout();
  layout.element_size_bits = on_true.layout().element_size_bits;
  return result.WithLayout(std::move(layout));
}

Result<Shape> InferClamp(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  HLO_CHECK_OK(CheckSameType(inst, 0, 1));
  HLO_CHECK_OK(CheckSameType(inst, 1, 2));
  HLO_CHECK_OK(CheckScalarOrSameDims(inst, 0, 1));
  HLO_CHECK_OK(CheckScalarOrSameDims(inst, 2, 1));
  return inst.operand(1)->shape();
}

}  // namespace hlo
