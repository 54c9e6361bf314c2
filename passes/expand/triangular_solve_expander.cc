// triangular_solve_expander: triangular-solve by substitution or inverted blocks (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: triangular-solve becomes a division for one unknown, a substitution written out for up to 8, a
// loop over rows for many small matrices (more than 8 of fewer than 32 rows); else the diagonal blocks of 128
// rows are inverted together and the solution is formed block by block. Values outside the triangle are not
// read. Left alone: dynamic shapes.
#include <numeric>

#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo {
namespace {

struct TriangularSolveExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TriangularSolveExpanderOptions::block_size>("block_size", "rows of a diagonal block"),
};

/// op(l)·x = b (left) or x·op(l) = b; l is lower triangular with zeros above, op transposes or does nothing.
struct System {
  Expr l, b;
  bool left, transposed;
  /// Unknowns are known from the first to the last.
  [[nodiscard]] bool ascending() const { return transposed != left; }
};

Expr Reversed(const Expr& x, llvm::ArrayRef<int64_t> dimensions) {
  return {x.make(), x.make().Reverse(x, dimensions)};
}

/// Row after row, from the top, of l·x = b.
Expr SolveLowerByRows(Maker& at, const Expr& l, const Expr& b) {
  const int64_t batch = l.dim(0), n = l.dim(1), m = b.dim(2);
  const Expr zero = FullOf(at, b.type(), {batch, n, m}, 0);
  return CountedLoop(at, "triangular_solve", n, {l, b, zero},
                     [&](Maker&, const Expr& i, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                       const Expr row = DynamicSliceOf(s[0], {0, i, 0}, {batch, 1, n});
                       const Expr pivot = DynamicSliceOf(row, {0, 0, i}, {batch, 1, 1}).Reshape({batch});
                       const Expr rest = DynamicSliceOf(s[1], {0, i, 0}, {batch, 1, m}) - MatMul(row, s[2]);
                       const Expr x = rest / pivot.Broadcast({batch, 1, m}, {0});
                       return {s[0], s[1], DynamicUpdateOf(s[2], x, {0, i, 0})};
                     })[2];
}

Expr SolveByRows(Maker& at, const System& system) {
  // x·op(l) = b is op(l)ᵀ·xᵀ = bᵀ, and an upper matrix is a lower one in reversed order.
  Expr l = system.l, b = system.left ? system.b : Transposed(system.b);
  if (!system.ascending()) {
    l = Reversed(Transposed(l), {1, 2});
    b = Reversed(b, {1});
  }
  Expr x = SolveLowerByRows(at, l, b);
  if (!system.ascending()) x = Reversed(x, {1});
  return system.left ? x : Transposed(x);
}

/// row·m, [batch, 1, n]; of complex numbers every product is rounded before sums are formed, as elsewhere
/// where XLA inverts.
Expr RowTimes(const Expr& row, const Expr& m) {
  if (!IsComplex(row.type())) return MatMul(row, m);
  const Dims sizes(m.shape().dims());
  const Expr products = row.Reshape({sizes[0], sizes[1]}).Broadcast(sizes, {0, 1}) * m;
  return products.Reduce(OpKind::Add, 0, {1}).Reshape({sizes[0], 1, sizes[2]});
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
                       return {s[0], DynamicUpdateOf(s[1], one - RowTimes(row, s[1]), {0, i, 0})};
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

/// The unknowns [begin, end) from those that are known already (`x`, empty at first).
Expr SolveBlock(const System& s, const Expr& inverse, const Expr* x, int64_t begin, int64_t end) {
  const int64_t n = s.l.dim(1);
  Expr rest = s.b.Slice(s.left ? 1 : 2, begin, end);
  if (x) {
    const Expr factor = s.transposed == s.left ? Columns(Rows(s.l, end, n), begin, end)
                                               : Columns(Rows(s.l, begin, end), 0, begin);
    rest = rest - (s.left ? MatMul(factor, *x, s.transposed) : MatMul(*x, factor, false, s.transposed));
  }
  const Expr own = Columns(Rows(inverse, 0, end - begin), 0, end - begin);
  return s.left ? MatMul(own, rest, s.transposed) : MatMul(rest, own, false, s.transposed);
}

Expr SolveByBlocks(Maker& make, const System& s, int64_t block) {
  const int64_t batch = s.l.dim(0), n = s.l.dim(1);
  block = std::min(block, n);
  const int64_t count = (n + block - 1) / block;
  const Expr inverses = InvertDiagonalBlocks(make, s.l, block);
  Expr x;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t i = s.ascending() ? step : count - 1 - step;
    const Expr inverse = inverses.Slice(0, i * batch, (i + 1) * batch);
    const Expr part =
        SolveBlock(s, inverse, step == 0 ? nullptr : &x, i * block, std::min(n, (i + 1) * block));
    const int64_t dimension = s.left ? 1 : 2;
    x = step == 0 ? part : s.ascending() ? Concat({x, part}, dimension) : Concat({part, x}, dimension);
  }
  return x;
}

/// One unknown each: nothing but the diagonal counts.
Instruction* SolveOne(Maker& make, const Instruction& inst) {
  const auto& attrs = inst.attr<TriangularSolveAttrs>();
  Expr a(make, inst.operand(0));
  const Expr b(make, inst.operand(1));
  if (attrs.unit_diagonal) return b;
  if (attrs.transpose_a == TransposeA::Adjoint) a = Conj(a);
  if (SameDims(a.shape(), b.shape())) return b / a;
  const llvm::ArrayRef<int64_t> batch = a.shape().dims().drop_back(2);
  Dims to(batch.size());
  std::iota(to.begin(), to.end(), 0);
  return b / a.Reshape(batch).Broadcast(b.shape().dims(), to);
}

/// Unknown after unknown from those that are known; elements outside the triangle are never touched.
Expr SolveWrittenOut(const Expr& a, const Expr& b, const TriangularSolveAttrs& attrs) {
  const int64_t n = a.dim(1), unknowns = attrs.left_side ? 1 : 2;
  const bool left = attrs.left_side, transposed = attrs.transpose_a != TransposeA::NoTranspose;
  const bool ascending = (attrs.lower != transposed) == left;
  Expr x;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = ascending ? step : n - 1 - step;
    Expr part = b.Slice(unknowns, i, i + 1);
    if (step > 0) {
      const int64_t begin = ascending ? 0 : i + 1, end = ascending ? i : n;
      const Expr factors = left == transposed ? Columns(Rows(a, begin, end), i, i + 1)
                                              : Columns(Rows(a, i, i + 1), begin, end);
      part = part - (left ? MatMul(factors, x, transposed) : MatMul(x, factors, false, transposed));
    }
    if (!attrs.unit_diagonal)
      part =
          part / Columns(Rows(a, i, i + 1), i, i + 1).Reshape({a.dim(0)}).Broadcast(part.shape().dims(), {0});
    x = step == 0 ? part : ascending ? Concat({x, part}, unknowns) : Concat({part, x}, unknowns);
  }
  return x;
}

Instruction* Solve(Instruction* inst, int64_t block) {
  constexpr int64_t kWrittenOut = 8;
  Maker make(inst);
  const auto& attrs = inst->attr<TriangularSolveAttrs>();
  if (inst->operand(1)->shape().ElementCount() == 0) return inst->operand(1);
  if (inst->operand(0)->shape().dims().back() == 1) return SolveOne(make, *inst);
  Expr a = AsMatrices(make, inst->operand(0)), b = AsMatrices(make, inst->operand(1));
  if (a.dim(1) <= std::min(kWrittenOut, block)) {
    if (attrs.transpose_a == TransposeA::Adjoint) a = Conj(a);
    return FromMatrices(SolveWrittenOut(a, b, attrs), inst->shape());
  }
  const Expr rows = RowNumbers(a), columns = ColumnNumbers(a);
  a = Select(attrs.lower ? Ge(rows, columns) : Le(rows, columns), a, 0);
  if (attrs.unit_diagonal) a = Select(Eq(rows, columns), 1, a);
  if (attrs.transpose_a == TransposeA::Adjoint) a = Conj(a);
  const int64_t batch = a.dim(0), n = a.dim(1), unknowns = attrs.left_side ? 1 : 2;
  // An upper matrix in reversed order is a lower one.
  if (!attrs.lower) {
    a = Reversed(a, {1, 2});
    b = Reversed(b, {unknowns});
  }
  const System system = {a, b, attrs.left_side, attrs.transpose_a != TransposeA::NoTranspose};
  const bool many_small = batch > block / 16 && n < block / 4;
  Expr x = many_small ? SolveByRows(make, system) : SolveByBlocks(make, system, block);
  if (!attrs.lower) x = Reversed(x, {unknowns});
  return FromMatrices(x, inst->shape());
}

llvm::ArrayRef<PassOptionRow> TriangularSolveExpanderOptions::Rows() { return kRows; }

Result<bool> RunTriangularSolveExpander(Module& module, const TriangularSolveExpanderOptions& options,
                                        PassContext& context) {
  const int64_t block = std::max<int64_t>(1, options.block_size);
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return inst.kind() == OpKind::TriangularSolve && HasStaticShapes(inst); },
      [&](Instruction* inst) -> Result<Instruction*> { return Solve(inst, block); });
}

}  // namespace

HLO_DEFINE_PASS(TriangularSolveExpander, TriangularSolveExpanderOptions);

}  // namespace hlo
