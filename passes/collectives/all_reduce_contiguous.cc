// all-reduce-contiguous: several arrays are exchanged as one buffer (passes.md §2.6).
//
// Requires layouts. Preserves flat-calls, layouts, fusions.
// Changes: an all-reduce of several arrays of one type becomes an all-reduce of their bytes in a row, of
// which slices are the results. Left alone: all-reduces of one array, of several types, constrained layouts,
// layouts with properties, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool HasSeveralArrays(const Instruction& inst) {
  if (inst.kind() != OpKind::AllReduce || inst.operand_count() < 2 || !HasPlainArrays(inst) ||
      inst.attr<AllReduceAttrs>().constrain_layout)
    return false;
  const ElementType type = inst.operand(0)->shape().element_type();
  for (int64_t i = 0; i < inst.operand_count(); ++i)
    if (inst.operand(i)->shape().element_type() != type ||
        inst.operand(i)->shape() != ResultShapes(inst.shape())[static_cast<size_t>(i)])
      return false;
  return true;
}

Instruction* ExchangeInARow(Instruction* inst) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 8> rows, results;
  for (Instruction* x : inst->operands())
    rows.push_back(BitcastTo(
        make, x, Shape::ArrayWithDefaultLayout(x->shape().element_type(), {x->shape().ElementCount()})));
  Instruction* all = make.Concatenate(rows, 0);
  all = CollectiveLike(make, *inst, all->shape(), {all});
  int64_t start = 0;
  for (const Instruction* x : inst->operands()) {
    const int64_t end = start + x->shape().ElementCount();
    results.push_back(BitcastTo(make, make.SliceDim(all, 0, start, end), x->shape()));
    start = end;
  }
  return make.Tuple(results);
}

Result<bool> RunAllReduceContiguous(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasSeveralArrays,
                       [](Instruction* inst) -> Result<Instruction*> { return ExchangeInARow(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllReduceContiguous, NoPassOptions);

}  // namespace hlo
