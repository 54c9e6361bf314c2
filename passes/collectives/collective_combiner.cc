// all-reduce-combiner, all-gather-combiner, reduce-scatter-combiner, collective-permute-combiner: one
// exchange of several arrays (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: collectives of one kind that do not depend on each other become one, whose result is a tuple, as
// long as together they have at most `combine_threshold_in_bytes` bytes and `combine_threshold_count` arrays.
// Left alone: other groups, reducers, element types, dimensions, frontend attributes, backend configs;
// shardings, constrained layouts, control edges, arrays larger than the threshold.
#include "passes/analysis/reachability.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct CombinerOptions {
  int64_t combine_threshold_in_bytes = 1024;
  int64_t combine_threshold_count = 1024;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CombinerOptions::combine_threshold_in_bytes>("combine_threshold_in_bytes",
                                                             "bytes of the results of one exchange"),
    PassOption<&CombinerOptions::combine_threshold_count>("combine_threshold_count",
                                                          "arrays of one exchange"),
};

using Group = llvm::SmallVector<Instruction*, 8>;

const Dims& ScatteredDims(const Instruction& inst) {
  static const Dims kNone;
  if (const auto* gather = inst.attrs().GetIf<AllGatherAttrs>()) return gather->dimensions;
  if (const auto* scatter = inst.attrs().GetIf<ReduceScatterAttrs>()) return scatter->dimensions;
  return kNone;
}

/// The two differ in nothing but the array they exchange.
bool Alike(const Instruction& a, const Instruction& b) {
  if (a.extras().frontend_attributes != b.extras().frontend_attributes ||
      a.extras().backend_config != b.extras().backend_config)
    return false;
  if (const auto* pairs = a.attrs().GetIf<CollectivePermuteAttrs>()) {
    const auto& others = b.attr<CollectivePermuteAttrs>();
    return pairs->source_target_pairs == others.source_target_pairs &&
           pairs->channel_id.has_value() == others.channel_id.has_value();
  }
  if (!SameGroups(a, b) || ScatteredDims(a) != ScatteredDims(b)) return false;
  return a.kind() == OpKind::AllGather || (CollectiveOp(a) && CollectiveOp(a) == CollectiveOp(b) &&
                                           a.shape().element_type() == b.shape().element_type());
}

/// Of one array, into a value of its own.
bool IsPlainPermute(const Instruction& inst) {
  return inst.operand_count() == 1 && inst.shape() == inst.operand(0)->shape() && inst.shape().IsArray() &&
         !inst.shape().HasDynamicDimension() && !HasControlEdges(inst);
}

/// The collectives of one kind that may be put together, in lists of like ones.
std::vector<Group> Candidates(const Computation& computation, OpKind kind) {
  std::vector<Group> lists;
  for (Instruction* inst : computation.PostOrder()) {
    const bool permutes = kind == OpKind::CollectivePermute;
    if (inst->kind() != kind || inst->extras().sharding ||
        !(permutes ? IsPlainPermute(*inst) : IsPlainCollective(*inst)))
      continue;
    const auto like = llvm::find_if(lists, [&](const Group& list) { return Alike(*list.front(), *inst); });
    if (like == lists.end())
      lists.push_back({inst});
    else
      like->push_back(inst);
  }
  return lists;
}

/// Takes from `list` what can be one exchange with its first.
Group TakeGroup(Group& list, const Reachability& reach, const CombinerOptions& options) {
  Group group, rest;
  int64_t bytes = 0;
  for (Instruction* inst : list) {
    const int64_t size = ByteSize(inst->shape());
    const bool fits = bytes + size <= options.combine_threshold_in_bytes &&
                      static_cast<int64_t>(group.size()) < options.combine_threshold_count;
    const bool free = llvm::none_of(
        group, [&](const Instruction* o) { return reach.Reaches(*o, *inst) || reach.Reaches(*inst, *o); });
    if (group.empty() || (fits && free)) {
      group.push_back(inst);
      bytes += size;
    } else {
      rest.push_back(inst);
    }
  }
  list = std::move(rest);
  return group;
}

void Combine(const Group& group) {
  llvm::SmallVector<Instruction*, 8> operands;
  llvm::SmallVector<Shape, 8> shapes;
  for (const Instruction* inst : group) {
    operands.push_back(inst->operand(0));
    shapes.push_back(inst->shape());
  }
  Maker make(group.front());
  Instruction* all = CollectiveLike(make, *group.front(), Shape::MakeTuple(shapes), operands);
  llvm::SmallVector<Instruction*, 8> parts;
  for (size_t i = 0; i < group.size(); ++i) parts.push_back(make.Gte(all, static_cast<int64_t>(i)));
  for (size_t i = 0; i < group.size(); ++i) ReplaceAndRemove(group[i], parts[i]);
}

Result<bool> CombineAll(Module& module, OpKind kind, const CombinerOptions& options, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    std::vector<Group> lists = Candidates(*c, kind);
    for (bool again = !lists.empty(); again;) {
      HLO_CHECK_OK(context.CheckInterrupt());
      again = false;
      const Reachability reach(*c);  // of the computation as it is now
      for (Group& list : lists) {
        while (list.size() > 1) {
          const Group group = TakeGroup(list, reach, options);
          if (group.size() < 2) continue;
          if (!context.TakeRewrite()) return changed;
          Combine(group);
          changed = again = true;
          break;
        }
        if (again) break;
      }
    }
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> CombinerOptions::Rows() { return kRows; }

Result<bool> RunAllReduceCombiner(Module& module, const CombinerOptions& options, PassContext& context) {
  return CombineAll(module, OpKind::AllReduce, options, context);
}
Result<bool> RunAllGatherCombiner(Module& module, const CombinerOptions& options, PassContext& context) {
  return CombineAll(module, OpKind::AllGather, options, context);
}
Result<bool> RunReduceScatterCombiner(Module& module, const CombinerOptions& options, PassContext& context) {
  return CombineAll(module, OpKind::ReduceScatter, options, context);
}
Result<bool> RunCollectivePermuteCombiner(Module& module, const CombinerOptions& options,
                                          PassContext& context) {
  return CombineAll(module, OpKind::CollectivePermute, options, context);
}

}  // namespace

HLO_DEFINE_PASS(AllReduceCombiner, CombinerOptions);
HLO_DEFINE_PASS(AllGatherCombiner, CombinerOptions);
HLO_DEFINE_PASS(ReduceScatterCombiner, CombinerOptions);
HLO_DEFINE_PASS(CollectivePermuteCombiner, CombinerOptions);

}  // namespace hlo
