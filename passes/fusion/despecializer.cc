// despecializer: takes back what was decided for one machine (passes.md §2.1).
//
// Requires nothing. Preserves canonical-dots.
// Changes: the schedule and all control edges go, every fusion becomes the instructions of its body.
#include "passes/fusion/defuser.h"
#include "passes/pass.h"

namespace hlo {
namespace {

Result<bool> RunDespecializer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  if (module.config.is_scheduled && context.TakeRewrite()) {
    module.config.is_scheduled = false;
    for (const auto& c : module.computations()) c->set_schedule({});
    changed = true;
  }
  for (Computation* c : context.AllComputations(module))
    for (Instruction* inst : c->instructions()) {
      if (!inst->has_extras() || inst->extras().control_predecessors.empty() || !context.TakeRewrite())
        continue;
      inst->DropControlEdges();
      changed = true;
    }
  HLO_TRY(const bool defused, RunDefuser(module, {}, context));
  return changed || defused;
}

}  // namespace

HLO_DEFINE_PASS(Despecializer, NoPassOptions);

}  // namespace hlo
