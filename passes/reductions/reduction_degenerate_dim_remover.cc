// reduction-degenerate-dim-remover: reductions without dimensions of size 1 (passes.md §2.5).
//
// Requires layouts. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a reduce of arrays with dimensions of size 1 works on bitcasts without them, and its results are
// bitcast back; where only such dimensions are reduced, nothing is left of it but bitcasts. Left alone:
// initial values that would be missed then (they are not neutral, or the reducer is no known operation),
// under --strict-fp those of floats; layouts with properties, dynamic shapes.
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

Dims DegenerateDims(const Shape& shape) {
  Dims dims;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dim(d) == 1) dims.push_back(d);
  return dims;
}

/// The dimensions that are still reduced, numbered without those of size 1.
Dims RemainingDims(const Instruction& reduce) {
  const Shape& shape = reduce.operand(0)->shape();
  const Dims gone = DegenerateDims(shape);
  Dims remaining;
  for (const int64_t d : ReducedDims(reduce))
    if (shape.dim(d) != 1)
      remaining.push_back(d - llvm::count_if(gone, [&](int64_t other) { return other < d; }));
  return remaining;
}

/// Reducing one element gives that element.
bool IsNeutral(const Instruction& reduce, bool strict_fp) {
  const std::optional<OpKind> op = PlainReductionOp(reduce);
  return op && IsIdentityOf(*op, *reduce.operand(1)) &&
         !(strict_fp && !IsIntegral(reduce.shape().element_type()));
}

bool HasDegenerateDims(const Instruction& inst, bool strict_fp) {
  return inst.kind() == OpKind::Reduce && HasPlainArrays(inst) &&
         llvm::is_contained(inst.operand(0)->shape().dims(), 1) &&
         (!RemainingDims(inst).empty() || IsNeutral(inst, strict_fp));
}

Instruction* WithoutDegenerateDims(Instruction* reduce) {
  Maker make(reduce);
  const int64_t arrays = reduce->operand_count() / 2;
  llvm::SmallVector<Instruction*, 4> operands;
  for (int64_t i = 0; i < arrays; ++i) {
    const Shape& shape = reduce->operand(i)->shape();
    operands.push_back(BitcastTo(make, reduce->operand(i), WithoutDims(shape, DegenerateDims(shape))));
  }
  const Dims remaining = RemainingDims(*reduce);
  if (remaining.empty()) return BitcastTo(make, operands[0], reduce->shape());
  operands.append(reduce->operands().begin() + arrays, reduce->operands().end());
  llvm::SmallVector<Shape, 2> shapes;
  for (const Shape& shape : ResultShapes(reduce->shape()))
    shapes.push_back(WithoutDims(shape, DegenerateDims(shape)));
  Instruction* made = make.AddWithShape(OpKind::Reduce, ResultShapeLike(reduce->shape(), shapes), operands,
                                        ReduceAttrs{remaining}, reduce->callees());
  return BitcastTo(make, made, reduce->shape());
}

Result<bool> RunReductionDegenerateDimRemover(Module& module, const NoPassOptions&, PassContext& context) {
  const bool strict_fp = context.policy().strict_fp;
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return HasDegenerateDims(inst, strict_fp); },
      [](Instruction* inst) -> Result<Instruction*> { return WithoutDegenerateDims(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ReductionDegenerateDimRemover, NoPassOptions);

}  // namespace hlo
