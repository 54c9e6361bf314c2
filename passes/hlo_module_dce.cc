#include "passes/hlo_module_dce.h"

#include "passes/analysis/loop_facts.h"
#include "passes/analysis/tuple_liveness.h"
#include "passes/dce.h"
#include "passes/rewrite/maker.h"
#include "passes/simplify_while_loops.h"
#include "passes/tuple_simplifier.h"

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

}  // namespace

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
  HLO_TRY(const bool tuples_changed, RunTupleSimplifier(module, {}, context));
  HLO_TRY(const bool removed, RunDce(module, {}, context));
  return changed || loops_changed || tuples_changed || removed;
}

HLO_DEFINE_PASS(HloModuleDce, NoPassOptions);

}  // namespace hlo
