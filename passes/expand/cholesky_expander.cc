// cholesky_expander: cholesky by blocks (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: cholesky becomes, for panels of 128 columns from left to right, a product with the columns done, a
// loop over the columns of the diagonal block, and a triangular-solve for what is below it. A matrix with a
// pivot that is not positive becomes NaN. Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo {
namespace {

struct CholeskyExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CholeskyExpanderOptions::block_size>("block_size", "columns of a panel"),
};

/// A factor, and whether it failed: pred[batch].
struct Factor {
  Expr l, failed;
};

/// Column by column; only the lower triangle of `a` is read.
Factor FactorUnblocked(Maker& at, const Expr& matrix) {
  const int64_t batch = matrix.dim(0), n = matrix.dim(1);
  const auto state = CountedLoop(
      at, "cholesky", n,
      {matrix, FullOf(at, matrix.type(), {batch, n, n}, 0), FullOf(at, ElementType::Pred, {batch, 1, 1}, 0)},
      [&](Maker&, const Expr& j, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
        const Expr &a = s[0], &l = s[1], &failed = s[2];
        const Expr row = DynamicSliceOf(l, {0, j, 0}, {batch, 1, n});
        const Expr column = DynamicSliceOf(a, {0, 0, j}, {batch, n, 1}) - MatMul(l, Conj(row), false, true);
        const Expr pivot = RealPart(DynamicSliceOf(column, {0, j, 0}, {batch, 1, 1}));
        const Expr root = pivot.Unary(OpKind::Sqrt);
        const Expr wide_root = root.To(a.type()).Reshape({batch}).Broadcast({batch, n, 1}, {0});
        const Expr rows = RowNumbers(column);
        const Expr scaled = Select(Gt(rows, j), column / wide_root, 0);
        const Expr next = Select(Eq(rows, j), wide_root, scaled);
        return {a, DynamicUpdateOf(l, next, {0, 0, j}), failed | Not(Gt(pivot, 0))};
      });
  return {state[1], state[2].Reshape({batch})};
}

Factor FactorLower(Maker& make, const Expr& a, int64_t block) {
  const int64_t n = a.dim(1);
  Factor result;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t end = std::min(n, i + block);
    Expr panel = Columns(Rows(a, i, n), i, end);
    if (i > 0) {
      const Expr done = Rows(result.l, i, n);
      panel = panel - MatMul(done, Conj(Rows(done, 0, end - i)), false, true);
    }
    const Factor diagonal = FactorUnblocked(make, Rows(panel, 0, end - i));
    llvm::SmallVector<Expr, 3> parts;
    if (i > 0) parts.push_back(FullOf(make, a.type(), {a.dim(0), i, end - i}, 0));
    parts.push_back(diagonal.l);
    if (end < n) parts.push_back(LowerSolve(diagonal.l, Rows(panel, end - i, n - i), false, true));
    const Expr columns = Concat(parts, 1);
    result.l = i == 0 ? columns : Concat({result.l, columns}, 2);
    result.failed = i == 0 ? diagonal.failed : result.failed | diagonal.failed;
  }
  return result;
}

Instruction* MakeFactor(Instruction* inst, int64_t block) {
  Maker make(inst);
  const Expr a = AsMatrices(make, inst->operand(0));
  if (a.shape().ElementCount() == 0) return inst->operand(0);
  const bool lower = inst->attr<CholeskyAttrs>().lower;
  const Factor factor = FactorLower(make, lower ? a : Adjoint(a), block);
  const Expr l = lower ? factor.l : Adjoint(factor.l);
  const Expr failed = factor.failed.Broadcast(l.shape().dims(), {0});
  return FromMatrices(Select(failed, NanLike(l), l), inst->shape());
}

llvm::ArrayRef<PassOptionRow> CholeskyExpanderOptions::Rows() { return kRows; }

Result<bool> RunCholeskyExpander(Module& module, const CholeskyExpanderOptions& options,
                                 PassContext& context) {
  const int64_t block = std::max<int64_t>(1, options.block_size);
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return inst.kind() == OpKind::Cholesky && HasStaticShapes(inst); },
      [&](Instruction* inst) -> Result<Instruction*> { return MakeFactor(inst, block); });
}

}  // namespace

HLO_DEFINE_PASS(CholeskyExpander, CholeskyExpanderOptions);

}  // namespace hlo
