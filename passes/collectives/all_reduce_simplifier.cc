// all-reduce-simplifier: what all members of a group have already need not be exchanged (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: an all-reduce, all-gather or reduce-scatter in groups of one is its operand; an all-reduce over
// replicas of a value that all of them share is the operand (maximum, minimum, and, or) or its product with
// the size of the groups (add), which rounds less often than a sum. Shared are constants, parameters declared
// so, results of all-reduces in the same groups or in one group, and what is computed of these.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Which values are the same on all replicas.
class SharedValues {
 public:
  [[nodiscard]] bool IsShared(const Instruction& value) {
    llvm::SmallVector<const Instruction*, 16> todo = {&value};
    while (!todo.empty()) {
      const Instruction* inst = todo.back();
      if (known_.contains(inst)) {
        todo.pop_back();
        continue;
      }
      if (!Derives(*inst)) {
        known_[inst] = IsSource(*inst);
        continue;
      }
      const size_t waiting = todo.size();
      for (const Instruction* operand : inst->operands())
        if (!known_.contains(operand)) todo.push_back(operand);
      if (todo.size() > waiting) continue;
      known_[inst] = llvm::all_of(inst->operands(), [&](const Instruction* o) { return known_.lookup(o); });
    }
    return known_.lookup(&value);
  }

 private:
  /// Equal operands make equal results.
  static bool Derives(const Instruction& inst) {
    constexpr OpCategory kOthers[] = {OpCategory::Custom, OpCategory::Async, OpCategory::Communication,
                                      OpCategory::Random, OpCategory::Control};
    return inst.operand_count() > 0 && !llvm::is_contained(kOthers, inst.info().category) &&
           inst.kind() != OpKind::Fusion && !HasSideEffect(inst);
  }
  static bool IsSource(const Instruction& inst) {
    if (inst.kind() == OpKind::Constant || inst.kind() == OpKind::Iota) return true;
    if (inst.kind() == OpKind::Parameter) {
      const auto& replication = inst.attr<ParameterAttrs>().parameter_replication;
      return inst.parent()->IsEntry() && !replication.empty() &&
             llvm::all_of(replication, [](bool shared) { return shared; });
    }
    if (inst.kind() != OpKind::AllReduce || inst.attr<AllReduceAttrs>().channel_id) return false;
    const auto groups = GroupLists(inst);
    const int64_t replicas = DeviceCount(*inst.module(), GroupMode::CrossReplica);  // 1: not configured
    return groups && groups->size() == 1 &&
           (replicas == 1 || static_cast<int64_t>(groups->front().size()) == replicas);
  }

  llvm::DenseMap<const Instruction*, bool> known_;
};

/// The members of a group, if all groups have as many.
std::optional<int64_t> CommonSize(const Instruction& inst) {
  const auto groups = GroupLists(inst);
  if (!groups || groups->empty()) return std::nullopt;
  const size_t size = groups->front().size();
  if (llvm::any_of(*groups, [&](const Dims& g) { return g.size() != size; })) return std::nullopt;
  return static_cast<int64_t>(size);
}

bool IsExact(int64_t count, ElementType type) {
  if (IsIntegral(type)) return true;
  return IsFloat(type) && Info(type).special != FloatSpecial::E8M0 &&
         count <= int64_t{1} << (Info(type).mantissa_bits + 1) && Info(type).exponent_bits >= 5;
}

class Simplifier {
 public:
  bool Matches(const Instruction& inst) {
    constexpr OpKind kKinds[] = {OpKind::AllReduce, OpKind::AllGather, OpKind::ReduceScatter};
    if (!llvm::is_contained(kKinds, inst.kind()) || !IsPlainCollective(inst) ||
        inst.operand(0)->shape() != inst.shape())
      return false;
    const auto size = CommonSize(inst);
    if (!size) return false;
    if (*size == 1) return true;
    const auto op = CollectiveOp(inst);
    if (inst.kind() != OpKind::AllReduce || !op || inst.attr<AllReduceAttrs>().channel_id) return false;
    const Instruction& operand = *inst.operand(0);
    const bool shared =
        (operand.kind() == OpKind::AllReduce && SameGroups(operand, inst)) || values_.IsShared(operand);
    return shared &&
           (Info(*op).Is(kIdempotent) || (op == OpKind::Add && IsExact(*size, inst.shape().element_type())));
  }

  static Instruction* Simpler(Instruction* inst) {
    const int64_t size = *CommonSize(*inst);
    Instruction* operand = inst->operand(0);
    if (size == 1 || Info(*CollectiveOp(*inst)).Is(kIdempotent)) return operand;
    Maker make(inst);
    return make.Binary(OpKind::Multiply, operand,
                       make.Splat(inst->shape(), make.ScalarInt(inst->shape().element_type(), size)));
  }

 private:
  SharedValues values_;
};

Result<bool> RunAllReduceSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  Simplifier simplifier;
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return simplifier.Matches(inst); },
      [](Instruction* inst) -> Result<Instruction*> { return Simplifier::Simpler(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllReduceSimplifier, NoPassOptions);

}  // namespace hlo
