// Shape rules of fft, cholesky, triangular-solve and batch normalisation (ops-structured §6, §7).
#include "ir/infer/check.h"

namespace hlo {
namespace {

Status CheckFloatOrComplex(const Instruction& inst, int64_t i) {
  HLO_CHECK_OK(CheckArray(inst, i));
  const Shape& shape = inst.operand(i)->shape();
  if (IsFloat(shape.element_type()) || IsComplex(shape.element_type())) return {};
  return OperandError("verify-operand-type", inst, i,
                      "operand {0} of {1} is {2}, but {3} takes floating or complex elements", i, Name(inst),
                      shape, ToString(inst.kind()));
}

/// Operand 0 has at least two dimensions, the last two of them equal.
Status CheckSquare(const Instruction& inst) {
  const Shape& a = inst.operand(0)->shape();
  if (a.rank() >= 2 && SizesAgree(a.dim(a.rank() - 1), a.dim(a.rank() - 2))) return {};
  return OperandError("verify-operand-shape", inst, 0,
                      "operand 0 of {0} is {1}, but {2} takes square matrices", Name(inst), a,
                      ToString(inst.kind()));
}

/// Type of an fft's result, or nothing if operands of this type are not transformed so.
std::optional<ElementType> FftResultType(FftType kind, ElementType type) {
  if (kind == FftType::RFFT) return ComplexType(type);
  if (!IsComplex(type)) return std::nullopt;
  return kind == FftType::IRFFT ? RealPartType(type) : type;
}

/// Operands 1… are vectors of as many elements as the feature dimension, of one type with operand 0.
Status CheckBatchNorm(const Instruction& inst, int64_t vectors) {
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& x = inst.operand(0)->shape();
  if (!IsFloat(x.element_type()) || x.rank() == 0)
    return OperandError("verify-operand-type", inst, 0,
                        "operand 0 of {0} is {1}, but {2} takes floating elements of rank at least 1",
                        Name(inst), x, ToString(inst.kind()));
  const int64_t feature = inst.attr<BatchNormAttrs>().feature_index;
  HLO_CHECK_OK(CheckInRange(inst, "feature_index", feature, x.rank(), "the rank of operand 0"));
  for (int64_t i = 1; i <= vectors; ++i) {
    HLO_CHECK_OK(CheckSameType(inst, 0, i));
    const Shape& v = inst.operand(i)->shape();
    if (v.rank() != 1 || !SizesAgree(v.dim(0), x.dim(feature)))
      return OperandError("verify-operand-shape", inst, i,
                          "operand {0} of {1} is {2}, but must be a vector of the {3} features of {4}", i,
                          Name(inst), v, x.dim(feature), x);
  }
  return {};
}

Shape FeatureVector(const Instruction& inst) {
  const Shape& x = inst.operand(0)->shape();
  const int64_t feature = inst.attr<BatchNormAttrs>().feature_index;
  return Shape::ArrayWithDefaultLayout(x.element_type(), {x.dim(feature)}, {x.is_dynamic(feature)});
}

}  // namespace

// §6.1
Result<Shape> InferFft(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  const auto& [kind, length] = inst.attr<FftAttrs>();
  const auto count = static_cast<int64_t>(length.size());
  if (count < 1 || count > 3 || count > x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'fft_length' of {0} is {1}, but must have 1 to 3 entries, at most the rank of {2}",
                        Name(inst), List(length), x);
  const std::optional<ElementType> type = FftResultType(kind, x.element_type());
  if (!type)
    return OperandError("verify-operand-type", inst, 0,
                        "operand of {0} is {1}, but fft_type={2} takes {3} elements", Name(inst), x,
                        ToString(kind), kind == FftType::RFFT ? "f32 or f64" : "complex");
  Dims dims(x.dims());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t d = x.rank() - count + i, wanted = length[static_cast<size_t>(i)];
    const bool halved = kind == FftType::IRFFT && i + 1 == count;
    const bool fits =
        halved ? x.dim(d) == wanted / 2 + 1 || (wanted == 0 && x.dim(d) == 0) : x.dim(d) == wanted;
    // Of sizes 0 and 1 nothing is transformed, so they need not agree (errata-2 14).
    const bool trivial = wanted <= 1 && (x.dim(d) == 0 || x.dim(d) == 1);
    if (wanted < 0 || (!fits && !trivial && !x.is_unbounded(d)))
      return OperandError(
          "verify-attribute", inst, 0,
          "'fft_length' of {0} is {1}, which does not fit dimension {2} of {3} with fft_type={4}", Name(inst),
          List(length), d, x, ToString(kind));
  }
  int64_t& last = dims.back();
  if (kind == FftType::IRFFT) last = length.back();
  if (kind == FftType::RFFT && last != kUnboundedSize && last != 0) last = last / 2 + 1;
  llvm::SmallVector<bool, 8> dynamic(x.dynamic_flags());
  if (!dynamic.empty() && kind == FftType::IRFFT && x.is_unbounded(x.rank() - 1)) dynamic.back() = false;
  return ArrayResultLike(inst, x, *type, dims, dynamic);
}

Result<Shape> InferCholesky(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckFloatOrComplex(inst, 0));
  HLO_CHECK_OK(CheckSquare(inst));
  return inst.operand(0)->shape();
}

// §6.3
Result<Shape> InferTriangularSolve(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckFloatOrComplex(inst, 0));
  HLO_CHECK_OK(CheckFloatOrComplex(inst, 1));
  const Shape& a = inst.operand(0)->shape();
  const Shape& b = inst.operand(1)->shape();
  if (a.element_type() != b.element_type())
    return OperandError("verify-operand-type", inst, 1,
                        "operands of {0} are {1} and {2}, but need one element type", Name(inst), a, b);
  HLO_CHECK_OK(CheckSquare(inst));
  const auto& attrs = inst.attr<TriangularSolveAttrs>();
  bool fits = a.rank() == b.rank();
  for (int64_t d = 0; fits && d < a.rank() - 2; ++d) fits = SizesAgree(a.dim(d), b.dim(d));
  if (fits) fits = SizesAgree(a.dim(a.rank() - 1), b.dim(b.rank() - (attrs.left_side ? 2 : 1)));
  if (!fits)
    return OperandError("verify-operand-shape", inst, 1,
                        "{0} solves for {1}, which does not fit matrix {2} on the {3} side", Name(inst), b, a,
                        attrs.left_side ? "left" : "right");
  if (attrs.transpose_a == TransposeA::Invalid)
    return RuleError("verify-attribute", inst,
                     "{0} has no 'transpose_a', but needs NO_TRANSPOSE, TRANSPOSE or ADJOINT", Name(inst));
  return b;
}

// §7
Result<Shape> InferBatchNormTraining(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBatchNorm(inst, 2));
  const Shape vector = FeatureVector(inst);
  return Shape::MakeTuple({inst.operand(0)->shape(), vector, vector});
}

Result<Shape> InferBatchNormInference(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBatchNorm(inst, 4));
  return inst.operand(0)->shape();
}

Result<Shape> InferBatchNormGrad(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckBatchNorm(inst, 3));
  HLO_CHECK_OK(CheckSameType(inst, 0, 4));
  HLO_CHECK_OK(CheckSameDims(inst, 0, 4));
  const Shape vector = FeatureVector(inst);
  return Shape::MakeTuple({inst.operand(0)->shape(), vector, vector});
}

}  // namespace hlo
