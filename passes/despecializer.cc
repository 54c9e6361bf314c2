#include "passes/despecializer.h"

#include "passes/defuser.h"

namespace hlo {

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

HLO_DEFINE_PASS(Despecializer, NoPassOptions);

}  // namespace hlo
