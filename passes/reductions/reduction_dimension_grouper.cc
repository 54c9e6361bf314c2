// reduction-dimension-grouper: adjacent reduced dimensions become one (passes.md §2.5).
//
// Requires layouts. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a reduce of arrays that lie row by row works on bitcasts of them, in which reduced dimensions that
// follow each other are one; elements are taken in the same order. Left alone: other layouts, dynamic shapes.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool HasAdjacentDims(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || !HasPlainArrays(inst)) return false;
  for (int64_t i = 0; i < inst.operand_count() / 2; ++i)
    if (!inst.operand(i)->shape().layout().IsDescending()) return false;
  const Dims reduced = ReducedDims(inst);
  return std::adjacent_find(reduced.begin(), reduced.end(),
                            [](int64_t a, int64_t b) { return a + 1 == b; }) != reduced.end();
}

Instruction* Grouped(Instruction* reduce) {
  Maker make(reduce);
  const Dims reduced = ReducedDims(*reduce);
  const auto is_reduced = [&](int64_t d) { return llvm::is_contained(reduced, d); };
  Dims sizes, remaining;
  for (int64_t d = 0; d < reduce->operand(0)->shape().rank(); ++d) {
    const int64_t size = reduce->operand(0)->shape().dim(d);
    if (d > 0 && is_reduced(d) && is_reduced(d - 1)) {
      sizes.back() *= size;
      continue;
    }
    if (is_reduced(d)) remaining.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(size);
  }
  llvm::SmallVector<Instruction*, 4> operands(reduce->operands());
  for (Instruction*& x : llvm::MutableArrayRef(operands).take_front(operands.size() / 2))
    x = BitcastTo(make, x, Shape::ArrayWithDefaultLayout(x->shape().element_type(), sizes));
  return make.AddWithShape(OpKind::Reduce, reduce->shape(), operands, ReduceAttrs{remaining},
                           reduce->callees());
}

Result<bool> RunReductionDimensionGrouper(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasAdjacentDims,
                       [](Instruction* inst) -> Result<Instruction*> { return Grouped(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ReductionDimensionGrouper, NoPassOptions);

}  // namespace hlo
