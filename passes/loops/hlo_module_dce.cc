// hlo-module-dce: removes what loops carry for nobody, looking at the module as a whole (passes.md §4.3).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: elements of loop states that reach neither the entry's result nor a side effect are handed on as
// they are; then simplify-while-loops, tuple-simplifier and dce remove what that left over. Left alone: loops
// whose state is no tuple or whose body does not end with a tuple.
#include "passes/analysis/loop_facts.h"
#include "passes/analysis/tuple_liveness.h"
#include "passes/loops/simplify_while_loops.h"
#include "passes/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/tuples.h"

namespace hlo {
namespace {

/// Hands on what the loop changes for nobody.
bool PassThroughDeadElements(const TupleLoop& loop, const TupleLiveness& liveness, PassContext& context) {
  bool changed = false;
  for (int64_t i = 0; i < loop.size(); ++i) {
    if (loop.IsInvariant(i) || liveness.IsElementLive(*loop.body_root, i) ||
        loop.body_parameter->shape() != loop.body_root->shape() || !context.TakeRewrite())
      continue;
    loop.body_root->SetOperand(i, Maker(loop.body_root).Gte(loop.body_parameter, i));
    changed = true;
  }
  return changed;
}

Result<bool> RunHloModuleDce(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  std::vector<TupleLoop> loops;
  for (Computation* c : context.Computations(module))
    for (Instruction* inst : c->instructions())
      if (const auto loop = AsTupleLoop(*inst)) loops.push_back(*loop);
  if (!loops.empty()) {
    const TupleLiveness liveness(module);
    for (const TupleLoop& loop : loops) changed |= PassThroughDeadElements(loop, liveness, context);
  }
  HLO_TRY(const bool loops_changed, RunSimplifyWhileLoops(module, {}, context));
  HLO_TRY(const bool tuples_changed, SimplifyTuples(module, context));
  HLO_TRY(const bool removed, RemoveDeadCode(module, context));
  return changed || loops_changed || tuples_changed || removed;
}

}  // namespace

HLO_DEFINE_PASS(HloModuleDce, NoPassOptions);

}  // namespace hlo
