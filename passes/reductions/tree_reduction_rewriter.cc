// tree_reduction_rewriter: long reductions in two levels (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a reduce with a dimension longer than the window becomes a reduce-window of that size and stride,
// padded as evenly as can be, and a reduce of its result: sums of floats gain precision. What is longer even
// then is for the next run. Left alone: variadic reduces, reducers of more than one operation, initial values
// that are not neutral (they would count once per window), dynamic shapes; under --strict-fp sums and
// products of floats.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct TreeReductionRewriterOptions {
  int64_t reduce_window_size = 32;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TreeReductionRewriterOptions::reduce_window_size>(
        "reduce_window_size", "longest dimension that is reduced at once"),
};

bool HasLongDim(const Instruction& x, llvm::ArrayRef<int64_t> dims, int64_t longest) {
  return llvm::any_of(dims, [&](int64_t d) { return x.shape().dim(d) > longest; });
}

bool IsLongReduction(const Instruction& inst, int64_t longest, bool strict_fp) {
  if (inst.kind() != OpKind::Reduce) return false;
  const auto op = PlainReductionOp(inst);
  if (!op || (strict_fp && RoundsByOrder(*op, inst.shape().element_type()))) return false;
  return MayRepeatInit(*op, *inst.operand(1)) && HasLongDim(*inst.operand(0), ReducedDims(inst), longest);
}

/// One value per window along the reduced dimensions.
Instruction* ReduceWindows(Maker& make, const Instruction& reduce, Instruction* x, int64_t longest) {
  ReduceWindowAttrs attrs;
  attrs.window.dims.resize(static_cast<size_t>(x->shape().rank()));
  for (const int64_t d : ReducedDims(reduce)) {
    WindowDim& w = attrs.window.dims[static_cast<size_t>(d)];
    const int64_t n = x->shape().dim(d);
    w.size = w.stride = std::max<int64_t>(1, std::min(n, longest));
    const int64_t padding = (n + w.size - 1) / w.size * w.size - n;
    w.pad_low = padding / 2;
    w.pad_high = padding - w.pad_low;
  }
  return make.Add(OpKind::ReduceWindow, {x, reduce.operand(1)}, std::move(attrs), reduce.callees());
}

llvm::ArrayRef<PassOptionRow> TreeReductionRewriterOptions::Rows() { return kRows; }

Result<bool> RunTreeReductionRewriter(Module& module, const TreeReductionRewriterOptions& options,
                                      PassContext& context) {
  if (options.reduce_window_size < 2)
    return Error("usage-pass-option", Loc(),
                 "tree_reduction_rewriter: found reduce_window_size {0}, expected 2 or more",
                 options.reduce_window_size);
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return IsLongReduction(inst, options.reduce_window_size, context.policy().strict_fp);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        Instruction* windows = ReduceWindows(make, *inst, inst->operand(0), options.reduce_window_size);
        return make.Reduce(windows, inst->operand(1), ReducedDims(*inst), inst->callee());
      });
}

}  // namespace

HLO_DEFINE_PASS(TreeReductionRewriter, TreeReductionRewriterOptions);

}  // namespace hlo
