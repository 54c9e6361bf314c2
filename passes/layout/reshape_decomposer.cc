// reshape-decomposer: reshapes as bitcasts and copies (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: a reshape that layouts make a bitcast becomes one, another becomes bitcast and copy, copy and
// bitcast, or, where neither does, copy, bitcast and copy. Left alone: dynamic shapes, layouts with tiles.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && ReshapeIsBitcast(shape, shape);
}

bool HasPlainLayouts(const Instruction& inst) {
  if (inst.kind() != OpKind::Reshape) return false;
  const Shape& from = inst.operand(0)->shape();
  return IsPlain(from) && IsPlain(inst.shape()) &&
         from.layout().memory_space == inst.shape().layout().memory_space &&
         from.layout().element_size_bits == inst.shape().layout().element_size_bits;
}

Shape Descending(const Shape& shape) {
  Layout layout = shape.layout();
  layout.minor_to_major = Layout::Default(shape.rank()).minor_to_major;
  return shape.WithLayout(std::move(layout));
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  Instruction* x = inst->operand(0);
  const Shape& to = inst->shape();
  if (ReshapeIsBitcast(x->shape(), to)) return make.Bitcast(x, to);
  auto copy = [&](Instruction* value, const Shape& shape) {
    return value->shape() == shape ? value : make.AddWithShape(OpKind::Copy, shape, {value});
  };
  if (const auto shape = BitcastReshapeShape(x->shape(), to.dims())) return copy(make.Bitcast(x, *shape), to);
  if (const auto shape = BitcastReshapeShape(to, x->shape().dims())) return make.Bitcast(copy(x, *shape), to);
  return copy(make.Bitcast(copy(x, Descending(x->shape())), Descending(to)), to);
}

Result<bool> RunReshapeDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasPlainLayouts, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(ReshapeDecomposer, NoPassOptions);

}  // namespace hlo
