// conditional-canonicalizer: conditionals take and give tuples (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: operands and results of conditionals that are no tuples become tuples of one element; a branch
// that others call too is copied. Left alone: conditionals with shardings.
#include "passes/pass.h"
#include "passes/rewrite/conditional_edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

bool HasShardings(const Instruction& conditional) {
  if (conditional.extras().sharding) return true;
  return llvm::any_of(conditional.callees(), [](const Computation* branch) {
    return branch->root()->extras().sharding || branch->parameter(0)->extras().sharding;
  });
}

/// Every use of `old`, the root too, becomes a use of `value`, which is made from it.
void ReplaceUsesBy(Instruction* old, Instruction* value) {
  const llvm::SmallVector<Instruction*, 8> users(old->users().begin(), old->users().end());
  for (Instruction* user : users)
    if (user != value) user->ReplaceOperand(old, value);
  if (old->IsRoot()) old->parent()->set_root(value);
}

void WrapOperand(Instruction* conditional, int64_t branch) {
  Instruction* parameter = OwnBranch(conditional, branch)->parameter(0);
  Instruction* tuple = Maker(conditional).Tuple({conditional->operand(branch + 1)});
  conditional->SetOperand(branch + 1, tuple);
  SetStructure(*parameter, Shape::MakeTuple({parameter->shape()}));
  ReplaceUsesBy(parameter, Maker(*parameter->parent(), parameter).Gte(parameter, 0));
}

void WrapResult(Instruction* conditional) {
  for (size_t b = 0; b < conditional->callees().size(); ++b) {
    Computation* branch = OwnBranch(conditional, static_cast<int64_t>(b));
    branch->set_root(Maker(*branch, branch->root()).Tuple({branch->root()}));
  }
  SetStructure(*conditional, Shape::MakeTuple({conditional->shape()}));
  ReplaceUsesBy(conditional, Maker(*conditional->parent(), conditional).Gte(conditional, 0));
}

Result<bool> RunConditionalCanonicalizer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> conditionals = c->InstructionsOf(OpKind::Conditional);
    for (Instruction* inst : conditionals) {
      if (HasShardings(*inst)) continue;
      for (int64_t b = 0; b < static_cast<int64_t>(inst->callees().size()); ++b) {
        if (inst->operand(b + 1)->shape().IsTuple() || !context.TakeRewrite()) continue;
        WrapOperand(inst, b);
        changed = true;
      }
      if (inst->shape().IsTuple() || !context.TakeRewrite()) continue;
      WrapResult(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConditionalCanonicalizer, NoPassOptions);

}  // namespace hlo
