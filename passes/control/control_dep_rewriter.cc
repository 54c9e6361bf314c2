// control-dep-rewriter: calls that order two values become control edges (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: a custom call `control_dep` of two values makes the second wait for the first and goes. Left
// alone: calls whose result is read, calls with control edges of their own, edges that would close a circle.
#include "passes/analysis/reachability.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"

namespace hlo {
namespace {

bool OrdersValues(const Instruction& inst) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  return call && call->custom_call_target == "control_dep" && inst.operand_count() == 2 &&
         inst.users().empty() && !inst.IsRoot() && !HasControlEdges(inst);
}

Result<bool> RunControlDepRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    std::vector<Instruction*> calls = c->InstructionsOf(OpKind::CustomCall);
    llvm::erase_if(calls, [](const Instruction* i) { return !OrdersValues(*i); });
    for (Instruction* call : calls) {
      HLO_CHECK_OK(context.CheckInterrupt());
      Instruction *first = call->operand(0), *second = call->operand(1);
      const Reachability reach(*c);
      if (reach.Reaches(*second, *first)) continue;
      if (!context.TakeRewrite()) return changed;
      if (!reach.Reaches(*first, *second)) second->AddControlPredecessor(first);
      c->Remove(call);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ControlDepRewriter, NoPassOptions);

}  // namespace hlo
