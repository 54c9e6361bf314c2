// hlo-constant-splitter: every user has its own copy of a constant (passes.md §2.2).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: constants with several users are copied for all users but the first. cse undoes it.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

Result<bool> RunHloConstantSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* constant : c->InstructionsOf(OpKind::Constant)) {
      if (constant->users().size() < 2) continue;
      const llvm::SmallVector<Instruction*, 8> users(constant->users().begin() + 1, constant->users().end());
      for (Instruction* user : users) {
        if (!context.TakeRewrite()) return changed;
        user->ReplaceOperand(constant, CloneWith(*constant, *c, {}));
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(HloConstantSplitter, NoPassOptions);

}  // namespace hlo
