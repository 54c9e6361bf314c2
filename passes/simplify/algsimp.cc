// algsimp: algebraic simplification by the tables of passes/rules (passes.md §3).
//
// Requires nothing. Preserves flat-calls, fusions. Bodies of fusions are left alone.
// Changes: replaces values by cheaper equal ones; which floats may change is each rule's licence.
#include "passes/pass.h"
#include "passes/rewrite/driver.h"
#include "passes/rules/options.h"
#include "passes/rules/rules.h"

namespace hlo {
namespace {

Result<bool> RunAlgsimp(Module& module, const AlgsimpOptions& options, PassContext& context) {
  // The policy of the run and the option of the pass grant fast math alike.
  const RewritePolicy policy = context.policy();
  context.controls().policy.fast_math |= options.enable_fast_math;
  RewriteDriver driver(AlgsimpRules(), context, &options, options.is_layout_sensitive);
  driver.set_run_to_fixed_point(options.run_to_fixed_point);
  Result<bool> changed = false;
  for (Computation* c : context.Computations(module)) {
    auto c_changed = driver.Run(*c);
    if (!c_changed) {
      changed = std::move(c_changed);
      break;
    }
    *changed |= *c_changed;
  }
  context.controls().policy = policy;
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Algsimp, AlgsimpOptions);

}  // namespace hlo
