#include "passes/loops/while_loop_invariant_code_motion.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr PassOptionRow kRows[] = {
    PassOption<&LoopHoistingOptions::hoist_constants>("hoist_constants",
                                                      "constants are worth hoisting alone"),
    PassOption<&LoopHoistingOptions::hoist_other>("hoist_other", "anything but constants is hoisted"),
    PassOption<&LoopHoistingOptions::hoist_reshapes>("hoist_reshapes", "reshapes are worth hoisting alone"),
    PassOption<&LoopHoistingOptions::hoist_widening>(
        "hoist_widening",
        "conversions to wider elements are worth hoisting alone if only elementwise operations read them"),
    PassOption<&LoopHoistingOptions::hoist_size_inflation_ratio>(
        "hoist_size_inflation_ratio",
        "hoist only what has at most this many times its operands' bytes; 0: all"),
};

/// Ops that are as cheap in every iteration as carrying their result.
bool IsCheap(const Instruction& inst, const LoopHoistingOptions& options) {
  if (inst.kind() == OpKind::Constant) return !options.hoist_constants;
  if (inst.kind() == OpKind::Reshape) return !options.hoist_reshapes;
  // Tuples move with what reads their elements.
  return inst.info().Is(kRearranges) || inst.kind() == OpKind::Iota || !inst.shape().IsArray();
}

/// A conversion that whoever reads it may as well make of what is narrower in memory.
bool IsWidening(const Instruction& inst) {
  return inst.kind() == OpKind::Convert &&
         Info(inst.shape().element_type()).bits > Info(inst.operand(0)->shape().element_type()).bits &&
         llvm::all_of(inst.users(), [](const Instruction* user) {
           return user->info().Is(kElementwise) || user->kind() == OpKind::Broadcast;
         });
}

bool IsDisabled(const Instruction& inst) {
  return llvm::any_of(inst.extras().frontend_attributes, [](const FrontendAttribute& a) {
    return a.key == "_xla_disable_loop_instr_hoisting" && a.value != "false";
  });
}

bool IsHostTransfer(const Instruction& inst) {
  if (inst.kind() != OpKind::CustomCall) return false;
  const llvm::StringRef target = inst.attr<CustomCallAttrs>().custom_call_target;
  return target == "MoveToHost" || target == "MoveToDevice" || target == "annotate_device_placement";
}

/// Calls that say how values are partitioned belong to where they stand.
bool IsSharding(const Instruction& inst) {
  if (inst.kind() != OpKind::CustomCall) return false;
  const llvm::StringRef target = inst.attr<CustomCallAttrs>().custom_call_target;
  return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target.starts_with("xla.sdy.");
}

bool MayMove(const Instruction& inst) {
  if (inst.kind() == OpKind::Parameter || inst.kind() == OpKind::AfterAll || inst.info().Is(kStart) ||
      inst.info().Is(kDone) || inst.kind() == OpKind::AsyncUpdate || inst.shape().IsToken() ||
      IsSharding(inst))
    return false;
  if (inst.has_extras() && (HasControlEdges(inst) || IsDisabled(inst))) return false;
  return !HasSideEffect(inst) && (inst.callees().empty() || !MayNotEnd(inst));
}

int64_t Bytes(const Shape& shape) {
  int64_t bytes = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.IsArray()) bytes += std::max<int64_t>(ByteSize(leaf), 0);
  });
  return bytes;
}

/// Hoists from one loop.
class Hoister {
 public:
  Hoister(const TupleLoop& loop, const LoopHoistingOptions& options, PassContext& context,
          llvm::function_ref<bool(const Instruction&)> worth)
      : loop_(loop), options_(options), context_(context), worth_hoisting_(worth) {}

  bool Run() {
    for (int64_t i = 0; i < loop_.size(); ++i)
      if (loop_.IsInvariant(i) && loop_.loop->shape().tuple_shape(i).IsArray()) elements_.insert(i);
    const std::vector<Instruction*> order = loop_.body->PostOrder();
    for (Instruction* inst : order) {
      if (!IsInvariant(*inst)) continue;
      invariant_.insert(inst);
      if (IsElement(*inst) || !IsWorthIt(*inst)) continue;
      if (!context_.TakeRewrite()) break;
      Hoist(inst);
      worth_.push_back(inst);
    }
    if (worth_.empty()) return false;
    CarryResults();
    return true;
  }

 private:
  [[nodiscard]] bool IsElement(const Instruction& inst) const {
    return inst.kind() == OpKind::GetTupleElement && inst.operand(0) == loop_.body_parameter;
  }

  [[nodiscard]] bool IsInvariant(const Instruction& inst) const {
    if (IsElement(inst)) return elements_.contains(inst.attr<GetTupleElementAttrs>().index);
    if (!MayMove(inst)) return false;
    return llvm::all_of(inst.operands(), [&](const Instruction* o) { return invariant_.contains(o); });
  }

  [[nodiscard]] bool IsWorthIt(const Instruction& inst) const {
    if (IsCheap(inst, options_) || (!options_.hoist_other && inst.kind() != OpKind::Constant)) return false;
    if (!options_.hoist_widening && IsWidening(inst)) return false;
    if ((inst.users().empty() && !inst.IsRoot()) || !worth_hoisting_(inst)) return false;
    if (inst.kind() == OpKind::GetTupleElement) {
      // A tuple that something else reads stays as well; then nothing is gained.
      const Instruction& whole = *inst.operand(0);
      return llvm::all_of(whole.users(),
                          [](const Instruction* u) { return u->kind() == OpKind::GetTupleElement; }) &&
             whole.kind() != OpKind::Tuple;
    }
    if (options_.hoist_size_inflation_ratio <= 0 || inst.kind() == OpKind::Constant) return true;
    int64_t input = 0;
    for (const Instruction* o : inst.operands()) input += Bytes(o->shape());
    return static_cast<double>(Bytes(inst.shape())) <=
           options_.hoist_size_inflation_ratio * static_cast<double>(input);
  }

  /// Copies the instruction and what it needs in front of the loop.
  void Hoist(Instruction* inst) {
    llvm::SmallVector<Instruction*, 8> stack = {inst};
    while (!stack.empty()) {
      Instruction* at = stack.back();
      if (outside_.contains(at)) {
        stack.pop_back();
        continue;
      }
      if (IsElement(*at)) {
        outside_[at] = InitElement(at->attr<GetTupleElementAttrs>().index);
        continue;
      }
      const size_t before = stack.size();
      for (Instruction* o : at->operands())
        if (!outside_.contains(o)) stack.push_back(o);
      if (stack.size() != before) continue;
      llvm::SmallVector<Instruction*, 4> operands;
      for (Instruction* o : at->operands()) operands.push_back(outside_.lookup(o));
      outside_[at] = CloneWith(*at, *loop_.loop->parent(), operands);
    }
  }

  Instruction* InitElement(int64_t i) {
    if (Instruction* element = loop_.InitElement(i)) return element;
    return Maker(loop_.loop).Gte(loop_.init(), i);
  }

  /// What is left in the body reads hoisted values as new elements.
  void CarryResults() {
    const llvm::DenseSet<const Instruction*> moved(worth_.begin(), worth_.end());
    llvm::SmallVector<Instruction*, 4> carried, values;
    for (Instruction* inst : worth_) {
      const bool needed = inst->IsRoot() || llvm::any_of(inst->users(), [&](const Instruction* user) {
                            return !moved.contains(user);
                          });
      if (!needed) continue;
      carried.push_back(inst);
      values.push_back(outside_.lookup(inst));
    }
    const auto reads = AddLoopInvariants(loop_, values);
    for (size_t i = 0; i < carried.size(); ++i) carried[i]->ReplaceAllUsesWith(reads[i]);
    llvm::DenseSet<Instruction*> gone;
    for (Instruction* inst : llvm::reverse(worth_))
      if (!gone.contains(inst)) RemoveIfDead(inst, [&](Instruction* dead) { gone.insert(dead); });
  }

  const TupleLoop& loop_;
  const LoopHoistingOptions& options_;
  PassContext& context_;
  llvm::function_ref<bool(const Instruction&)> worth_hoisting_;
  llvm::DenseSet<int64_t> elements_;  // that never change
  llvm::DenseSet<const Instruction*> invariant_;
  llvm::SmallVector<Instruction*, 8> worth_;
  llvm::DenseMap<const Instruction*, Instruction*> outside_;
};

bool MayHoistFrom(const TupleLoop& loop) {
  if (!MayReshapeLoop(loop) || IsDisabled(*loop.loop)) return false;
  for (const Instruction* inst : loop.body->instructions())
    if (inst->kind() == OpKind::Domain || IsHostTransfer(*inst)) return false;
  const auto bound = TripCountUpperBound(loop);
  return !bound || *bound > 1;
}

}  // namespace

llvm::ArrayRef<PassOptionRow> LoopHoistingOptions::Rows() { return kRows; }

Result<bool> HoistFromLoops(Module& module, const LoopHoistingOptions& options, PassContext& context,
                            llvm::function_ref<bool(const Instruction&)> worth) {
  return ForEachLoop(module, context, [&](Instruction* inst) {
    const auto loop = AsTupleLoop(*inst);
    return loop && MayHoistFrom(*loop) && Hoister(*loop, options, context, worth).Run();
  });
}

Result<bool> RunWhileLoopInvariantCodeMotion(Module& module, const LoopHoistingOptions& options,
                                             PassContext& context) {
  return HoistFromLoops(module, options, context, [](const Instruction&) { return true; });
}

HLO_DEFINE_PASS(WhileLoopInvariantCodeMotion, LoopHoistingOptions);

}  // namespace hlo
