// cse: merges instructions that compute the same (passes.md §4.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: of equal constants and equal instructions the first in post-order stays; equal roots of a
// multi-output fusion are read from one place. Metadata does not take part. Left alone: instructions without
// operands (constants, partition-id and replica-id apart), with side effects or control edges, halves of
// asynchronous pairs, and what carries the frontend attribute MUST_FUSE.
#include "ir/print.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct CseOptions {
  bool is_layout_sensitive = false;
  bool ignore_control_dependencies = false;
  bool only_fusion_computations = false;  // bodies of fusions only
  bool only_scalars = false;              // leave arrays alone
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CseOptions::is_layout_sensitive>("is_layout_sensitive", "layouts are part of a value"),
    PassOption<&CseOptions::ignore_control_dependencies>(
        "ignore_control_dependencies", "control edges keep nothing apart; those of merged instructions go"),
    PassOption<&CseOptions::only_fusion_computations>("only_fusion_computations",
                                                      "work inside fusions, not outside"),
    PassOption<&CseOptions::only_scalars>("only_scalars", "merge values without dimensions only"),
};

/// Equality of what instructions compute, operands having been merged before.
class ValueTable {
 public:
  ValueTable(bool layout_sensitive, int64_t size, Fingerprints& callees)
      : layouts_(layout_sensitive), callees_(callees) {
    table_.reserve(static_cast<unsigned>(size));
  }

  /// An instruction entered before that computes the same; null (and `inst` is entered) if there is none.
  Instruction* FindOrAdd(Instruction* inst) {
    // Half of the hashes, as the map keeps two for itself; different values of one hash lie behind one
    // another.
    for (uint64_t key = Hash(*inst) >> 1;; ++key) {
      const auto [entry, added] = table_.try_emplace(key, inst);
      if (added) return nullptr;
      if (Equal(*inst, *entry->second)) return entry->second;
    }
  }

 private:
  /// Equal iotas count as one operand.
  static size_t HashOperand(const Instruction* operand) {
    if (operand->kind() != OpKind::Iota) return llvm::hash_value(operand);
    return llvm::hash_combine(operand->attrs(), operand->shape());
  }

  uint64_t Hash(const Instruction& inst) {
    llvm::hash_code hash = llvm::hash_combine(static_cast<int>(inst.kind()), inst.attrs(), inst.shape());
    if (inst.info().Is(kCommutative) && inst.operand_count() == 2) {
      // In either order.
      hash = llvm::hash_combine(hash, HashOperand(inst.operand(0)) + HashOperand(inst.operand(1)));
    } else {
      for (const Instruction* o : inst.operands()) hash = llvm::hash_combine(hash, HashOperand(o));
    }
    for (const Computation* callee : inst.callees()) hash = llvm::hash_combine(hash, callees_.Of(*callee));
    const uint64_t extras = inst.has_extras() ? HashExtras(inst) : 0;
    return extras != 0 ? llvm::hash_combine(hash, extras) : hash;
  }

  /// 0 where none of them counts: extras may hold other things than these.
  static uint64_t HashExtras(const Instruction& inst) {
    const InstructionExtras& extras = inst.extras();
    uint64_t hash = 0;
    const auto add = [&](const auto& part) { hash = llvm::hash_combine(hash, part); };
    for (const llvm::StringRef text : {extras.backend_config, extras.unknown_attributes})
      if (!text.empty()) add(text);
    for (const auto& [key, value] : extras.frontend_attributes) add(std::pair(key, value));
    if (const ResultAccuracy& accuracy = extras.result_accuracy; !accuracy.is_default())
      for (const double bound : {accuracy.atol, accuracy.rtol}) add(std::hash<double>()(bound));
    if (extras.sharding && ShardingCounts(inst)) {
      std::string text;
      llvm::raw_string_ostream os(text);
      PrintSharding(os, *extras.sharding);
      add(text);
    }
    return hash;
  }

  /// Constants are had everywhere.
  static bool ShardingCounts(const Instruction& inst) { return inst.kind() != OpKind::Constant; }

  static bool SameOperand(const Instruction* a, const Instruction* b) {
    return a == b || (a->kind() == OpKind::Iota && b->kind() == OpKind::Iota && a->shape() == b->shape() &&
                      a->attrs() == b->attrs());
  }

  bool SameOperands(const Instruction& a, const Instruction& b) {
    if (a.operand_count() != b.operand_count()) return false;
    if (llvm::equal(a.operands(), b.operands(), SameOperand)) return true;
    return a.info().Is(kCommutative) && a.operand_count() == 2 && SameOperand(a.operand(0), b.operand(1)) &&
           SameOperand(a.operand(1), b.operand(0));
  }

  bool Equal(const Instruction& a, const Instruction& b) {
    if (a.kind() != b.kind() || !SameOperands(a, b) || !(a.attrs() == b.attrs())) return false;
    const bool same_shape = layouts_ || LayoutIsObserved(a)
                                ? a.shape() == b.shape()
                                : Same(a.shape(), b.shape(), {.layout = false, .dynamic = true});
    if (!same_shape || a.callees().size() != b.callees().size()) return false;
    for (size_t i = 0; i < a.callees().size(); ++i)
      if (a.callees()[i] != b.callees()[i] && callees_.Of(*a.callees()[i]) != callees_.Of(*b.callees()[i]))
        return false;
    if (!a.has_extras() && !b.has_extras()) return true;
    const InstructionExtras &x = a.extras(), &y = b.extras();
    const bool same_sharding = !ShardingCounts(a) || x.sharding == y.sharding ||
                               (x.sharding && y.sharding && *x.sharding == *y.sharding);
    return same_sharding && x.result_accuracy == y.result_accuracy && x.backend_config == y.backend_config &&
           x.frontend_attributes == y.frontend_attributes && x.unknown_attributes == y.unknown_attributes;
  }

  bool layouts_;
  llvm::DenseMap<uint64_t, Instruction*> table_;
  Fingerprints& callees_;
};

/// Named for fusion into its users; a merged one could not be fused into all of them.
bool MustFuse(const Instruction& inst) {
  return llvm::any_of(inst.extras().frontend_attributes,
                      [](const FrontendAttribute& a) { return a.key == "MUST_FUSE"; });
}

bool MayMerge(const Instruction& inst, const CseOptions& options) {
  if (HasControlEdges(inst) && !options.ignore_control_dependencies) return false;
  if (inst.has_extras() && MustFuse(inst)) return false;
  // Elided literals are unknown.
  if (inst.kind() == OpKind::Constant) return inst.attr<ConstantAttrs>().literal != nullptr;
  if (inst.info().category == OpCategory::Source) return inst.kind() != OpKind::Parameter;
  if (const auto* call = inst.attrs().GetIf<CustomCallAttrs>())
    if (call->literal && call->literal->HasElided()) return false;
  // The halves of an asynchronous pair belong together.
  if (inst.info().Is(kStart) || inst.info().Is(kDone) || inst.kind() == OpKind::AsyncUpdate) return false;
  return !inst.operands().empty() && !HasSideEffect(inst);
}

Result<bool> MergeIn(Computation& computation, const CseOptions& options, Fingerprints& hashes,
                     PassContext& context) {
  bool changed = false;
  ValueTable values(options.is_layout_sensitive, computation.instruction_count(), hashes);
  for (Instruction* inst : computation.PostOrder()) {
    if (options.only_scalars && !inst->shape().IsScalar()) continue;
    if (!MayMerge(*inst, options)) continue;
    Instruction* same = values.FindOrAdd(inst);
    if (!same) continue;
    if (!context.TakeRewrite({}, *inst, *same)) return changed;
    inst->ReplaceAllUsesWith(same);
    computation.Remove(inst);
    changed = true;
  }
  return changed;
}

/// Reads of equal elements of a multi-output fusion's root go to the first of them.
Result<bool> MergeFusionOutputs(Computation& computation, PassContext& context) {
  bool changed = false;
  for (Instruction* fusion : computation.InstructionsOf(OpKind::Fusion)) {
    if (!fusion->shape().IsTuple() || fusion->callee()->root()->kind() != OpKind::Tuple) continue;
    const auto outputs = fusion->callee()->root()->operands();
    llvm::DenseMap<const Instruction*, int64_t> first;
    for (size_t i = 0; i < outputs.size(); ++i) first.try_emplace(outputs[i], static_cast<int64_t>(i));
    for (Instruction* user : fusion->users()) {
      if (user->kind() != OpKind::GetTupleElement) continue;
      int64_t& index = user->mutable_attrs().Mutable<GetTupleElementAttrs>().index;
      const int64_t wanted = first[outputs[static_cast<size_t>(index)]];
      if (index == wanted || !context.TakeRewrite()) continue;
      index = wanted;
      changed = true;
    }
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> CseOptions::Rows() { return kRows; }

Result<bool> RunCse(Module& module, const CseOptions& options, PassContext& context) {
  bool changed = false;
  Fingerprints hashes;  // merging does not change what computations compute
  for (Computation* c : context.Computations(module, /*with_fusions=*/true)) {
    if (options.only_fusion_computations && !c->IsFusion()) continue;
    HLO_CHECK_OK(context.CheckInterrupt());
    HLO_TRY(const bool outputs, MergeFusionOutputs(*c, context));
    HLO_TRY(const bool merged, MergeIn(*c, options, hashes, context));
    changed |= outputs || merged;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Cse, CseOptions);

}  // namespace hlo
