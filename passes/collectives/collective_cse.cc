// all-gather-cse, collective-permute-cse: what was exchanged once is not exchanged again (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: of exchanges of one array in the same way among the same devices the first is read by all, whatever
// their channels. Left alone: constrained layouts, shardings, control edges.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool IsPlain(const Instruction& inst) {
  return inst.operand_count() == 1 && inst.shape().IsArray() && !HasControlEdges(inst) &&
         !inst.extras().sharding;
}

bool SameGather(const Instruction& a, const Instruction& b) {
  return IsPlainCollective(a) && IsPlainCollective(b) && SameGroups(a, b) &&
         a.attr<AllGatherAttrs>().dimensions == b.attr<AllGatherAttrs>().dimensions;
}
bool SamePermute(const Instruction& a, const Instruction& b) {
  const auto &x = a.attr<CollectivePermuteAttrs>(), &y = b.attr<CollectivePermuteAttrs>();
  return x.source_target_pairs == y.source_target_pairs && x.slice_sizes == y.slice_sizes &&
         x.channel_id.has_value() == y.channel_id.has_value();
}

Result<bool> MergeEqual(Module& module, OpKind kind, bool (*same)(const Instruction&, const Instruction&),
                        PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    llvm::DenseMap<const Instruction*, llvm::SmallVector<Instruction*, 1>> of_operand;
    for (Instruction* inst : c->PostOrder()) {
      if (inst->kind() != kind || !IsPlain(*inst)) continue;
      auto& firsts = of_operand[inst->operand(0)];
      const auto* first = llvm::find_if(
          firsts, [&](const Instruction* f) { return f->shape() == inst->shape() && same(*f, *inst); });
      if (first == firsts.end()) {
        firsts.push_back(inst);
        continue;
      }
      if (!context.TakeRewrite()) return changed;
      inst->ReplaceAllUsesWith(*first);
      c->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

Result<bool> RunAllGatherCse(Module& module, const NoPassOptions&, PassContext& context) {
  return MergeEqual(module, OpKind::AllGather, SameGather, context);
}
Result<bool> RunCollectivePermuteCse(Module& module, const NoPassOptions&, PassContext& context) {
  return MergeEqual(module, OpKind::CollectivePermute, SamePermute, context);
}

}  // namespace

HLO_DEFINE_PASS(AllGatherCse, NoPassOptions);
HLO_DEFINE_PASS(CollectivePermuteCse, NoPassOptions);

}  // namespace hlo
