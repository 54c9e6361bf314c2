// reduce-decomposer: reductions that do not change layouts (passes.md §2.1).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: a reduce whose result lies otherwise than the kept dimensions of its operand becomes one that
// keeps their order, and copies. Left alone: layouts with tiles, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && shape.layout().tiles.empty() &&
         !shape.HasDynamicDimension();
}

/// The result with the kept dimensions in the physical order of the operand.
Shape Natural(const Shape& operand, const Shape& result, llvm::ArrayRef<int64_t> reduced) {
  Layout layout = result.layout();
  layout.minor_to_major.clear();
  for (const int64_t d : operand.layout().minor_to_major)
    if (!llvm::is_contained(reduced, d))
      layout.minor_to_major.push_back(d - llvm::count_if(reduced, [&](int64_t r) { return r < d; }));
  return result.WithLayout(std::move(layout));
}

/// Shape of the reduce without change of layout; nothing where that is not clear.
std::optional<Shape> NaturalShape(const Instruction& reduce) {
  const Dims& reduced = reduce.attr<ReduceAttrs>().dimensions;
  const bool tuple = reduce.shape().IsTuple();
  llvm::SmallVector<Shape, 2> shapes;
  for (int64_t i = 0; i < reduce.operand_count() / 2; ++i) {
    const Shape& operand = reduce.operand(i)->shape();
    const Shape& result = tuple ? reduce.shape().tuple_shape(i) : reduce.shape();
    if (!IsPlain(operand) || !IsPlain(result)) return std::nullopt;
    shapes.push_back(Natural(operand, result, reduced));
  }
  return tuple ? Shape::MakeTuple(shapes) : shapes.front();
}

bool ChangesLayout(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce) return false;
  const std::optional<Shape> natural = NaturalShape(inst);
  return natural && *natural != inst.shape();
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  return Maker(inst).AddWithShape(OpKind::Reduce, *NaturalShape(*inst), inst->operands(), inst->attrs(),
                                  inst->callees());
}

Result<bool> RunReduceDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, ChangesLayout, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(ReduceDecomposer, NoPassOptions);

}  // namespace hlo
