// bitcast_dtypes_expander: bitcast-convert between widths as shifts (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: bitcast-convert to a wider type becomes shifts of the parts and a reduction by or; to a narrower
// one, shifts of the whole and truncation. Left alone: equal widths, complex types, pred, 6-bit types,
// dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/bits.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool HasPlainBits(ElementType type) {
  return (IsIntegral(type) || IsFloat(type)) && UnsignedOfWidth(Info(type).bits).has_value();
}

bool Matches(const Instruction& inst) {
  if (inst.kind() != OpKind::BitcastConvert || !HasStaticShapes(inst)) return false;
  const ElementType from = inst.operand(0)->shape().element_type(), to = inst.shape().element_type();
  return HasPlainBits(from) && HasPlainBits(to) && Info(from).bits != Info(to).bits;
}

Instruction* MakeExpansion(Instruction* inst) {
  Maker make(inst);
  const ElementType from = inst->operand(0)->shape().element_type(), to = inst->shape().element_type();
  const int from_bits = Info(from).bits, to_bits = Info(to).bits;
  const ElementType wide = *UnsignedOfWidth(std::max(from_bits, to_bits));
  const Expr x = Expr(make, inst->operand(0)).As(*UnsignedOfWidth(from_bits)).To(wide);
  // The array of parts has one more dimension, the last; the first part holds the lowest bits.
  const Shape& parts = from_bits < to_bits ? inst->operand(0)->shape() : inst->shape();
  const int64_t last = parts.rank() - 1;
  const Expr shift = IotaOf(make, wide, parts.dims(), last) * std::min(from_bits, to_bits);
  if (from_bits < to_bits) return (x << shift).Reduce(OpKind::Or, 0, {last}).As(to);
  Dims leading;
  for (int64_t d = 0; d < last; ++d) leading.push_back(d);
  return (x.Broadcast(parts.dims(), leading) >> shift).To(*UnsignedOfWidth(to_bits)).As(to);
}

Result<bool> RunBitcastDtypesExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeExpansion(inst); });
}

}  // namespace

HLO_DEFINE_PASS(BitcastDtypesExpander, NoPassOptions);

}  // namespace hlo
