// all-gather-bcast-reorder, all-gather-optimizer, all-gather-remove-degenerate-dims: less is gathered
// (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change:
//  - all-gather-bcast-reorder: of a broadcast only what it broadcasts is gathered, and then broadcast.
//  - all-gather-optimizer: an elementwise operation on two all-gathers that nobody else reads becomes one
//    all-gather of the operation on their parts.
//  - all-gather-remove-degenerate-dims: dimensions of size 1 are no part of what is gathered; reshapes take
//    them away and bring them back.
// Left alone: several arrays, other groups and dimensions, constrained layouts, control edges.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The gathered dimension of an all-gather of one array.
std::optional<int64_t> GatheredDim(const Instruction& inst) {
  if (inst.kind() != OpKind::AllGather || !IsPlainCollective(inst)) return std::nullopt;
  const Dims& dims = inst.attr<AllGatherAttrs>().dimensions;
  return dims.size() == 1 ? std::optional(dims[0]) : std::nullopt;
}

/// The parts of as many members as the all-gather has, along another dimension.
Instruction* GatherAlong(Maker& make, const Instruction& like, Instruction* part, int64_t dimension,
                         int64_t members) {
  AllGatherAttrs attrs = like.attr<AllGatherAttrs>();
  attrs.dimensions = {dimension};
  Dims sizes(part->shape().dims());
  sizes[static_cast<size_t>(dimension)] *= members;
  return make.AddWithShape(OpKind::AllGather,
                           Shape::ArrayWithDefaultLayout(part->shape().element_type(), sizes), {part},
                           std::move(attrs));
}

int64_t Members(const Instruction& gather, int64_t dimension) {
  const int64_t part = gather.operand(0)->shape().dim(dimension);
  return part == 0 ? 0 : gather.shape().dim(dimension) / part;
}

bool GathersBroadcast(const Instruction& inst) {
  const auto d = GatheredDim(inst);
  const Instruction* part = d ? inst.operand(0) : nullptr;
  return part && part->kind() == OpKind::Broadcast && Members(inst, *d) > 0 &&
         part->operand(0)->shape().ElementCount() < part->shape().ElementCount();
}

Instruction* BroadcastOfGathered(Instruction* inst) {
  Maker make(inst);
  const int64_t d = *GatheredDim(*inst), members = Members(*inst, d);
  const Instruction& broadcast = *inst->operand(0);
  Instruction* x = broadcast.operand(0);
  Dims to = broadcast.attr<DimensionsAttrs>().dimensions;
  const auto* own = llvm::find(to, d);
  if (own != to.end()) {
    Instruction* all = GatherAlong(make, *inst, x, own - to.begin(), members);
    return make.Broadcast(all, inst->shape(), to);
  }
  // All elements along the dimension are equal on a device: one of each device is spread.
  Dims sizes(x->shape().dims());
  sizes.insert(sizes.begin(), 1);
  Instruction* all = GatherAlong(make, *inst, make.Reshape(x, sizes), 0, members);
  for (int64_t& t : to) t += t > d ? 1 : 0;
  to.insert(to.begin(), d);
  Dims spread(broadcast.shape().dims());
  spread.insert(spread.begin() + d, members);
  return make.Reshape(BroadcastTo(make, all, spread, to), inst->shape());
}

bool CombinesGathered(const Instruction& inst) {
  if (!inst.info().Is(kElementwise) || inst.operand_count() != 2 || !inst.callees().empty() ||
      inst.operand(0) == inst.operand(1))
    return false;
  const Instruction &a = *inst.operand(0), &b = *inst.operand(1);
  const auto d = GatheredDim(a);
  const auto alone = [](const Instruction& x) { return x.users().size() == 1 && !x.IsRoot(); };
  return d && d == GatheredDim(b) && alone(a) && alone(b) && SameGroups(a, b) &&
         SameDims(a.operand(0)->shape(), b.operand(0)->shape());
}

Instruction* GatherOfCombined(Instruction* inst) {
  Maker make(inst);
  const Instruction& gather = *inst->operand(0);
  Instruction* x = gather.operand(0);
  Instruction* parts = RemakeWith(make, *inst, x->shape().WithElementType(inst->shape().element_type()),
                                  {x, inst->operand(1)->operand(0)});
  return CollectiveLike(make, gather, inst->shape(), {parts});
}

bool HasDegenerateDims(const Instruction& inst) {
  const auto d = GatheredDim(inst);
  if (!d) return false;
  for (int64_t i = 0; i < inst.shape().rank(); ++i)
    if (i != *d && inst.shape().dim(i) == 1) return true;
  return false;
}

Instruction* GatherWithoutDegenerateDims(Instruction* inst) {
  Maker make(inst);
  const int64_t d = *GatheredDim(*inst);
  Dims sizes;
  int64_t place = 0;
  for (int64_t i = 0; i < inst->shape().rank(); ++i) {
    if (i == d) place = static_cast<int64_t>(sizes.size());
    if (i == d || inst->shape().dim(i) != 1) sizes.push_back(inst->operand(0)->shape().dim(i));
  }
  Instruction* part = make.Reshape(inst->operand(0), sizes);
  Instruction* all = GatherAlong(make, *inst, part, place, Members(*inst, d));
  return make.Reshape(all, inst->shape());
}

Result<bool> Rewrite(Module& module, PassContext& context, bool (*matches)(const Instruction&),
                     Instruction* (*make)(Instruction*)) {
  return ExpandMatches(module, context, matches,
                       [&](Instruction* inst) -> Result<Instruction*> { return make(inst); });
}

Result<bool> RunAllGatherBcastReorder(Module& module, const NoPassOptions&, PassContext& context) {
  return Rewrite(module, context, GathersBroadcast, BroadcastOfGathered);
}
Result<bool> RunAllGatherOptimizer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {  // what is gathered now may be combined, too
    HLO_TRY(again, Rewrite(module, context, CombinesGathered, GatherOfCombined));
  }
  return changed;
}
Result<bool> RunAllGatherRemoveDegenerateDims(Module& module, const NoPassOptions&, PassContext& context) {
  return Rewrite(module, context, HasDegenerateDims, GatherWithoutDegenerateDims);
}

}  // namespace

HLO_DEFINE_PASS(AllGatherBcastReorder, NoPassOptions);
HLO_DEFINE_PASS(AllGatherOptimizer, NoPassOptions);
HLO_DEFINE_PASS(AllGatherRemoveDegenerateDims, NoPassOptions);

}  // namespace hlo
