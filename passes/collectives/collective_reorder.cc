// all-reduce-reduce-scatter-reorder, collective-quantizer, collective-transformation-reorderer,
// reorder-reduce-transpose: what is done around an exchange (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change:
//  - all-reduce-reduce-scatter-reorder: a reduce-scatter of an all-reduce becomes an all-reduce of the
//    reduce-scatter, which is smaller, if on every device the same parts of the same values meet.
//  - collective-quantizer: what is converted to a narrower type after an all-gather, all-to-all or
//    collective-permute is converted before.
//  - collective-transformation-reorderer: of an all-reduce or all-gather of a reshape the reshape comes last,
//  if
//    that keeps the gathered dimension.
//  - reorder-reduce-transpose: a transpose of a reduce-scatter or all-reduce that is added to something comes
//    before the exchange.
// Left alone: exchanges of several arrays or with other users, constrained layouts, control edges; sums and
// products of floats whose order would change.
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Of one array, read once and by an instruction of the computation.
bool IsReadOnce(const Instruction& inst) {
  return inst.users().size() == 1 && !inst.IsRoot() && !HasControlEdges(inst);
}

/// The group that a device is in, and its number among the members.
struct Membership {
  const Dims* group;
  int64_t number;
};
std::vector<Membership> Memberships(const std::vector<Dims>& groups) {
  std::vector<Membership> of(groups.size() * groups.front().size());
  for (const Dims& group : groups)
    for (size_t i = 0; i < group.size(); ++i)
      of[static_cast<size_t>(group[i])] = {&group, static_cast<int64_t>(i)};
  return of;
}

/// Who meets whom in `first` and then `second`, or the other way round, is the same; whoever meets in `first`
/// takes the same part in `second`.
bool Commute(const std::vector<Dims>& first, const std::vector<Dims>& second) {
  const std::vector<Membership> a = Memberships(first), b = Memberships(second);
  if (a.size() != b.size()) return false;
  for (size_t device = 0; device < a.size(); ++device) {
    Dims forth, back;
    for (const int64_t other : *b[device].group)
      llvm::append_range(forth, *a[static_cast<size_t>(other)].group);
    for (const int64_t other : *a[device].group) {
      if (b[static_cast<size_t>(other)].number != b[device].number) return false;
      llvm::append_range(back, *b[static_cast<size_t>(other)].group);
    }
    llvm::sort(forth);
    llvm::sort(back);
    if (forth != back) return false;
  }
  return true;
}

bool ScattersReduced(const Instruction& inst) {
  if (inst.kind() != OpKind::ReduceScatter || !IsPlainCollective(inst)) return false;
  const Instruction& reduce = *inst.operand(0);
  const auto op = CollectiveOp(inst);
  if (reduce.kind() != OpKind::AllReduce || !IsPlainCollective(reduce) || !IsReadOnce(reduce) || !op ||
      CollectiveOp(reduce) != op || RoundsByOrder(*op, inst.shape().element_type()))
    return false;
  const auto first = DeviceGroups(reduce), second = DeviceGroups(inst);
  return first && second && Commute(*first, *second);
}

Instruction* ReduceOfScattered(Instruction* scatter) {
  Maker make(scatter);
  const Instruction& reduce = *scatter->operand(0);
  Instruction* part = CollectiveLike(make, *scatter, scatter->shape(), {reduce.operand(0)});
  return CollectiveLike(make, reduce, scatter->shape(), {part});
}

/// Moves values without computing with them.
bool OnlyMoves(const Instruction& inst) {
  if (inst.kind() == OpKind::AllGather) return IsPlainCollective(inst);
  const auto* all_to_all = inst.attrs().GetIf<AllToAllAttrs>();
  const bool moves = inst.kind() == OpKind::CollectivePermute ||
                     (all_to_all && all_to_all->dimension && !all_to_all->constrain_layout);
  return moves && inst.operand_count() == 1 && inst.shape().IsArray() && !inst.shape().HasDynamicDimension();
}

bool ConvertsExchanged(const Instruction& inst) {
  return inst.kind() == OpKind::Convert && OnlyMoves(*inst.operand(0)) && IsReadOnce(*inst.operand(0)) &&
         Info(inst.shape().element_type()).bits < Info(inst.operand(0)->shape().element_type()).bits;
}

Instruction* ExchangeOfConverted(Instruction* convert) {
  Maker make(convert);
  const Instruction& exchange = *convert->operand(0);
  const ElementType type = convert->shape().element_type();
  Instruction* x = exchange.operand(0);
  Instruction* narrow = make.AddWithShape(OpKind::Convert, x->shape().WithElementType(type), {x});
  return CollectiveLike(make, exchange, convert->shape(), {narrow});
}

/// Where the gathered dimension was before the reshape, if it was one dimension of that size there.
std::optional<int64_t> GatheredBefore(const Instruction& gather) {
  const Dims& dims = gather.attr<AllGatherAttrs>().dimensions;
  const Instruction& reshape = *gather.operand(0);
  if (dims.size() != 1) return std::nullopt;
  const Dims targets = UnmodifiedTargets(reshape.operand(0)->shape().dims(), reshape.shape().dims());
  const auto* at = llvm::find(targets, dims[0]);
  return at == targets.end() ? std::nullopt : std::optional<int64_t>(at - targets.begin());
}

bool ExchangesReshaped(const Instruction& inst) {
  if ((inst.kind() != OpKind::AllReduce && inst.kind() != OpKind::AllGather) || !IsPlainCollective(inst))
    return false;
  const Instruction& reshape = *inst.operand(0);
  return reshape.kind() == OpKind::Reshape && IsReadOnce(reshape) && HasStaticShapes(reshape) &&
         (inst.kind() == OpKind::AllReduce || GatheredBefore(inst));
}

Instruction* ReshapeOfExchanged(Instruction* exchange) {
  Maker make(exchange);
  Instruction* x = exchange->operand(0)->operand(0);
  if (exchange->kind() == OpKind::AllReduce)
    return make.Reshape(CollectiveLike(make, *exchange, x->shape(), {x}), exchange->shape());
  AllGatherAttrs attrs = exchange->attr<AllGatherAttrs>();
  const int64_t d = *GatheredBefore(*exchange);
  Dims sizes(x->shape().dims());
  sizes[static_cast<size_t>(d)] = exchange->shape().dim(attrs.dimensions[0]);
  attrs.dimensions = {d};
  Instruction* all =
      make.AddWithShape(OpKind::AllGather, Shape::ArrayWithDefaultLayout(x->shape().element_type(), sizes),
                        {x}, std::move(attrs));
  return make.Reshape(all, exchange->shape());
}

bool TransposesReduced(const Instruction& inst) {
  if (inst.kind() != OpKind::Transpose || inst.users().size() != 1 ||
      inst.users().front()->kind() != OpKind::Add)
    return false;
  const Instruction& exchange = *inst.operand(0);
  return CollectiveOp(exchange) && IsPlainCollective(exchange) && IsReadOnce(exchange);
}

Instruction* ReduceOfTransposed(Instruction* transpose) {
  Maker make(transpose);
  const Instruction& exchange = *transpose->operand(0);
  const Dims& permutation = transpose->attr<DimensionsAttrs>().dimensions;
  Instruction* x = TransposeIfNeeded(make, exchange.operand(0), permutation);
  Attrs attrs = exchange.attrs();
  if (auto* scatter = attrs.GetIf<ReduceScatterAttrs>()) {
    ReduceScatterAttrs moved = *scatter;
    for (int64_t& d : moved.dimensions) d = InversePermutation(permutation)[static_cast<size_t>(d)];
    attrs = std::move(moved);
  }
  return make.AddWithShape(exchange.kind(), transpose->shape(), {x}, std::move(attrs), exchange.callees());
}

Result<bool> Rewrite(Module& module, PassContext& context, bool (*matches)(const Instruction&),
                     Instruction* (*make)(Instruction*)) {
  return ExpandMatches(module, context, matches,
                       [&](Instruction* inst) -> Result<Instruction*> { return make(inst); });
}

Result<bool> RunAllReduceReduceScatterReorder(Module& module, const NoPassOptions&, PassContext& context) {
  return Rewrite(module, context, ScattersReduced, ReduceOfScattered);
}
Result<bool> RunCollectiveQuantizer(Module& module, const NoPassOptions&, PassContext& context) {
  return Rewrite(module, context, ConvertsExchanged, ExchangeOfConverted);
}
Result<bool> RunCollectiveTransformationReorderer(Module& module, const NoPassOptions&,
                                                  PassContext& context) {
  return Rewrite(module, context, ExchangesReshaped, ReshapeOfExchanged);
}
Result<bool> RunReorderReduceTranspose(Module& module, const NoPassOptions&, PassContext& context) {
  return Rewrite(module, context, TransposesReduced, ReduceOfTransposed);
}

}  // namespace

HLO_DEFINE_PASS(AllReduceReduceScatterReorder, NoPassOptions);
HLO_DEFINE_PASS(CollectiveQuantizer, NoPassOptions);
HLO_DEFINE_PASS(CollectiveTransformationReorderer, NoPassOptions);
HLO_DEFINE_PASS(ReorderReduceTranspose, NoPassOptions);

}  // namespace hlo
