// scatter-slice-simplifier: what is cut off after a scatter is not computed (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a scatter of which, also through elementwise instructions, all readers keep the same front of its
// dimensions becomes a scatter into the slice of its operand; updates beyond are out of bounds there, too.
// Left alone: other starts and strides, dimensions in which windows are larger than 1, batching dimensions,
// several operands, dynamic shapes.
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

constexpr size_t kMaxBetween = 64;  // elementwise instructions between a scatter and its slices

/// Sizes of a scatter's windows in the dimensions of its operand; inserted ones are 1, batching ones 0.
Dims WindowSizes(const Instruction& scatter) {
  const auto& a = scatter.attr<ScatterAttrs>();
  const Shape& updates = scatter.operand(2)->shape();
  Dims sizes;
  size_t next = 0;
  for (int64_t d = 0; d < scatter.shape().rank(); ++d)
    if (llvm::is_contained(a.input_batching_dims, d))
      sizes.push_back(0);
    else
      sizes.push_back(
          llvm::is_contained(a.inserted_window_dims, d) ? 1 : updates.dim(a.update_window_dims[next++]));
  return sizes;
}

bool IsFree(const Instruction& inst) {
  return HasStaticShapes(inst) && !inst.extras().sharding && !HasControlEdges(inst);
}

/// What reads a scatter: slices of it that are all alike, also through elementwise instructions.
struct Cut {
  SliceRanges ranges;
  llvm::SmallVector<Instruction*, 2> slices;
  llvm::SmallSetVector<Instruction*, 4> between;
};

std::optional<Cut> ReadersOf(Instruction* scatter) {
  Cut cut;
  llvm::SmallSetVector<Instruction*, 4> values;
  values.insert(scatter);
  for (size_t at = 0; at < values.size(); ++at) {
    const Instruction* value = values[at];
    if (value->IsRoot() || value->users().empty() || values.size() > kMaxBetween) return std::nullopt;
    for (Instruction* user : value->users()) {
      if (user->kind() == OpKind::Slice) {
        if (cut.slices.empty()) cut.ranges = user->attr<SliceAttrs>().slice;
        if (user->attr<SliceAttrs>().slice != cut.ranges || !IsFree(*user)) return std::nullopt;
        cut.slices.push_back(user);
      } else if (user->info().Is(kElementwise) && user->callees().empty() && IsFree(*user) &&
                 SameDims(user->shape(), scatter->shape())) {
        values.insert(user);
      } else {
        return std::nullopt;
      }
    }
  }
  cut.between.insert(values.begin() + 1, values.end());
  return cut;
}

std::optional<Cut> CutOf(Instruction* scatter) {
  if (scatter->operand_count() != 3 || !IsFree(*scatter)) return std::nullopt;
  auto cut = ReadersOf(scatter);
  if (!cut || cut->slices.front()->shape().ElementCount() == 0) return std::nullopt;
  const Dims windows = WindowSizes(*scatter);
  bool cuts = false;
  for (int64_t d = 0; d < scatter->shape().rank(); ++d) {
    const SliceRange& range = cut->ranges[static_cast<size_t>(d)];
    const bool whole = range.start == 0 && range.limit == scatter->shape().dim(d) && range.stride == 1;
    const bool front = range.start == 0 && range.stride == 1 && windows[static_cast<size_t>(d)] == 1;
    if (!whole && !front) return std::nullopt;
    cuts |= !whole;
  }
  return cuts ? std::move(cut) : std::nullopt;
}

void Apply(Instruction* scatter, const Cut& cut) {
  Maker make(scatter);
  const Shape shape = cut.slices.front()->shape();
  llvm::DenseMap<Instruction*, Instruction*> small;  // what stands for a value
  Instruction* front = make.Slice(scatter->operand(0), cut.ranges);
  small[scatter] =
      RemakeWith(make, *scatter, front->shape(), {front, scatter->operand(1), scatter->operand(2)});
  for (Instruction* inst : scatter->parent()->PostOrder()) {
    if (!cut.between.contains(inst)) continue;
    Maker here(inst);
    llvm::SmallVector<Instruction*, 3> operands;
    for (Instruction* operand : inst->operands()) {
      Instruction*& cut_operand = small[operand];
      if (!cut_operand) cut_operand = operand->shape().IsScalar() ? operand : here.Slice(operand, cut.ranges);
      operands.push_back(cut_operand);
    }
    Instruction* made = here.AddWithShape(inst->kind(), shape.WithElementType(inst->shape().element_type()),
                                          operands, inst->attrs());
    if (inst->has_extras()) made->MutableExtras().result_accuracy = inst->extras().result_accuracy;
    small[inst] = made;
  }
  for (Instruction* slice : cut.slices) {
    Instruction* by = small.lookup(slice->operand(0));
    if (by->shape() != slice->shape()) by = Maker(slice).AddWithShape(OpKind::Copy, slice->shape(), {by});
    ReplaceAndRemove(slice, by);
  }
}

/// Cuts one scatter; another may be ready to be cut then.
bool CutOne(Computation& computation, PassContext& context) {
  for (Instruction* scatter : computation.InstructionsOf(OpKind::Scatter)) {
    const auto cut = CutOf(scatter);
    if (!cut || !context.TakeRewrite()) continue;
    Apply(scatter, *cut);
    return true;
  }
  return false;
}

Result<bool> RunScatterSliceSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    while (CutOne(*c, context)) changed = true;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ScatterSliceSimplifier, NoPassOptions);

}  // namespace hlo
