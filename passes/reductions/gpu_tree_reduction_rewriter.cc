// tree-reduction-rewriter: long reductions in two steps, so that no two blocks of a GPU add to one element
// (passes.md §2.3, §4.10). Not to be mixed up with tree_reduction_rewriter, which is for CPUs.
//
// Requires nothing. Preserves flat-calls, fusions, layouts, canonical-dots.
// Changes: of a reduce over more elements than one block takes, the longest reduced dimension is padded to
// rows of about the square root of its size, and reduced row by row first; a reduce over the dimension that
// varies fastest and over others with more than `batch_bound` elements together reduces that one first. Left
// alone: variadic reduces, reducers of more than one operation, initial values that may not count twice,
// dynamic shapes; under --strict-fp sums and products of floats.
#include <cmath>

#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct GpuTreeReductionRewriterOptions {
  int64_t row_bound = 16384;
  int64_t column_bound = 4096;
  int64_t batch_bound = 8;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = GpuTreeReductionRewriterOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::row_bound>("row_bound", "most elements of the fastest dimension that a block reduces"),
    PassOption<&O::column_bound>("column_bound", "most elements of another dimension that a block reduces"),
    PassOption<&O::batch_bound>("batch_bound", "most elements of dimensions that are reduced beside rows"),
};

/// What one step reduces first.
struct Step {
  int64_t dimension = 0;
  bool cut = false;  // into rows, of which each is reduced
};

bool IsReducible(const Instruction& inst, bool strict_fp) {
  if (inst.kind() != OpKind::Reduce || !HasPlainArrays(inst)) return false;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  return op && MayRepeatInit(*op, *inst.operand(1)) &&
         !(strict_fp && RoundsByOrder(*op, inst.shape().element_type()));
}

std::optional<Step> FirstStep(const Instruction& reduce, const O& options) {
  const Shape& from = reduce.operand(0)->shape();
  const Dims dims = ReducedDims(reduce);
  if (dims.empty()) return std::nullopt;
  const int64_t fastest = from.WithDefaultLayouts().layout().minor_to_major[0];
  if (llvm::is_contained(dims, fastest)) {
    if (from.dim(fastest) > options.row_bound) return Step{fastest, true};
    const bool batched = dims.size() > 1 && from.dim(fastest) > 1;
    const int64_t others = from.dim(fastest) > 0 ? ProductOf(from, dims) / from.dim(fastest) : 0;
    return batched && others > options.batch_bound ? std::optional(Step{fastest, false}) : std::nullopt;
  }
  const int64_t longest =
      *llvm::max_element(dims, [&](int64_t a, int64_t b) { return from.dim(a) < from.dim(b); });
  return from.dim(longest) > options.column_bound ? std::optional(Step{longest, true}) : std::nullopt;
}

/// Elements of a row: a divisor of `n` near its root, or the root rounded up.
int64_t RowSize(int64_t n) {
  const auto root = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  for (int64_t row = root; row > root / 2; --row)
    if (n % row == 0) return row;
  return root;
}

Instruction* ReduceOver(Maker& make, const Instruction& like, Instruction* x, Dims dims) {
  return make.Add(OpKind::Reduce, {x, like.operand(1)}, ReduceAttrs{std::move(dims)}, like.callees());
}

Instruction* InTwoSteps(Instruction* reduce, const Step& step) {
  Maker make(reduce);
  Instruction* x = reduce->operand(0);
  Dims others;
  for (const int64_t d : ReducedDims(*reduce))
    if (d != step.dimension) others.push_back(d > step.dimension ? d - 1 : d);
  if (!step.cut) return ReduceOver(make, *reduce, ReduceOver(make, *reduce, x, {step.dimension}), others);
  const auto at = static_cast<size_t>(step.dimension);
  const int64_t size = x->shape().dim(step.dimension), row = RowSize(size), rows = (size + row - 1) / row;
  if (rows * row != size) {
    Padding padding(static_cast<size_t>(x->shape().rank()));
    padding[at].high = rows * row - size;
    x = make.Pad(x, reduce->operand(1), padding);
  }
  Dims cut(x->shape().dims());
  cut[at] = rows;
  cut.insert(cut.begin() + step.dimension + 1, row);
  Instruction* by_rows = ReduceOver(make, *reduce, make.Reshape(x, cut), {step.dimension + 1});
  return ReduceOver(make, *reduce, by_rows, ReducedDims(*reduce));
}

llvm::ArrayRef<PassOptionRow> GpuTreeReductionRewriterOptions::Rows() { return kRows; }

Result<bool> RunGpuTreeReductionRewriter(Module& module, const O& options, PassContext& context) {
  if (std::min(options.row_bound, options.column_bound) < 4)
    return Error("usage-pass-option", Loc(),
                 "tree-reduction-rewriter: found a bound of {0}, expected 4 or more",
                 std::min(options.row_bound, options.column_bound));
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return IsReducible(inst, context.policy().strict_fp) && FirstStep(inst, options);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        return InTwoSteps(inst, *FirstStep(*inst, options));
      });
}

}  // namespace

HLO_DEFINE_PASS(GpuTreeReductionRewriter, GpuTreeReductionRewriterOptions);

}  // namespace hlo
