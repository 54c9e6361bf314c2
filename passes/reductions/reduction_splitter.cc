// reduction-splitter: reduced dimensions that lie apart are reduced one after the other (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a reduce over dimensions that do not all follow each other becomes a reduce over the largest of
// them, if that has at least `min_dimension_size` elements, and a reduce of its result over the others. Left
// alone: variadic reduces, reducers of more than one operation, initial values that may not count twice,
// dynamic shapes; under --strict-fp sums and products of floats.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct ReductionSplitterOptions {
  int64_t min_dimension_size = 8;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ReductionSplitterOptions::min_dimension_size>(
        "min_dimension_size", "elements of the largest dimension that are worth a reduction of their own"),
};

/// The first of the largest reduced dimensions.
int64_t LargestDim(const Instruction& reduce) {
  const Dims dims = ReducedDims(reduce);
  const Shape& shape = reduce.operand(0)->shape();
  return *llvm::max_element(dims, [&](int64_t a, int64_t b) { return shape.dim(a) < shape.dim(b); });
}

bool ReducesApart(const Instruction& inst, int64_t min_size, bool strict_fp) {
  if (inst.kind() != OpKind::Reduce || !HasPlainArrays(inst)) return false;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  if (!op || !MayRepeatInit(*op, *inst.operand(1)) ||
      (strict_fp && RoundsByOrder(*op, inst.shape().element_type())))
    return false;
  const Dims dims = ReducedDims(inst);
  const auto count = static_cast<int64_t>(dims.size());
  return count > 1 && dims.back() - dims.front() + 1 != count &&
         inst.operand(0)->shape().dim(LargestDim(inst)) >= min_size;
}

Instruction* Split(Instruction* reduce) {
  Maker make(reduce);
  const int64_t largest = LargestDim(*reduce);
  Instruction* first = make.AddWithShape(OpKind::Reduce, WithoutDims(reduce->operand(0)->shape(), {largest}),
                                         reduce->operands(), ReduceAttrs{{largest}}, reduce->callees());
  Dims others;
  for (const int64_t d : ReducedDims(*reduce))
    if (d != largest) others.push_back(d > largest ? d - 1 : d);
  return make.AddWithShape(OpKind::Reduce, reduce->shape(), {first, reduce->operand(1)}, ReduceAttrs{others},
                           reduce->callees());
}

llvm::ArrayRef<PassOptionRow> ReductionSplitterOptions::Rows() { return kRows; }

Result<bool> RunReductionSplitter(Module& module, const ReductionSplitterOptions& options,
                                  PassContext& context) {
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return ReducesApart(inst, options.min_dimension_size, context.policy().strict_fp);
      },
      [](Instruction* inst) -> Result<Instruction*> { return Split(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ReductionSplitter, ReductionSplitterOptions);

}  // namespace hlo
