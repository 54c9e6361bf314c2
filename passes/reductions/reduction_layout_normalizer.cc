// reduction-layout-normalizer: reductions of arrays that lie row by row (passes.md §2.5).
//
// Requires layouts. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a reduce of arrays with another than the descending layout works on bitcasts of them, whose
// dimensions stand in memory order; its results lie where they lay, and are bitcast back. Left alone: arrays
// in several layouts, layouts with properties, dynamic shapes; reducers that are no known operation, and
// under --strict-fp sums and products of floats, if their order would change.
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The logical dimensions in memory order, the slowest first.
Dims MemoryOrder(const Shape& shape) { return Dims(llvm::reverse(shape.layout().minor_to_major)); }

/// The reduced dimensions as places in memory order.
Dims ReducedPlaces(const Instruction& reduce) {
  return Permuted(InversePermutation(MemoryOrder(reduce.operand(0)->shape())), ReducedDims(reduce));
}

bool MayReorder(const Instruction& reduce, bool strict_fp) {
  const std::optional<OpKind> op = PlainReductionOp(reduce);
  return op && !(strict_fp && RoundsByOrder(*op, reduce.shape().element_type()));
}

bool CanNormalize(const Instruction& inst, bool strict_fp) {
  if (inst.kind() != OpKind::Reduce || !HasPlainArrays(inst)) return false;
  const Layout& layout = inst.operand(0)->shape().layout();
  for (int64_t i = 1; i < inst.operand_count() / 2; ++i)
    if (!(inst.operand(i)->shape().layout() == layout)) return false;
  return !layout.IsDescending() && (llvm::is_sorted(ReducedPlaces(inst)) || MayReorder(inst, strict_fp));
}

/// A result whose dimensions stand as those of the operand follow in memory; it lies as it lay.
Shape ResultInOrder(const Shape& shape, llvm::ArrayRef<int64_t> order) {
  Layout layout;
  layout.minor_to_major = Permuted(InversePermutation(order), shape.layout().minor_to_major);
  return Shape::Array(shape.element_type(), Permuted(shape.dims(), order)).WithLayout(std::move(layout));
}

Instruction* Normalized(Instruction* reduce) {
  Maker make(reduce);
  const int64_t arrays = reduce->operand_count() / 2;
  const Dims order = MemoryOrder(reduce->operand(0)->shape());
  llvm::SmallVector<Instruction*, 4> operands;
  for (int64_t i = 0; i < arrays; ++i) {
    const Shape& shape = reduce->operand(i)->shape();
    operands.push_back(
        BitcastTo(make, reduce->operand(i),
                  Shape::ArrayWithDefaultLayout(shape.element_type(), Permuted(shape.dims(), order))));
  }
  operands.append(reduce->operands().begin() + arrays, reduce->operands().end());
  // The dimensions of the result as they follow in the operand.
  const Dims reduced = ReducedDims(*reduce);
  Dims kept;
  for (const int64_t d : order)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d - llvm::count_if(reduced, [&](int64_t other) { return other < d; }));
  llvm::SmallVector<Shape, 2> shapes;
  for (const Shape& shape : ResultShapes(reduce->shape())) shapes.push_back(ResultInOrder(shape, kept));
  Dims places = ReducedPlaces(*reduce);
  llvm::sort(places);
  Instruction* made = make.AddWithShape(OpKind::Reduce, ResultShapeLike(reduce->shape(), shapes), operands,
                                        ReduceAttrs{places}, reduce->callees());
  return BitcastTo(make, made, reduce->shape());
}

Result<bool> RunReductionLayoutNormalizer(Module& module, const NoPassOptions&, PassContext& context) {
  const bool strict_fp = context.policy().strict_fp;
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return CanNormalize(inst, strict_fp); },
      [](Instruction* inst) -> Result<Instruction*> { return Normalized(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ReductionLayoutNormalizer, NoPassOptions);

}  // namespace hlo
