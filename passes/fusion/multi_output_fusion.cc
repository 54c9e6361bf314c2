// multi_output_fusion, cpu_multi_output_fusion: loops that read the same values, or whose one reads the
// other's, become one loop with several results (passes.md §5.3).
//
// Require nothing. Preserve flat-calls, layouts, canonical-dots, fusions. Useful after fusion.
// Change: first siblings (consumers of one value, at least one of them a fusion), then producers into a
// consumer beside their other users; cpu_multi_output_fusion joins siblings only. Left alone: values that
// depend on each other, scalars as the only thing in common, slices of one big value, single
// dynamic-update-slices, custom and output fusions.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/fuse.h"
#include "passes/rewrite/pattern.h"

namespace hlo {
namespace {

constexpr int64_t kMaxOperandsAndOutputs = 96;
constexpr size_t kMaxVisited = 4096;  // instructions looked at to exclude a cycle
constexpr int64_t kMaxSliced = 1024;  // bytes of a value whose slices may share a loop
constexpr size_t kMaxSiblings = 64;   // users of one value that are compared with each other

bool IsLoopFusion(const Instruction& inst) {
  return inst.kind() == OpKind::Fusion && inst.attr<FusionAttrs>().kind == FusionKind::Loop;
}

/// The dimensions of the loop: those of the (first) output.
const Shape& LoopShape(const Instruction& inst) {
  const Shape& shape = inst.shape();
  return shape.IsTuple() && shape.tuple_size() > 0 ? shape.tuple_shape(0) : shape;
}

bool MayJoin(const Instruction& inst) {
  if (inst.has_extras() && (HasControlEdges(inst) || inst.extras().sharding)) return false;
  if (inst.kind() == OpKind::Fusion) {
    if (!IsLoopFusion(inst) || inst.IsRoot()) return false;
    if (!inst.attr<FusionAttrs>().output_to_operand_aliasing.empty()) return false;
    const Instruction* root = inst.callee()->root();
    if (inst.shape().IsTuple() &&
        (root->kind() != OpKind::Tuple || llvm::any_of(inst.users(), [](const Instruction* u) {
           return u->kind() != OpKind::GetTupleElement;
         })))
      return false;
    return root->kind() != OpKind::DynamicUpdateSlice && LoopShape(inst).IsArray();
  }
  return IsLoopFusible(inst) && !inst.IsRoot() && !HasSideEffect(inst) &&
         inst.kind() != OpKind::DynamicUpdateSlice && inst.kind() != OpKind::Bitcast;
}

bool SameLoop(const Instruction& a, const Instruction& b) {
  const Shape &x = LoopShape(a), &y = LoopShape(b);
  return x.IsArray() && y.IsArray() && SameDims(x, y) && !x.HasDynamicDimension() && !y.HasDynamicDimension();
}

/// Users of the value read slices of it, each another one: a common loop would save nothing.
bool IsSliced(const Instruction& value, const Instruction& a, const Instruction& b) {
  auto slices = [&](const Instruction& inst) {
    if (inst.kind() == OpKind::Slice || inst.kind() == OpKind::DynamicSlice) return true;
    if (inst.kind() != OpKind::Fusion) return false;
    const int64_t at = llvm::find(inst.operands(), &value) - inst.operands().begin();
    return llvm::any_of(inst.callee()->parameter(at)->users(), [](const Instruction* u) {
      return u->kind() == OpKind::Slice || u->kind() == OpKind::DynamicSlice;
    });
  };
  return slices(a) && slices(b) && ByteSize(value.shape()) > kMaxSliced;
}

/// What may become one loop with another: its siblings, or also what it reads.
enum class Partners : uint8_t { Siblings, All };

class Joiner {
 public:
  Joiner(Computation& computation, PassContext& context) : computation_(computation), context_(context) {}

  Result<bool> Run(Partners partners) {
    const std::vector<Instruction*> order = computation_.PostOrder();
    for (size_t i = 0; i < order.size(); ++i) places_[order[i]] = static_cast<int64_t>(i);
    for (Instruction* i : llvm::reverse(order)) {
      HLO_CHECK_OK(context_.CheckInterrupt());
      if (!gone_.contains(i)) JoinUsers(i);
    }
    if (partners == Partners::Siblings) return changed_;
    for (Instruction* i : llvm::reverse(order))
      if (!gone_.contains(i) && IsLoopFusion(*i)) JoinProducers(i);
    return changed_;
  }

 private:
  void JoinUsers(Instruction* value) {
    if (!value->shape().IsArray() || value->shape().rank() == 0) return;
    for (bool progress = true; progress;) {
      progress = false;
      llvm::SmallVector<Instruction*, 8> users;
      for (Instruction* u : value->users())
        if (users.size() < kMaxSiblings && MayJoin(*u)) users.push_back(u);
      llvm::sort(users,
                 [&](Instruction* a, Instruction* b) { return places_.lookup(a) < places_.lookup(b); });
      for (size_t i = 0; i < users.size() && !progress; ++i)
        for (size_t j = i + 1; j < users.size() && !progress; ++j)
          progress = JoinPair(value, users[i], users[j]) || JoinPair(value, users[j], users[i]);
    }
  }

  bool JoinPair(Instruction* value, Instruction* fusion, Instruction* sibling) {
    if (!IsLoopFusion(*fusion) || !SameLoop(*fusion, *sibling) || IsSliced(*value, *fusion, *sibling))
      return false;
    if (fusion->operand_count() + sibling->operand_count() + fusion->shape().LeafCount() +
            sibling->shape().LeafCount() >
        kMaxOperandsAndOutputs)
      return false;
    if (DependsOn(fusion, sibling) || DependsOn(sibling, fusion)) return false;
    if (!context_.TakeRewrite({}, *sibling, *fusion)) return false;
    gone_.insert(sibling);
    // The joined loop stands where both can: after the operands of either.
    places_[fusion] = std::max(places_.lookup(fusion), places_.lookup(sibling));
    FuseSibling(fusion, sibling);
    ++joined_;
    return changed_ = true;
  }

  void JoinProducers(Instruction* fusion) {
    const llvm::SmallVector<Instruction*, 8> operands(fusion->operands().begin(), fusion->operands().end());
    for (Instruction* producer : operands) {
      if (gone_.contains(producer) || !llvm::is_contained(fusion->operands(), producer)) continue;
      if (producer->kind() == OpKind::Fusion || !MayJoin(*fusion) || !MayJoin(*producer)) continue;
      if (producer->shape().rank() == 0 || !SameLoop(*fusion, *producer)) continue;
      const bool other_path = llvm::any_of(producer->users(), [&](Instruction* user) {
        return user != fusion && (user == producer || DependsOn(fusion, user) || user->IsRoot());
      });
      if (other_path || producer->users().size() < 2) continue;
      if (fusion->operand_count() + fusion->shape().LeafCount() + producer->operand_count() >=
          kMaxOperandsAndOutputs)
        continue;
      if (!context_.TakeRewrite({}, *producer, *fusion)) return;
      gone_.insert(producer);
      FuseProducerAsOutput(fusion, producer);
      changed_ = true;
    }
  }

  /// `user` needs `value`, directly or through others; also if that takes too long to exclude.
  bool DependsOn(Instruction* user, Instruction* value) {
    llvm::SmallVector<Instruction*, 32> stack = {user};
    llvm::SmallDenseSet<Instruction*, 64> seen;
    while (!stack.empty()) {
      Instruction* at = stack.pop_back_val();
      if (at == value) return true;
      if (!seen.insert(at).second) continue;
      if (seen.size() > kMaxVisited) return true;
      // Joined loops and their reads stand out of order, so places exclude only while there are none.
      const bool ordered = joined_ == 0 && places_.contains(at);
      if (ordered && places_.lookup(at) < places_.lookup(value)) continue;
      stack.append(at->operands().begin(), at->operands().end());
      stack.append(at->extras().control_predecessors.begin(), at->extras().control_predecessors.end());
    }
    return false;
  }

  Computation& computation_;
  PassContext& context_;
  llvm::DenseMap<const Instruction*, int64_t> places_;
  llvm::DenseSet<const Instruction*> gone_;
  int64_t joined_ = 0;
  bool changed_ = false;
};

Result<bool> Join(Module& module, Partners partners, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!RunsOnWholeValues(*c)) continue;
    HLO_TRY(const bool c_changed, Joiner(*c, context).Run(partners));
    changed |= c_changed;
  }
  return changed;
}

Result<bool> RunMultiOutputFusion(Module& module, const NoPassOptions&, PassContext& context) {
  return Join(module, Partners::All, context);
}

Result<bool> RunCpuMultiOutputFusion(Module& module, const NoPassOptions&, PassContext& context) {
  return Join(module, Partners::Siblings, context);
}

}  // namespace

HLO_DEFINE_PASS(MultiOutputFusion, NoPassOptions);
HLO_DEFINE_PASS(CpuMultiOutputFusion, NoPassOptions);

}  // namespace hlo
