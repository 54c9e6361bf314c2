#include "passes/reshape_decomposer.h"

#include "passes/analysis/reshape_facts.h"
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

}  // namespace

Result<bool> RunReshapeDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasPlainLayouts, ReplacementFor);
}

HLO_DEFINE_PASS(ReshapeDecomposer, NoPassOptions);

}  // namespace hlo
