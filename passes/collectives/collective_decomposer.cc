// all_gather_decomposer, reduce-scatter-decomposer: exchanges made of all-reduces (passes.md §2.6).
//
// Require nothing. Preserve flat-calls, layouts, fusions.
// Change: an all-gather becomes an all-reduce of zeros in which every device puts its part in its place; a
// reduce-scatter becomes an all-reduce of which every device takes its part. Floats are gathered as integers
// of their bits, so that nothing becomes of them. Left alone: several arrays, constrained layouts, control
// edges, groups of different sizes; all-gathers of complex numbers.
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// Zeros but for the number of this device times `size` in one dimension, as starts of a slice.
llvm::SmallVector<Instruction*, 4> OwnStarts(Maker& make, const Instruction& inst, int64_t rank,
                                             int64_t dimension, int64_t size) {
  llvm::SmallVector<Instruction*, 4> starts(static_cast<size_t>(rank), make.ScalarInt(ElementType::U32, 0));
  starts[static_cast<size_t>(dimension)] = Expr(make, MemberIndex(make, inst)) * size;
  return starts;
}

/// The one dimension along which parts lie, if they are as many as a group has members.
std::optional<int64_t> PartDim(const Instruction& inst, const Dims& dimensions, const Shape& part,
                               const Shape& whole) {
  if (!IsPlainCollective(inst) || dimensions.size() != 1) return std::nullopt;
  // Channels of all-reduces are positive.
  if (const auto channel = GroupAttrsOf(inst)->channel_id; channel && *channel <= 0) return std::nullopt;
  const auto groups = DeviceGroups(inst);
  const int64_t d = dimensions[0];
  const bool fits = groups && part.dim(d) * static_cast<int64_t>(groups->front().size()) == whole.dim(d);
  return fits ? std::optional(d) : std::nullopt;
}

std::optional<int64_t> GatheredDim(const Instruction& inst) {
  if (inst.kind() != OpKind::AllGather || IsComplex(inst.shape().element_type())) return std::nullopt;
  return PartDim(inst, inst.attr<AllGatherAttrs>().dimensions, inst.operand(0)->shape(), inst.shape());
}
std::optional<int64_t> ScatteredDim(const Instruction& inst) {
  if (inst.kind() != OpKind::ReduceScatter) return std::nullopt;
  return PartDim(inst, inst.attr<ReduceScatterAttrs>().dimensions, inst.shape(), inst.operand(0)->shape());
}

ElementType UnsignedOf(int bits) {
  for (const ElementType type : {ElementType::U4, ElementType::U8, ElementType::U16, ElementType::U32})
    if (Info(type).bits == bits) return type;
  return ElementType::U64;
}

/// The attributes of an all-reduce in the same groups.
template <class T>
AllReduceAttrs AsAllReduce(const T& attrs) {
  return {attrs.channel_id, attrs.replica_groups, false, attrs.use_global_device_ids};
}

Instruction* GatherBySums(Instruction* inst) {
  Maker make(inst);
  const int64_t d = *GatheredDim(*inst);
  const ElementType type = inst->shape().element_type();
  Expr part(make, inst->operand(0));
  if (IsFloat(type)) part = part.As(UnsignedOf(Info(type).bits));
  const OpKind op = IsPred(type) ? OpKind::Or : OpKind::Add;
  const Shape whole = inst->shape().WithElementType(part.type());
  Instruction* own = make.DynamicUpdateSlice(make.Full(whole, 0), part,
                                             OwnStarts(make, *inst, whole.rank(), d, part.dim(d)));
  const Expr sum(make,
                 make.AddWithShape(OpKind::AllReduce, whole, {own}, AsAllReduce(inst->attr<AllGatherAttrs>()),
                                   {make.ScalarComputation(op, part.type())}));
  return IsFloat(type) ? sum.As(type) : sum;
}

Instruction* ScatterOfSum(Instruction* inst) {
  Maker make(inst);
  const int64_t d = *ScatteredDim(*inst);
  const Shape& whole = inst->operand(0)->shape();
  Instruction* sum = make.AddWithShape(OpKind::AllReduce, whole, {inst->operand(0)},
                                       AsAllReduce(inst->attr<ReduceScatterAttrs>()), inst->callees());
  return make.DynamicSlice(sum, OwnStarts(make, *inst, whole.rank(), d, inst->shape().dim(d)),
                           inst->shape().dims());
}

Result<bool> RunAllGatherDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return GatheredDim(inst).has_value(); },
      [](Instruction* inst) -> Result<Instruction*> { return GatherBySums(inst); });
}
Result<bool> RunReduceScatterDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return ScatteredDim(inst).has_value(); },
      [](Instruction* inst) -> Result<Instruction*> { return ScatterOfSum(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllGatherDecomposer, NoPassOptions);
HLO_DEFINE_PASS(ReduceScatterDecomposer, NoPassOptions);

}  // namespace hlo
