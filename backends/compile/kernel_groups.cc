#include "backends/compile/kernel_groups.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/reducers.h"

namespace hlo::compile {
namespace {

/// So that compiling takes no longer than the module is large, a search for what an update is made of gives
/// up beyond this many instructions.
constexpr size_t kMaxUpdate = 100;

/// Whether functions of each of its results would be computed one by one, its lanes being folded elements:
/// a loop of their own has results as lanes.
bool KeepsFunctionsFromLanes(const Instruction& inst, const Group& group, const Maps& maps,
                             const Machine& machine) {
  const IndexMap& nest = group.loops.nest();
  if (maps.size() != 1 || maps[0] != nest || inst.shape().ElementCount() < machine.kernels.vectors.full_row ||
      !FoldsAlongMemory(inst, machine))
    return false;
  const auto is_function = [&](const Instruction* member) {
    return machine.kernels.CostOf(member->kind()).instructions >= machine.kernels.ops.function.instructions &&
           llvm::is_contained(group.maps.lookup(member), nest);
  };
  return is_function(group.root) || llvm::any_of(group.members, is_function);
}

/// A long reduction that threads would make more often than it has results.
bool IsFoldedAgain(const Instruction& inst, const Group& group, const Maps& maps, const Machine& machine) {
  if (inst.kind() != OpKind::Reduce || machine.folds.repeated == 0) return false;
  const int64_t count = inst.shape().ElementCount(), folded = inst.operand(0)->shape().ElementCount() / count;
  if (folded <= machine.folds.repeated) return false;
  const auto is_other = [&](int32_t loop) {
    return IsLoop(loop) && !llvm::is_contained(group.loops.nest(), loop);
  };
  return llvm::any_of(maps, [&](const IndexMap& map) {
    // What is folded within another fold is left to single threads.
    return group.loops.TimesOf(map) > count ||
           (folded >= machine.folds.nested && llvm::any_of(map, is_other));
  });
}

/// A large reduction whose lanes are its results, where others of the same loop have folded elements as
/// lanes, or the other way round: one of both would have none.
bool FoldsAcrossOthers(const Instruction& inst, const Group& group, const Maps& maps,
                       const Machine& machine) {
  const auto is_large = [&](const Instruction& reduce) {
    return reduce.kind() == OpKind::Reduce &&
           reduce.operand(0)->shape().ElementCount() >= machine.folds.own_lanes;
  };
  if (!is_large(inst) || maps.size() != 1) return false;
  const std::vector<int64_t> row = group.loops.RowOf(maps[0]);
  const auto is_across = [&](const Instruction* other) {
    if (!is_large(*other) || FoldsAlongMemory(*other, machine) == FoldsAlongMemory(inst, machine))
      return false;
    return llvm::any_of(group.maps.lookup(other),
                        [&](const IndexMap& map) { return group.loops.RowOf(map) == row; });
  };
  return is_across(group.root) || llvm::any_of(group.members, is_across);
}

/// A reduction that one thread would make before the nest of the root, which would then be left to it, too.
bool IsLongBefore(const Instruction& inst, const Group& group, const Maps& maps, const Machine& machine) {
  const auto in_nest = [&](const IndexMap& map) { return group.loops.IsInNest(map); };
  if (inst.kind() != OpKind::Reduce || !in_nest(group.loops.nest()) || llvm::any_of(maps, in_nest) ||
      IsRowOfBlock(inst, group, machine))
    return false;
  const int64_t work = CostPerElement(inst, machine) * inst.shape().ElementCount();
  return work > machine.kernels.threads.most_repeated &&
         std::max(work, group.operations * IterationShape(*group.root).ElementCount()) >
             machine.threads.worthwhile;
}

/// What the root changes in place may be read besides only where it is written.
bool MayReadTarget(const Instruction& inst, const Group& group, const Maps& maps) {
  const Instruction* target = group.target();
  if (target == nullptr || !llvm::is_contained(inst.operands(), target)) return true;
  if (inst.kind() != OpKind::DynamicSlice || group.root->kind() != OpKind::DynamicUpdateSlice ||
      inst.operand(0) != target || maps.size() != 1 || maps[0] != group.loops.nest() ||
      inst.operand_count() + 1 != group.root->operand_count())
    return false;
  for (int64_t i = 1; i < inst.operand_count(); ++i) {
    const ElementType type = inst.operand(i)->shape().element_type();
    if (inst.operand(i) != group.root->operand(i + 1) || IsUnsigned(type)) return false;
  }
  return SameDims(inst.shape(), group.root->operand(1)->shape());
}

/// The value that a reader keeps which computes the operand by itself, as it surely does with what is made of
/// next to nothing.
const Instruction& Kept(const Instruction& operand) {
  const Instruction* at = &operand;
  while (at->info().Is(kRearranges) || at->kind() == OpKind::Convert) at = at->operand(0);
  return *at;
}

}  // namespace

LoopsBefore::LoopsBefore(llvm::ArrayRef<Instruction*> order) {
  for (const Instruction* inst : order) {
    int32_t count = 0;
    for (const Instruction* operand : inst->operands())
      count = std::max(count, count_.lookup(operand) + (operand->kind() == OpKind::While ? 1 : 0));
    if (count > 0) count_[inst] = count;
  }
}

bool LoopsBefore::WouldKeep(const Instruction& inst, const Instruction& reader) const {
  // Less is not worth a launch.
  constexpr int64_t kBytes = int64_t{1} << 20;
  const int32_t before = count_.lookup(&inst), after = count_.lookup(&reader);
  if (before == after) return false;
  const auto is_there = [&](const Instruction& value) {
    return value.info().category == OpCategory::Source ||
           llvm::any_of(value.users(), [&](const Instruction* user) { return count_.lookup(user) >= after; });
  };
  int64_t kept = 0;
  for (const Instruction* operand : inst.operands())
    if (const Instruction& value = Kept(*operand); value.shape().IsArray() && !is_there(value))
      kept += ByteSize(value.shape());
  return kept > ByteSize(inst.shape()) + kBytes;
}

bool MayJoin(const Instruction& inst, const Group& group, const Maps& maps, const Machine& machine) {
  return MayReadTarget(inst, group, maps) && !IsFoldedAgain(inst, group, maps, machine) &&
         !KeepsFunctionsFromLanes(inst, group, maps, machine) && !IsLongBefore(inst, group, maps, machine) &&
         !FoldsAcrossOthers(inst, group, maps, machine);
}

bool IsOfNest(const Instruction& product, const Group& group, const Maps& maps) {
  if (maps.size() != 1) return false;
  const auto loops = group.loops.NestLoops(maps[0]);
  if (!loops) return false;
  llvm::DenseMap<int32_t, ProductDimension> kinds;
  for (size_t d = 0; d < loops->size(); ++d) {
    const ProductDimension kind = KindOfDimension(product, static_cast<int64_t>(d));
    for (const int32_t loop : (*loops)[d])
      if (kinds.try_emplace(loop, kind).first->second != kind) return false;
  }
  const IndexMap& nest = group.loops.nest();
  const auto innermost = llvm::find_if(llvm::reverse(nest), IsLoop);
  return llvm::all_of(nest, [&](int32_t loop) { return !IsLoop(loop) || kinds.contains(loop); }) &&
         (innermost == nest.rend() || kinds.lookup(*innermost) != ProductDimension::Batch);
}

bool IsRow(const Instruction& inst, const Machine& machine) {
  return inst.kind() == OpKind::Reduce && FoldsAlongMemory(inst, machine) && PlainReductionOp(inst) &&
         !IsComplex(inst.shape().element_type());
}

bool IsRowOfBlock(const Instruction& inst, const Group& group, const Machine& machine) {
  constexpr int64_t kOfThread = 16;
  const int64_t most = machine.gpu.block * kOfThread;
  const Shape& nest = IterationShape(*group.root);
  const auto is_row = [&](const Instruction* other) { return !IsFold(*other) || IsRow(*other, machine); };
  return inst.shape().ElementCount() == 1 && inst.operand(0)->shape().ElementCount() <= most &&
         nest.rank() > 0 && nest.dims().back() == nest.ElementCount() && nest.ElementCount() <= most &&
         !HasOwnNest(*group.root) && IsRow(inst, machine) && is_row(group.root) &&
         llvm::all_of(group.members, is_row);
}

bool IsMadeOfNeighbours(const Instruction& update, const Instruction& root, const Machine& machine) {
  llvm::SmallVector<const Instruction*, 16> todo = {&update};
  llvm::SmallPtrSet<const Instruction*, 16> seen = {&update};
  const int64_t count = update.shape().ElementCount();
  int parts = 0;
  while (!todo.empty() && seen.size() <= kMaxUpdate) {
    const Instruction* at = todo.pop_back_val();
    if (at->kind() == OpKind::Reduce || at->kind() == OpKind::Dot || !HasKernel(*at, machine)) continue;
    for (const Instruction* operand : at->operands()) {
      if (operand == root.operand(0))
        parts += at->shape().ElementCount() >= count && at->kind() != OpKind::DynamicSlice ? 1 : 0;
      else if (seen.insert(operand).second)
        todo.push_back(operand);
    }
  }
  return parts > 1;
}

}  // namespace hlo::compile
