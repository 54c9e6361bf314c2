// all-gather-cse, collective-permute-cse, schedule-aware-collective-cse: what was exchanged once is not
// exchanged again (passes.md §2.6).
//
// all-gather-cse requires nothing and preserves flat-calls, layouts, fusions. collective-permute-cse requires
// nothing and preserves flat-calls, layouts, fusions. schedule-aware-collective-cse requires schedule and
// preserves everything.
// Change: of exchanges of one array in the same way among the same devices the first is read by all, whatever
// their channels. schedule-aware-collective-cse takes both kinds, and those alone that run at most
// `distance_threshold` instructions after the first, whose result would have to be kept too long otherwise.
// Left alone: constrained layouts, shardings, control edges.
#include <limits>

#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct ScheduleAwareCollectiveCseOptions {
  int64_t distance_threshold = 512;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ScheduleAwareCollectiveCseOptions::distance_threshold>(
        "distance_threshold", "instructions between two exchanges that one can stand for"),
};

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

bool SameExchange(const Instruction& a, const Instruction& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == OpKind::CollectivePermute) return SamePermute(a, b);
  return a.kind() == OpKind::AllGather && SameGather(a, b);
}

using SameFn = bool (*)(const Instruction&, const Instruction&);

/// `most_apart`: a later one that stands further behind the first takes its place.
Result<bool> MergeEqual(llvm::ArrayRef<Instruction*> order, SameFn same, int64_t most_apart,
                        PassContext& context) {
  struct Candidate {
    Instruction* inst;
    int64_t place;
  };
  bool changed = false;
  llvm::DenseMap<const Instruction*, llvm::SmallVector<Candidate, 1>> of_operand;
  for (int64_t place = 0; place < static_cast<int64_t>(order.size()); ++place) {
    Instruction* inst = order[static_cast<size_t>(place)];
    if (!same(*inst, *inst) || !IsPlain(*inst)) continue;
    auto& firsts = of_operand[inst->operand(0)];
    auto* first = llvm::find_if(
        firsts, [&](const Candidate& f) { return f.inst->shape() == inst->shape() && same(*f.inst, *inst); });
    if (first == firsts.end()) {
      firsts.push_back({inst, place});
    } else if (place - first->place > most_apart) {
      *first = {inst, place};
    } else {
      if (!context.TakeRewrite()) return changed;
      inst->ReplaceAllUsesWith(first->inst);
      inst->parent()->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

constexpr int64_t kAnywhere = std::numeric_limits<int64_t>::max();

Result<bool> MergeIn(Module& module, SameFn same, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    HLO_TRY(const bool merged, MergeEqual(c->PostOrder(), same, kAnywhere, context));
    changed |= merged;
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> ScheduleAwareCollectiveCseOptions::Rows() { return kRows; }

Result<bool> RunAllGatherCse(Module& module, const NoPassOptions&, PassContext& context) {
  return MergeIn(
      module,
      [](const Instruction& a, const Instruction& b) {
        return a.kind() == OpKind::AllGather && a.kind() == b.kind() && SameGather(a, b);
      },
      context);
}
Result<bool> RunCollectivePermuteCse(Module& module, const NoPassOptions&, PassContext& context) {
  return MergeIn(
      module,
      [](const Instruction& a, const Instruction& b) {
        return a.kind() == OpKind::CollectivePermute && a.kind() == b.kind() && SamePermute(a, b);
      },
      context);
}
Result<bool> RunScheduleAwareCollectiveCse(Module& module, const ScheduleAwareCollectiveCseOptions& options,
                                           PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!c->has_schedule()) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    const std::vector<Instruction*> order = c->schedule();
    HLO_TRY(const bool merged, MergeEqual(order, SameExchange, options.distance_threshold, context));
    changed |= merged;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AllGatherCse, NoPassOptions);
HLO_DEFINE_PASS(CollectivePermuteCse, NoPassOptions);
HLO_DEFINE_PASS(ScheduleAwareCollectiveCse, ScheduleAwareCollectiveCseOptions);

}  // namespace hlo
