// sharding-remover: on one partition annotations of shardings mean nothing (passes.md §2.6).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: in modules of one partition, custom-calls that only annotate their operand (`Sharding`,
// `SPMDFullToShardShape`, `SPMDShardToFullShape`, `xla.sdy.FuncResultSharding`) become the operand; a copy of
// it where control edges need an instruction.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr llvm::StringRef kTargets[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "xla.sdy.FuncResultSharding"};

bool IsAnnotation(const Instruction& inst) {
  return inst.kind() == OpKind::CustomCall && inst.operand_count() == 1 &&
         llvm::is_contained(kTargets, inst.attr<CustomCallAttrs>().custom_call_target) &&
         Compatible(inst.shape(), inst.operand(0)->shape());
}

Result<bool> RunShardingRemover(Module& module, const NoPassOptions&, PassContext& context) {
  if (module.config.num_partitions != 1) return false;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    llvm::SmallVector<Instruction*, 8> annotations;
    for (Instruction* inst : c->instructions())
      if (IsAnnotation(*inst)) annotations.push_back(inst);
    for (Instruction* inst : annotations) {
      Instruction* operand = inst->operand(0);
      const bool keep_place = HasControlEdges(*inst) || operand->shape() != inst->shape();
      if (keep_place && !inst->shape().IsArray()) continue;
      if (!context.TakeRewrite()) break;
      Instruction* by = operand;
      if (keep_place) {
        by = Maker(inst).AddWithShape(OpKind::Copy, inst->shape(), {operand});
        MoveControlEdges(*inst, *by);
      }
      inst->ReplaceAllUsesWith(by);
      c->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ShardingRemover, NoPassOptions);

}  // namespace hlo
