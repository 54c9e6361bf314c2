// Fourier transforms, factorisations, batch normalisation, random numbers.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

// What ToEnum needs.
using internal::SameNumber;
static_assert(SameNumber(FftType::FFT, hlo::FftType::FFT) && SameNumber(FftType::IFFT, hlo::FftType::IFFT) &&
              SameNumber(FftType::RFFT, hlo::FftType::RFFT) &&
              SameNumber(FftType::IRFFT, hlo::FftType::IRFFT));
static_assert(SameNumber(TriangularSolveOptions::TRANSPOSE_INVALID, hlo::TransposeA::Invalid) &&
              SameNumber(TriangularSolveOptions::NO_TRANSPOSE, hlo::TransposeA::NoTranspose) &&
              SameNumber(TriangularSolveOptions::TRANSPOSE, hlo::TransposeA::Transpose) &&
              SameNumber(TriangularSolveOptions::ADJOINT, hlo::TransposeA::Adjoint));
static_assert(SameNumber(RandomAlgorithm::RNG_DEFAULT, hlo::RngAlgorithm::Default) &&
              SameNumber(RandomAlgorithm::RNG_THREE_FRY, hlo::RngAlgorithm::ThreeFry) &&
              SameNumber(RandomAlgorithm::RNG_PHILOX, hlo::RngAlgorithm::Philox));

hlo::BatchNormAttrs BatchNorm(float epsilon, int64_t feature_index) {
  hlo::BatchNormAttrs attrs;
  attrs.epsilon = epsilon;
  attrs.feature_index = feature_index;
  return attrs;
}

InstructionOr AddRng(Emission& e, hlo::Distribution distribution, const Shape& shape) {
  HLO_TRY(hlo::Shape made, internal::ToShape(shape));
  hlo::RngAttrs attrs;
  attrs.distribution = distribution;
  return e.AddWithShape(hlo::OpKind::Rng, std::move(made), e.operands(), attrs);
}

}  // namespace

namespace ops {

XlaOp Fft(XlaBuilder* builder, XlaOp operand, FftType fft_type, Span<const int64_t> fft_length,
          Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    hlo::FftAttrs attrs;
    HLO_TRY(attrs.fft_type, internal::ToEnum(fft_type, hlo::FftType::IRFFT, "type of Fourier transforms"));
    attrs.fft_length = internal::ToDims(fft_length);
    return e.Add(hlo::OpKind::Fft, e.operands(), attrs);
  });
}

XlaOp Cholesky(XlaBuilder* builder, XlaOp a, bool lower, Location location) {
  return Emit(builder, {a}, location, [&](Emission& e) {
    hlo::CholeskyAttrs attrs;
    attrs.lower = lower;
    return e.Add(hlo::OpKind::Cholesky, e.operands(), attrs);
  });
}

XlaOp TriangularSolve(XlaBuilder* builder, XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveOptions::Transpose transpose_a, Location location) {
  return Emit(builder, {a, b}, location, [&](Emission& e) -> InstructionOr {
    hlo::TriangularSolveAttrs attrs;
    attrs.left_side = left_side;
    attrs.lower = lower;
    attrs.unit_diagonal = unit_diagonal;
    HLO_TRY(attrs.transpose_a, internal::ToEnum(transpose_a, hlo::TransposeA::Adjoint, "way to transpose"));
    return e.Add(hlo::OpKind::TriangularSolve, e.operands(), attrs);
  });
}

XlaOp BatchNormTraining(XlaBuilder* builder, XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                        int64_t feature_index, Location location) {
  return Emit(builder, {operand, scale, offset}, location, [&](Emission& e) {
    return e.Add(hlo::OpKind::BatchNormTraining, e.operands(), BatchNorm(epsilon, feature_index));
  });
}

XlaOp BatchNormInference(XlaBuilder* builder, XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean,
                         XlaOp variance, float epsilon, int64_t feature_index, Location location) {
  return Emit(builder, {operand, scale, offset, mean, variance}, location, [&](Emission& e) {
    return e.Add(hlo::OpKind::BatchNormInference, e.operands(), BatchNorm(epsilon, feature_index));
  });
}

XlaOp BatchNormGrad(XlaBuilder* builder, XlaOp operand, XlaOp scale, XlaOp mean, XlaOp variance,
                    XlaOp grad_output, float epsilon, int64_t feature_index, Location location) {
  return Emit(builder, {operand, scale, mean, variance, grad_output}, location, [&](Emission& e) {
    return e.Add(hlo::OpKind::BatchNormGrad, e.operands(), BatchNorm(epsilon, feature_index));
  });
}

XlaOp RngNormal(XlaBuilder* builder, XlaOp mu, XlaOp sigma, const Shape& shape, Location location) {
  return Emit(builder, {mu, sigma}, location,
              [&](Emission& e) { return AddRng(e, hlo::Distribution::Normal, shape); });
}

XlaOp RngUniform(XlaBuilder* builder, XlaOp a, XlaOp b, const Shape& shape, Location location) {
  return Emit(builder, {a, b}, location,
              [&](Emission& e) { return AddRng(e, hlo::Distribution::Uniform, shape); });
}

XlaOp RngBernoulli(XlaBuilder* builder, XlaOp mean, const Shape& shape, Location location) {
  return Emit(builder, {mean}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape made, internal::ToShape(shape));
    if (!made.IsArray() || made.element_type() != hlo::ElementType::U32 ||
        !e.shape(0).IsScalarOf(hlo::ElementType::F32))
      return Wrong("a mean of {0} and draws of {1}, which must be f32[] and an array of u32", e.shape(0),
                   made);
    HLO_TRY(hlo::Instruction * zero, e.Number(hlo::ElementType::F32, 0));
    HLO_TRY(hlo::Instruction * one, e.Number(hlo::ElementType::F32, 1));
    const std::array<hlo::Instruction*, 2> limits = {zero, one};
    Emission bounds(e.state(), limits);
    HLO_TRY(hlo::Instruction * draw,
            AddRng(bounds, hlo::Distribution::Uniform, ShapeUtil::ChangeElementType(shape, F32)));
    HLO_TRY(hlo::Instruction * limit, internal::BroadcastScalar(e, e.operand(0), made));
    hlo::CompareAttrs attrs;
    attrs.direction = hlo::Direction::LT;
    HLO_TRY(hlo::Instruction * below, e.Add(hlo::OpKind::Compare, {draw, limit}, attrs));
    return e.AddWithShape(hlo::OpKind::Convert, made, {below});
  });
}

XlaOp RngBitGenerator(XlaBuilder* builder, RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape,
                      Location location) {
  return Emit(builder, {initial_state}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape made, internal::ToShape(shape));
    hlo::RngBitGeneratorAttrs attrs;
    HLO_TRY(attrs.algorithm,
            internal::ToEnum(algorithm, hlo::RngAlgorithm::Philox, "algorithm of random numbers"));
    return e.AddWithShape(hlo::OpKind::RngBitGenerator, hlo::Shape::MakeTuple({e.shape(0), made}),
                          e.operands(), attrs);
  });
}

}  // namespace ops
}  // namespace hlo_toolkit
