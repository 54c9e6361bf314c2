// simplify-fp-conversions: one conversion where floats pass through several types (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: convert(convert(x)) between floating types becomes one convert, or x. Where the inner conversion
// loses nothing the result is exact; elsewhere it has excess precision, which --strict-fp forbids.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/type_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// The inner convert of a chain that may be skipped.
Instruction* SkippableConvert(const Instruction& outer, const RewritePolicy& policy) {
  if (outer.kind() != OpKind::Convert || !IsFloat(outer.shape().element_type())) return nullptr;
  Instruction* inner = outer.operand(0);
  if (inner->kind() != OpKind::Convert || !IsFloat(inner->shape().element_type())) return nullptr;
  const ElementType source = inner->operand(0)->shape().element_type();
  if (!IsFloat(source)) return nullptr;
  return !policy.strict_fp || ConvertsExactly(source, inner->shape().element_type()) ? inner : nullptr;
}

Result<bool> RunSimplifyFpConversions(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    llvm::SmallVector<Instruction*, 8> outers;
    for (Instruction* inst : c->instructions())
      if (SkippableConvert(*inst, context.policy())) outers.push_back(inst);
    if (outers.empty()) continue;
    const std::vector<Instruction*> order = c->PostOrder();
    llvm::DenseSet<Instruction*> gone;
    for (Instruction* outer : order) {
      if (gone.contains(outer)) continue;
      Instruction* inner = SkippableConvert(*outer, context.policy());
      if (!inner || HasControlEdges(*outer)) continue;
      if (!context.TakeRewrite()) return changed;
      Instruction* source = inner->operand(0);
      if (source->shape() == outer->shape()) {
        ReplaceWith(outer, source);
        RemoveIfDead(outer, [&](Instruction* dead) { gone.insert(dead); });
      } else {
        outer->SetOperand(0, source);
        RemoveIfDead(inner, [&](Instruction* dead) { gone.insert(dead); });
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SimplifyFpConversions, NoPassOptions);

}  // namespace hlo
