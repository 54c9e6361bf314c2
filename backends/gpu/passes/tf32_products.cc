// tf32-products: products of f32 whose precision nobody asks for are those of tf32.
//
// Requires nothing. Preserves flat-calls, copies, schedule, layouts, row-major, canonical-dots, fusions.
// Changes: dots and convolutions of f32 with default or high operand precision get the algorithm
// dot_tf32_tf32_f32: operands are rounded to the 11 bits of tf32, sums are those of f32, as XLA's GPU backend
// has them. Left alone: highest precision, other types, those with an algorithm, ragged and scaled dots; all
// under --strict-fp.
#include "passes/pass.h"

namespace hlo::gpu {
namespace {

bool IsF32(const Instruction& inst) {
  const auto is_f32 = [](const Shape& shape) {
    return shape.IsArray() && shape.element_type() == ElementType::F32;
  };
  return inst.operand_count() == 2 && is_f32(inst.shape()) && is_f32(inst.operand(0)->shape()) &&
         is_f32(inst.operand(1)->shape());
}

template <class Attrs>
bool SetAlgorithm(Instruction* inst, PassContext& context) {
  const auto& attrs = inst->attr<Attrs>();
  const auto is_free = [](Precision precision) {
    return precision == Precision::Default || precision == Precision::High;
  };
  if (!IsF32(*inst) || attrs.algorithm != DotAlgorithm::Unset ||
      !llvm::all_of(attrs.operand_precision, is_free) || !context.TakeRewrite())
    return false;
  inst->mutable_attrs().Mutable<Attrs>().algorithm = DotAlgorithm::TF32TF32F32;
  return true;
}

Result<bool> RunTf32Products(Module& module, const NoPassOptions&, PassContext& context) {
  if (context.policy().strict_fp) return false;
  bool changed = false;
  for (Computation* computation : context.AllComputations(module)) {
    for (Instruction* inst : computation->InstructionsOf(OpKind::Dot))
      changed |= SetAlgorithm<DotAttrs>(inst, context);
    for (Instruction* inst : computation->InstructionsOf(OpKind::Convolution))
      changed |= SetAlgorithm<ConvolutionAttrs>(inst, context);
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Tf32Products, NoPassOptions);

}  // namespace hlo::gpu
