// convolution-widening: convolutions of elements of at most 8 bits that kernels and libraries do not multiply
// get operands that they do: floats are read as BF16, which holds all their values, integers of less than a
// byte as bytes of the same sign.
//
// Requires row-major. Preserves flat-calls, row-major. Results that are such floats are rounded from sums of
// F32, but for those that gemm::IsOfLanes(), which reads and rounds codes. Exact: sums are taken and rounded
// as before.
#include "backends/cpu/passes.h"
#include "backends/cpu/product_problem.h"
#include "backends/products/conv/depthwise_nhwc_staged.h"
#include "ir/eval/compute_type.h"
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

/// The type that elements of `type` are multiplied in; `type` itself where it has kernels.
ElementType MultipliedType(ElementType type) {
  const TypeInfo& info = Info(type);
  if (info.bits > 8 || IsPred(type)) return type;
  // Powers of two alone: their least is subnormal in BF16.
  if (IsFloat(type)) return info.mantissa_bits == 0 ? type : ElementType::BF16;
  if (info.bits == 8) return type;
  return IsSigned(type) ? ElementType::S8 : ElementType::U8;
}

/// Whether gemm::IsOfLanes() has all of it, which reads and rounds floats of eight bits as fast as others.
bool ReadsCodesInLanes(const Instruction& convolution, llvm::function_ref<gemm::Target()> target) {
  const ElementType type = convolution.shape().element_type();
  return IsFloat(type) && MultipliedType(type) != type &&
         llvm::all_of(ConvolutionProblems(convolution),
                      [&](const gemm::Problem& problem) { return gemm::IsOfLanes(problem, target()); });
}

/// False if its types are good as they are.
bool Widen(Instruction* convolution, PassContext& context) {
  const ElementType result = convolution->shape().element_type();
  const bool in_f32 = !IsComplex(result) &&
                      ComputeTypeFor(result, convolution->operand(0)->shape().element_type(),
                                     convolution->operand(1)->shape().element_type()) == ComputeType::F32;
  const auto type_of = [&](int64_t i) {
    const ElementType from = convolution->operand(i)->shape().element_type(), to = MultipliedType(from);
    return in_f32 || !IsFloat(to) ? to : from;
  };
  const auto is_read_as_it_is = [&](int64_t i) {
    return type_of(i) == convolution->operand(i)->shape().element_type();
  };
  const bool rounds = in_f32 && IsFloat(result) && MultipliedType(result) != result;
  if ((!rounds && is_read_as_it_is(0) && is_read_as_it_is(1)) || !context.TakeRewrite()) return false;
  for (const int64_t i : {0, 1})
    if (!is_read_as_it_is(i))
      convolution->SetOperand(i, Maker(convolution).Convert(convolution->operand(i), type_of(i)));
  // Kernels round faster than what stores sums.
  if (!rounds) return true;
  Instruction* sums = CloneWith(*convolution, *convolution->parent(), convolution->operands().vec());
  sums->set_shape(Shape::Array(ElementType::F32, convolution->shape().dims()));
  ReplaceAndRemove(convolution, Maker(convolution).Convert(sums, result));
  return true;
}

Result<bool> RunConvolutionWidening(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  const auto target = [&] { return TargetOf(context); };
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> found;
    for (Instruction* inst : computation->InstructionsOf(OpKind::Convolution))
      if (IsPlainConvolution(*inst)) found.push_back(inst);
    for (Instruction* convolution : found)
      if (!ReadsCodesInLanes(*convolution, target)) changed |= Widen(convolution, context);
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionWidening, NoPassOptions);

}  // namespace hlo::cpu
