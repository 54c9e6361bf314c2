// bf16-mixed-precision-removal: no instruction computes in bf16 and f32 at once (passes.md §2.7).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: an instruction that computes with both types gets its bf16 operands converted to f32 and its bf16
// results converted back. Left alone: instructions that compute in one of them, what moves values.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/widen.h"

namespace hlo {
namespace {

bool Has(const Shape& shape, ElementType type) {
  if (shape.IsArray()) return shape.element_type() == type;
  return shape.IsTuple() && llvm::any_of(shape.tuple_shapes(), [&](const Shape& e) { return Has(e, type); });
}

bool Matches(const Instruction& inst) {
  const auto has = [&](ElementType type) {
    return Has(inst.shape(), type) ||
           llvm::any_of(inst.operands(), [&](const Instruction* o) { return Has(o->shape(), type); });
  };
  // The types of reductions follow from their bodies.
  if (inst.kind() == OpKind::Reduce || inst.kind() == OpKind::ReduceWindow) return false;
  return ComputesIn(inst, ElementType::BF16) && has(ElementType::BF16) && has(ElementType::F32);
}

Result<bool> RunBf16MixedPrecisionRemoval(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches, [](Instruction* inst) -> Result<Instruction*> {
    return Widened(inst, {ElementType::BF16, ElementType::F32});
  });
}

}  // namespace

HLO_DEFINE_PASS(Bf16MixedPrecisionRemoval, NoPassOptions);

}  // namespace hlo
