// all-reduce-combiner, all-gather-combiner, reduce-scatter-combiner, collective-permute-combiner: one
// exchange of several arrays (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: collectives of one kind that do not depend on each other become one, whose result is a tuple, as
// long as together they have at most `combine_threshold_in_bytes` bytes and `combine_threshold_count` arrays.
// Left alone: other groups, reducers, element types, dimensions, frontend attributes, backend configs;
// shardings, constrained layouts, control edges, arrays larger than the threshold.
#include <map>
#include <set>
#include <unordered_map>

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

/// Equal for those that are alike.
size_t LikenessHash(const Instruction& inst) {
  llvm::hash_code hash = llvm::hash_value(llvm::StringRef(inst.extras().backend_config));
  for (const auto& [key, value] : inst.extras().frontend_attributes)
    hash = llvm::hash_combine(hash, key, value);
  const bool permutes = inst.kind() == OpKind::CollectivePermute;
  for (const FieldInfo& field : inst.attrs().info().fields)
    if ((field.flags & kChannelId) == 0 && (!permutes || field.name == "source_target_pairs"))
      hash = llvm::hash_combine(hash, FieldHash(field, inst.attrs().data()));
  return hash;
}

/// Of one array, into a value of its own.
bool IsPlainPermute(const Instruction& inst) {
  return inst.operand_count() == 1 && inst.shape() == inst.operand(0)->shape() && inst.shape().IsArray() &&
         !inst.shape().HasDynamicDimension() && !HasControlEdges(inst);
}

/// The collectives of one kind that may be put together, in lists of like ones.
std::vector<Group> Candidates(const Computation& computation, OpKind kind) {
  std::vector<Group> lists;
  std::unordered_map<size_t, llvm::SmallVector<size_t, 1>> by_hash;  // numbers of lists
  for (Instruction* inst : computation.PostOrder()) {
    const bool permutes = kind == OpKind::CollectivePermute;
    if (inst->kind() != kind || inst->extras().sharding ||
        !(permutes ? IsPlainPermute(*inst) : IsPlainCollective(*inst)))
      continue;
    auto& near = by_hash[LikenessHash(*inst)];
    const auto like = llvm::find_if(near, [&](size_t list) { return Alike(*lists[list].front(), *inst); });
    if (like != near.end()) {
      lists[*like].push_back(inst);
      continue;
    }
    near.push_back(lists.size());
    lists.push_back({inst});
  }
  return lists;
}

/// The exchanges of one list, by the round in which they take place.
struct Rounds {
  struct Exchange {
    Group group;
    int64_t bytes = 0;
  };
  std::map<int64_t, Exchange> exchanges;
  std::set<int64_t> open;  // those that are not full
};

/// Puts `inst` into the first exchange with room that takes place in round `earliest` or later; returns the
/// round.
int64_t Join(Rounds& rounds, Instruction* inst, int64_t earliest, const CombinerOptions& options) {
  constexpr int kTries = 64;
  const int64_t size = ByteSize(inst->shape());
  auto at = rounds.open.lower_bound(earliest);
  const auto fits = [&](int64_t round) {
    return size <= options.combine_threshold_in_bytes - rounds.exchanges[round].bytes;
  };
  for (int i = 0; at != rounds.open.end() && !fits(*at); ++at)
    if (++i == kTries) at = std::prev(rounds.open.end());
  if (at == rounds.open.end()) {
    const int64_t last = rounds.exchanges.empty() ? -1 : rounds.exchanges.rbegin()->first;
    at = rounds.open.insert(std::max(earliest, last + 1)).first;
  }
  const int64_t round = *at;
  Rounds::Exchange& exchange = rounds.exchanges[round];
  exchange.group.push_back(inst);
  exchange.bytes += size;
  if (static_cast<int64_t>(exchange.group.size()) >= options.combine_threshold_count ||
      exchange.bytes >= options.combine_threshold_in_bytes)
    rounds.open.erase(at);
  return round;
}

/// Divides lists into exchanges. What depends on an exchange takes place in a later round, so that those of
/// one round do not depend on one another, nor exchanges on themselves when all of them are made.
std::vector<Rounds> Divide(const Computation& computation, llvm::ArrayRef<Group> lists,
                           const CombinerOptions& options) {
  llvm::DenseMap<const Instruction*, size_t> list_of;
  for (const auto& [i, list] : llvm::enumerate(lists))
    for (const Instruction* inst : list) list_of[inst] = i;
  std::vector<Rounds> rounds(lists.size());
  llvm::DenseMap<const Instruction*, int64_t> after;  // the round from which on its users may take place
  for (Instruction* inst : computation.PostOrder()) {
    int64_t earliest = 0;
    for (const Instruction* operand : inst->operands())
      earliest = std::max(earliest, after.find(operand)->second);
    for (const Instruction* before : inst->extras().control_predecessors)
      earliest = std::max(earliest, after.find(before)->second);
    const auto list = list_of.find(inst);
    after[inst] = list == list_of.end() ? earliest : Join(rounds[list->second], inst, earliest, options) + 1;
  }
  return rounds;
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
  // Each list by itself finds more, but takes a walk over the computation.
  constexpr size_t kMostWalks = 16;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    std::vector<Group> lists = Candidates(*c, kind);
    llvm::erase_if(lists, [](const Group& list) { return list.size() < 2; });
    const size_t at_once = lists.size() <= kMostWalks ? 1 : lists.size();
    for (llvm::ArrayRef<Group> left = lists; !left.empty(); left = left.drop_front(at_once)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      for (const Rounds& rounds : Divide(*c, left.take_front(at_once), options)) {
        for (const auto& [round, exchange] : rounds.exchanges) {
          if (exchange.group.size() < 2) continue;
          if (!context.TakeRewrite()) return changed;
          Combine(exchange.group);
          changed = true;
        }
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
