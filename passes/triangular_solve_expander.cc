#include "passes/triangular_solve_expander.h"

#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo {
namespace {

constexpr PassOptionRow kRows[] = {
    PassOption<&TriangularSolveExpanderOptions::block_size>("block_size", "rows of a diagonal block"),
};

/// A lower triangular system l·x = b; l has zeros above the diagonal.
struct System {
  Expr l, b;
};

/// Row after row. The right-hand side is overwritten from the top.
Expr SolveByRows(Maker& at, const System& system) {
  const int64_t batch = system.l.dim(0), n = system.l.dim(1), m = system.b.dim(2);
  const Expr zero = FullOf(at, system.b.type(), {batch, n, m}, 0);
  return CountedLoop(at, "triangular_solve", n, {system.l, system.b, zero},
                     [&](Maker&, const Expr& i, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                       const Expr row = DynamicSliceOf(s[0], {0, i, 0}, {batch, 1, n});
                       const Expr pivot = DynamicSliceOf(row, {0, 0, i}, {batch, 1, 1}).Reshape({batch});
                       const Expr rest = DynamicSliceOf(s[1], {0, i, 0}, {batch, 1, m}) - MatMul(row, s[2]);
                       const Expr x = rest / pivot.Broadcast({batch, 1, m}, {0});
                       return {s[0], s[1], DynamicUpdateOf(s[2], x, {0, i, 0})};
                     })[2];
}

/// Inverses of unit lower triangular matrices: row i of the inverse is e_i - (row i, less its one)·(the rows
/// of the inverse above).
Expr InvertUnitLower(Maker& at, const Expr& unit) {
  const int64_t batch = unit.dim(0), n = unit.dim(1);
  const Expr below = unit - IdentityLike(unit);
  return CountedLoop(at, "triangular_inverse", n, {below, IdentityLike(unit)},
                     [&](Maker&, const Expr& i, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                       const Expr row = DynamicSliceOf(s[0], {0, i, 0}, {batch, 1, n});
                       const Expr one = DynamicSliceOf(s[1], {0, i, 0}, {batch, 1, n});
                       return {s[0], DynamicUpdateOf(s[1], one - MatMul(row, s[1]), {0, i, 0})};
                     })[1];
}

/// The inverses of the diagonal blocks, [blocks·batch, block, block]; the last one is filled up with the
/// identity.
Expr InvertDiagonalBlocks(Maker& make, const Expr& l, int64_t block) {
  const int64_t n = l.dim(1);
  llvm::SmallVector<Expr, 8> blocks;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t end = std::min(n, i + block), missing = block - (end - i);
    Expr d = Columns(Rows(l, i, end), i, end);
    if (missing > 0) {
      const PaddingDim fill = {0, missing, 0};
      d = Expr(make, make.Pad(d, make.Scalar(d.type(), 0), {PaddingDim{}, fill, fill}));
      d = Select(Eq(RowNumbers(d), ColumnNumbers(d)) & Ge(RowNumbers(d), end - i), 1, d);
    }
    blocks.push_back(d);
  }
  const Expr all = Concat(blocks, 0);
  // l = D·u with the diagonal D, so that the inverse is inverse(u)·inverse(D).
  const Expr diagonal = Diagonal(all);
  Expr unit = all / PerRow(diagonal, all);
  unit = Select(Eq(RowNumbers(unit), ColumnNumbers(unit)), 1, unit);
  const Expr inverse = InvertUnitLower(make, unit);
  return inverse / PerColumn(diagonal, inverse);
}

Expr SolveByBlocks(Maker& make, const System& system, int64_t block) {
  const int64_t batch = system.l.dim(0), n = system.l.dim(1);
  block = std::min(block, n);
  const Expr inverses = InvertDiagonalBlocks(make, system.l, block);
  Expr x;
  for (int64_t i = 0; i < n; i += block) {
    const int64_t end = std::min(n, i + block), number = i / block;
    Expr rest = Rows(system.b, i, end);
    if (i > 0) rest = rest - MatMul(Columns(Rows(system.l, i, end), 0, i), x);
    const Expr inverse = inverses.Slice(0, number * batch, (number + 1) * batch);
    const Expr part = MatMul(Columns(Rows(inverse, 0, end - i), 0, end - i), rest);
    x = i == 0 ? part : Concat({x, part}, 1);
  }
  return x;
}

Expr Reversed(const Expr& x, llvm::ArrayRef<int64_t> dimensions) {
  return {x.make(), x.make().Reverse(x, dimensions)};
}

Instruction* Solve(Instruction* inst, int64_t block) {
  Maker make(inst);
  const auto& attrs = inst->attr<TriangularSolveAttrs>();
  Expr a = AsMatrices(make, inst->operand(0)), b = AsMatrices(make, inst->operand(1));
  if (b.shape().ElementCount() == 0) return inst->operand(1);
  const Expr rows = RowNumbers(a), columns = ColumnNumbers(a);
  a = Select(attrs.lower ? Ge(rows, columns) : Le(rows, columns), a, 0);
  if (attrs.unit_diagonal) a = Select(Eq(rows, columns), 1, a);
  // op(a)·x = b with op(a) lower triangular.
  bool lower = attrs.lower;
  if (attrs.transpose_a == TransposeA::Adjoint) a = Conj(a);
  const bool transposed = attrs.transpose_a != TransposeA::NoTranspose;
  if (transposed == attrs.left_side) {
    a = Transposed(a);
    lower = !lower;
  }
  if (!attrs.left_side) b = Transposed(b);
  const System system = lower ? System{a, b} : System{Reversed(a, {1, 2}), Reversed(b, {1})};
  const int64_t batch = a.dim(0), n = a.dim(1);
  const bool many_small = batch > block / 16 && n < block / 4;
  Expr x = n == 1                ? b / a.Reshape({batch}).Broadcast(b.shape().dims(), {0})
           : many_small || n < 2 ? SolveByRows(make, system)
                                 : SolveByBlocks(make, system, block);
  if (n != 1 && !lower) x = Reversed(x, {1});
  return FromMatrices(attrs.left_side ? x : Transposed(x), inst->shape());
}

}  // namespace

llvm::ArrayRef<PassOptionRow> TriangularSolveExpanderOptions::Rows() { return kRows; }

Result<bool> RunTriangularSolveExpander(Module& module, const TriangularSolveExpanderOptions& options,
                                        PassContext& context) {
  const int64_t block = std::max<int64_t>(1, options.block_size);
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return inst.kind() == OpKind::TriangularSolve && HasStaticShapes(inst); },
      [&](Instruction* inst) -> Result<Instruction*> { return Solve(inst, block); });
}

HLO_DEFINE_PASS(TriangularSolveExpander, TriangularSolveExpanderOptions);

}  // namespace hlo
