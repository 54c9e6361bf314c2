// eigh_expander: eigenvalues of Hermitian matrices by Jacobi rotations (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: custom-call "Eigh" with the configuration "lower,sort,max_iter,tol" becomes a loop over sweeps of
// parallel two-sided Jacobi rotations (Brent and Luk), and a sort of the eigenvalues if asked for. Left
// alone: calls whose shapes or configuration are not those of the target, dynamic shapes.
#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo {
namespace {

struct Config {
  bool lower = true, sort = true;
  int64_t max_sweeps = 100;
  double tolerance = 0;
};

std::optional<Config> ParseConfig(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.trim("\"").split(parts, ',');
  Config config;
  int lower = 0, sort = 0;
  if (parts.size() != 4 || parts[0].trim().getAsInteger(10, lower) ||
      parts[1].trim().getAsInteger(10, sort) || parts[2].trim().getAsInteger(10, config.max_sweeps) ||
      parts[3].trim().getAsDouble(config.tolerance))
    return std::nullopt;
  config.lower = lower != 0;
  config.sort = sort != 0;
  return config;
}

/// The matrix in quadrants of h × h, and the columns of the eigenvectors that belong to its left and right
/// half. Pair p couples row and column p of the left half with those of the right.
enum Part { kTopLeft, kTopRight, kBottomLeft, kBottomRight, kLeftVectors, kRightVectors, kParts };
using State = llvm::SmallVector<Expr, 6>;

/// One rotation [[c, s], [-conj(s), c]] per pair: vectors [batch, h]; new diagonals, real.
struct Rotations {
  Expr c, s;
  Expr top, bottom;
};

Rotations FindRotations(llvm::ArrayRef<Expr> w) {
  const ElementType type = w[kTopLeft].type(), real = RealPartType(type);
  const Expr top = RealPart(Diagonal(w[kTopLeft])), bottom = RealPart(Diagonal(w[kBottomRight]));
  const Expr off = Diagonal(w[kTopRight]), size = Modulus(off);
  const double epsilon = std::ldexp(1.0, -Info(real).mantissa_bits);
  const Expr small = Min(top.Unary(OpKind::Abs), bottom.Unary(OpKind::Abs));
  const Expr skip = Le(size, small * (0.1 * epsilon));
  const Expr safe = Select(skip, 1, size);
  const Expr tau = (bottom - top) / (safe * 2);
  const Expr root = (tau * tau + 1).Unary(OpKind::Sqrt);
  const Expr slope = Select(Ge(tau, 0), 1.0, FullOf(tau.make(), real, tau.shape().dims(), -1)) /
                     (tau.Unary(OpKind::Abs) + root);
  const Expr t = Select(skip, 0, slope);
  const Expr c = (t * t + 1).Unary(OpKind::Rsqrt);
  const Expr phase = Select(skip, 1, off / safe.To(type));
  return {c.To(type), (t * c).To(type) * phase, top - t * size, bottom + t * size};
}

/// Columns of a left and a right half combined: (c·left - conj(s)·right, s·left + c·right).
std::pair<Expr, Expr> RotateColumns(const Expr& left, const Expr& right, const Rotations& r) {
  const Expr c = PerColumn(r.c, left), s = PerColumn(r.s, left);
  return {c * left - Conj(s) * right, s * left + c * right};
}

std::pair<Expr, Expr> RotateRows(const Expr& top, const Expr& bottom, const Rotations& r) {
  const Expr c = PerRow(r.c, top), s = PerRow(r.s, top);
  return {c * top - s * bottom, Conj(s) * top + c * bottom};
}

/// The next round of the tournament: element 0 of the first half stays, all others move on by one place.
void Exchange(Expr& first, Expr& second, int64_t dimension) {
  const int64_t h = first.dim(dimension);
  if (h < 2) return;
  const auto part = [&](const Expr& x, int64_t begin, int64_t end) { return x.Slice(dimension, begin, end); };
  llvm::SmallVector<Expr, 3> next = {part(first, 0, 1), part(second, 0, 1)};
  if (h > 2) next.push_back(part(first, 1, h - 1));
  const Expr last[] = {part(second, 1, h), part(first, h - 1, h)};
  first = Concat(next, dimension);
  second = Concat(last, dimension);
}

State Round(llvm::ArrayRef<Expr> before) {
  State w(before);
  const Rotations r = FindRotations(w);
  std::tie(w[kTopLeft], w[kTopRight]) = RotateColumns(w[kTopLeft], w[kTopRight], r);
  std::tie(w[kBottomLeft], w[kBottomRight]) = RotateColumns(w[kBottomLeft], w[kBottomRight], r);
  std::tie(w[kTopLeft], w[kBottomLeft]) = RotateRows(w[kTopLeft], w[kBottomLeft], r);
  std::tie(w[kTopRight], w[kBottomRight]) = RotateRows(w[kTopRight], w[kBottomRight], r);
  std::tie(w[kLeftVectors], w[kRightVectors]) = RotateColumns(w[kLeftVectors], w[kRightVectors], r);
  // What the rotations make of the pairs themselves is known better than by computing it.
  const ElementType type = w[kTopLeft].type();
  const Expr on_diagonal = Eq(RowNumbers(w[kTopLeft]), ColumnNumbers(w[kTopLeft]));
  w[kTopLeft] = Select(on_diagonal, PerRow(r.top.To(type), w[kTopLeft]), w[kTopLeft]);
  w[kBottomRight] = Select(on_diagonal, PerRow(r.bottom.To(type), w[kBottomRight]), w[kBottomRight]);
  w[kTopRight] = Select(on_diagonal, 0, w[kTopRight]);
  w[kBottomLeft] = Select(on_diagonal, 0, w[kBottomLeft]);
  Exchange(w[kTopLeft], w[kTopRight], 2);
  Exchange(w[kBottomLeft], w[kBottomRight], 2);
  Exchange(w[kTopLeft], w[kBottomLeft], 1);
  Exchange(w[kTopRight], w[kBottomRight], 1);
  Exchange(w[kLeftVectors], w[kRightVectors], 2);
  return w;
}

/// Sum of the squared moduli per matrix, of all elements or those off the diagonal.
Expr SquareSum(const Expr& x, bool off_diagonal) {
  const Expr size = Modulus(x);
  Expr square = size * size;
  if (off_diagonal) square = Select(Eq(RowNumbers(x), ColumnNumbers(x)), 0, square);
  return square.Reduce(OpKind::Add, 0, {1, 2});
}

/// Some matrix is not diagonal within the tolerance: pred[].
Expr NotDiagonal(llvm::ArrayRef<Expr> w, double tolerance) {
  const Expr off = SquareSum(w[kTopLeft], true) + SquareSum(w[kBottomRight], true) +
                   SquareSum(w[kTopRight], false) + SquareSum(w[kBottomLeft], false);
  const Expr diagonal = SquareSum(w[kTopLeft], false) + SquareSum(w[kBottomRight], false) +
                        SquareSum(w[kTopRight], false) + SquareSum(w[kBottomLeft], false);
  const Expr more = Gt(off, diagonal * (tolerance * tolerance));
  return more.Reduce(OpKind::Or, 0, {0});
}

State Sweeps(Maker& at, llvm::ArrayRef<Expr> w, const Config& config) {
  const int64_t rounds = 2 * w[kTopLeft].dim(1) - 1;
  State state = {Expr(at, at.ScalarInt(ElementType::S64, 0))};
  state.append(w.begin(), w.end());
  State result = WhileLoop(
      at, "eigh", state,
      [&](Maker&, llvm::ArrayRef<Expr> s) {
        return Lt(s[0], config.max_sweeps) & NotDiagonal(s.drop_front(), config.tolerance);
      },
      [&](Maker& inside, llvm::ArrayRef<Expr> s) {
        State next =
            CountedLoop(inside, "eigh_sweep", rounds, s.drop_front(),
                        [](Maker&, const Expr&, llvm::ArrayRef<Expr> inner) { return Round(inner); });
        next.insert(next.begin(), s[0] + 1);
        return next;
      });
  result.erase(result.begin());
  return result;
}

/// The Hermitian matrix that one triangle says, with real diagonal.
Expr Mirrored(const Expr& a, bool lower) {
  const Expr rows = RowNumbers(a), columns = ColumnNumbers(a);
  const Expr triangle = Select(lower ? Gt(rows, columns) : Lt(rows, columns), a, 0);
  const Expr diagonal = Select(Eq(rows, columns), RealPart(a).To(a.type()), 0);
  return triangle + Adjoint(triangle) + diagonal;
}

/// Vectors [batch, n, n] and values [batch, n] in ascending order of values.
std::pair<Expr, Expr> Sorted(Maker& make, const Expr& vectors, const Expr& values) {
  const Shape key = Shape::ArrayWithDefaultLayout(values.type(), {});
  const Shape element = Shape::ArrayWithDefaultLayout(vectors.type(), {});
  Computation* before = NewComputation(make.module(), "eigh_order");
  before->set_execution_thread(make.computation().execution_thread());
  Maker inside(*before);
  Instruction* x = inside.Parameter(0, key, "x");
  Instruction* y = inside.Parameter(1, key, "y");
  inside.Parameter(2, element, "x_vector");
  inside.Parameter(3, element, "y_vector");
  before->set_root(inside.Compare(Direction::LT, x, y, CompareType::TotalOrder));
  SortAttrs attrs;
  attrs.dimensions = {2};
  attrs.is_stable = true;
  const Expr keys = PerColumn(values, vectors);
  const Expr sorted(make, make.Add(OpKind::Sort, {keys, vectors}, std::move(attrs), {before}));
  const int64_t batch = values.dim(0), n = values.dim(1);
  return {sorted.Gte(1), Rows(sorted.Gte(0), 0, 1).Reshape({batch, n})};
}

std::optional<Config> Match(const Instruction& inst) {
  const auto* attrs = inst.attrs().GetIf<CustomCallAttrs>();
  if (!attrs || attrs->custom_call_target != "Eigh" || inst.operand_count() != 1 || !HasStaticShapes(inst))
    return std::nullopt;
  const Shape& a = inst.operand(0)->shape();
  const Shape& shape = inst.shape();
  if (!a.IsArray() || a.rank() < 2 || !(IsFloat(a.element_type()) || IsComplex(a.element_type())) ||
      a.dims().back() != a.dim(a.rank() - 2) || !shape.IsTuple() || shape.tuple_size() != 2 ||
      !Compatible(shape.tuple_shape(0), a))
    return std::nullopt;
  const Shape& values = shape.tuple_shape(1);
  if (!values.IsArray() || values.element_type() != RealPartType(a.element_type()) ||
      values.dims() != a.dims().drop_back())
    return std::nullopt;
  return ParseConfig(inst.extras().backend_config);
}

Instruction* Make(Instruction* inst) {
  const Config config = *Match(*inst);
  Maker make(inst);
  const Shape &vectors_shape = inst->shape().tuple_shape(0), &values_shape = inst->shape().tuple_shape(1);
  Expr a = AsMatrices(make, inst->operand(0));
  const int64_t n = a.dim(1), h = (n + 1) / 2;
  if (a.shape().ElementCount() == 0)
    return make.Tuple({inst->operand(0), make.Full(values_shape.WithDefaultLayouts(), 0)});
  a = Mirrored(a, config.lower);
  // A row and column of zeros makes the size even; no rotation ever touches it.
  const PaddingDim fill = {0, 2 * h - n, 0};
  if (2 * h != n) a = Expr(make, make.Pad(a, make.Scalar(a.type(), 0), {PaddingDim{}, fill, fill}));
  const Expr top = Rows(a, 0, h), bottom = Rows(a, h, 2 * h), identity = IdentityLike(a);
  const State w = Sweeps(make,
                         {Columns(top, 0, h), Columns(top, h, 2 * h), Columns(bottom, 0, h),
                          Columns(bottom, h, 2 * h), Columns(identity, 0, h), Columns(identity, h, 2 * h)},
                         config);
  Expr vectors = Columns(Rows(Concat({w[kLeftVectors], w[kRightVectors]}, 2), 0, n), 0, n);
  Expr values = RealPart(Concat({Diagonal(w[kTopLeft]), Diagonal(w[kBottomRight])}, 1)).Slice(1, 0, n);
  if (config.sort) std::tie(vectors, values) = Sorted(make, vectors, values);
  return make.Tuple({FromMatrices(vectors, vectors_shape), FromMatrices(values, values_shape)});
}

Result<bool> RunEighExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return Match(inst).has_value(); },
      [](Instruction* inst) -> Result<Instruction*> { return Make(inst); });
}

}  // namespace

HLO_DEFINE_PASS(EighExpander, NoPassOptions);

}  // namespace hlo
