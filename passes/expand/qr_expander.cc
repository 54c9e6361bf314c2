// qr_expander: Householder factorisation by blocks (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: custom-call "Qr" becomes, for blocks of 128 columns, a loop that reflects column after column and
// a product that applies the reflections of the block to the columns after it; custom-call
// "ProductOfElementaryHouseholderReflectors" becomes the products that form Q. Results are packed as LAPACK's
// geqrf does. Left alone: calls whose shapes are not those of the targets, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo {
namespace {

struct QrExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&QrExpanderOptions::block_size>("block_size", "columns reflected together"),
};

/// Matrices with reflectors below the diagonal, and their factors: [batch, m, n] and [batch, k].
struct Packed {
  Expr a, taus;
};

/// The reflection H = I - tau·v·vᴴ that takes a column to beta·e_j below row j (v_j = 1).
struct Reflection {
  Expr v;     // [batch, m, 1], zero above row j
  Expr tau;   // [batch]
  Expr beta;  // [batch]
};

/// Each part of x divided by the real number of its matrix.
Expr DividedBy(const Expr& x, const Expr& number) {
  const Expr wide = x.shape().rank() == 1 ? number : number.Broadcast(x.shape().dims(), {0});
  if (!IsComplex(x.type())) return x / wide;
  return Binary(OpKind::Complex, x.Unary(OpKind::Real) / wide, x.Unary(OpKind::Imag) / wide);
}

Reflection Reflect(const Expr& column, const Expr& j) {
  const int64_t batch = column.dim(0);
  const Expr rows = RowNumbers(column);
  const Expr at_and_below = Select(Ge(rows, j), column, 0);
  // All is divided by the largest value: squares neither overflow nor vanish, and reflections of columns
  // that are hardly more than zero, as dependent columns become, are orthogonal.
  const Expr largest = Modulus(at_and_below).Reduce(OpKind::Maximum, 0, {1, 2});
  const Expr scale = Select(Eq(largest, 0), 1, largest);
  const Expr scaled = DividedBy(at_and_below, scale);
  const Expr below = Select(Gt(rows, j), scaled, 0);
  const Expr alpha = DynamicSliceOf(scaled, {0, j, 0}, {batch, 1, 1}).Reshape({batch});
  const Expr squares = Modulus(scaled) * Modulus(scaled);
  const Expr norm = squares.Reduce(OpKind::Add, 0, {1, 2}).Unary(OpKind::Sqrt);
  const Expr real = RealPart(alpha);
  Expr trivial = Eq(Modulus(below).Reduce(OpKind::Maximum, 0, {1, 2}), 0);
  if (IsComplex(column.type())) trivial = trivial & Eq(alpha.Unary(OpKind::Imag), 0);
  const Expr beta = Select(trivial, real, Select(Lt(real, 0), norm, Neg(norm)));
  const Expr wide_beta = beta.To(column.type());
  const Expr tau = Select(trivial, 0, DividedBy(wide_beta - alpha, Select(trivial, 1, beta)));
  const Expr divisor = Select(trivial, 1, alpha - wide_beta);
  const Expr v = below / divisor.Broadcast(column.shape().dims(), {0});
  return {Select(Eq(rows, j), 1, v), tau, (beta * scale).To(column.type())};
}

/// Reflects the columns of one block.
Packed FactorBlock(Maker& at, const Expr& block) {
  const int64_t batch = block.dim(0), m = block.dim(1), n = block.dim(2), k = std::min(m, n);
  const auto state =
      CountedLoop(at, "qr", k, {block, FullOf(at, block.type(), {batch, k}, 0)},
                  [&](Maker&, const Expr& j, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                    const Expr& a = s[0];
                    const Expr column = DynamicSliceOf(a, {0, 0, j}, {batch, m, 1});
                    const Reflection r = Reflect(column, j);
                    // Columns to the right: a - conj(tau)·v·(vᴴ·a); this one: beta at row j and v below.
                    const Expr products = MatMul(Adjoint(r.v), a);  // [batch, 1, n]
                    const Expr factor = Conj(r.tau).Broadcast({batch, 1, n}, {0}) * products;
                    const Expr reflected = Select(Gt(ColumnNumbers(a), j), a - MatMul(r.v, factor), a);
                    const Expr rows = RowNumbers(column);
                    const Expr own = Select(Lt(rows, j), column,
                                            Select(Eq(rows, j), r.beta.Broadcast({batch, m, 1}, {0}), r.v));
                    return {DynamicUpdateOf(reflected, own, {0, 0, j}),
                            DynamicUpdateOf(s[1], r.tau.Reshape({batch, 1}), {0, j})};
                  });
  return {state[0], state[1]};
}

/// The reflectors of a packed block as columns: ones on the diagonal, zeros above.
Expr Reflectors(const Expr& packed) {
  const Expr rows = RowNumbers(packed), columns = ColumnNumbers(packed);
  return Select(Gt(rows, columns), packed, IdentityLike(packed));
}

/// T with H_1·H_2·… = I - Y·T·Yᴴ: upper triangular, taus on the diagonal, T[:j, j] = -tau_j·T·(Yᴴ·y_j).
Expr CompactFactor(Maker& at, const Expr& y, const Expr& taus) {
  const int64_t batch = y.dim(0), k = y.dim(2);
  const Expr gram = MatMul(Adjoint(y), y);
  return CountedLoop(at, "qr_compact", k, {gram, taus, FullOf(at, y.type(), {batch, k, k}, 0)},
                     [&](Maker&, const Expr& j, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                       const Expr tau = DynamicSliceOf(s[1], {0, j}, {batch, 1}).Reshape({batch});
                       const Expr column = DynamicSliceOf(s[0], {0, 0, j}, {batch, k, 1});
                       const Expr wide_tau = tau.Broadcast({batch, k, 1}, {0});
                       // T has zeros from column j on, so that only the reflectors before j count.
                       const Expr above = Neg(wide_tau) * MatMul(s[2], column);
                       const Expr next = Select(Eq(RowNumbers(above), j), wide_tau, above);
                       return {s[0], s[1], DynamicUpdateOf(s[2], next, {0, 0, j})};
                     })[2];
}

Packed Factor(Maker& make, Expr a, int64_t block) {
  const int64_t m = a.dim(1), n = a.dim(2), k = std::min(m, n);
  llvm::SmallVector<Expr, 8> taus;
  for (int64_t i = 0; i < k; i += block) {
    const int64_t end = std::min(k, i + block);
    const Packed done = FactorBlock(make, Columns(Rows(a, i, m), i, end));
    taus.push_back(done.taus);
    a = DynamicUpdateOf(a, done.a, {0, i, i});
    if (end == n) continue;
    const Expr y = Reflectors(done.a), t = CompactFactor(make, y, done.taus);
    const Expr rest = Columns(Rows(a, i, m), end, n);
    const Expr reflected = rest - MatMul(y, MatMul(Adjoint(t), MatMul(Adjoint(y), rest)));
    a = DynamicUpdateOf(a, reflected, {0, i, end});
  }
  return {a, Concat(taus, 1)};
}

/// H_1·H_2·…·I, from the last block to the first.
Expr FormQ(Maker& make, const Packed& packed, int64_t block) {
  const int64_t m = packed.a.dim(1), n = packed.a.dim(2), k = packed.taus.dim(1);
  Expr q = IdentityLike(packed.a);
  for (int64_t i = (k - 1) / block * block; i >= 0; i -= block) {
    const int64_t end = std::min(k, i + block);
    const Expr y = Reflectors(Columns(Rows(packed.a, i, m), i, end));
    const Expr t = CompactFactor(make, y, packed.taus.Slice(1, i, end));
    const Expr rest = Columns(Rows(q, i, m), i, n);
    q = DynamicUpdateOf(q, rest - MatMul(y, MatMul(t, MatMul(Adjoint(y), rest))), {0, i, i});
  }
  return q;
}

bool IsMatrix(const Shape& shape) {
  return shape.IsArray() && shape.rank() >= 2 &&
         (IsFloat(shape.element_type()) || IsComplex(shape.element_type()));
}

/// [..., k] with the batch dimensions of the matrices.
bool IsTaus(const Shape& taus, const Shape& a, int64_t k) {
  return taus.IsArray() && taus.rank() == a.rank() - 1 && taus.element_type() == a.element_type() &&
         taus.dims().drop_back() == a.dims().drop_back(2) && taus.dims().back() == k;
}

enum class Target { None, Qr, Product };

Target Match(const Instruction& inst) {
  const auto* attrs = inst.attrs().GetIf<CustomCallAttrs>();
  if (!attrs || inst.operand_count() == 0 || !HasStaticShapes(inst)) return Target::None;
  const Shape& a = inst.operand(0)->shape();
  const Shape& shape = inst.shape();
  if (!IsMatrix(a)) return Target::None;
  const int64_t m = a.dim(a.rank() - 2), n = a.dims().back();
  if (attrs->custom_call_target == "Qr") {
    const bool fits = inst.operand_count() == 1 && shape.IsTuple() && shape.tuple_size() == 2 &&
                      Compatible(shape.tuple_shape(0), a) && IsTaus(shape.tuple_shape(1), a, std::min(m, n));
    return fits ? Target::Qr : Target::None;
  }
  if (attrs->custom_call_target != "ProductOfElementaryHouseholderReflectors") return Target::None;
  if (inst.operand_count() != 2 || !Compatible(shape, a)) return Target::None;
  const Shape& taus = inst.operand(1)->shape();
  const bool fits = taus.IsArray() && taus.rank() > 0 && IsTaus(taus, a, taus.dims().back()) &&
                    taus.dims().back() <= n && n <= m;
  return fits ? Target::Product : Target::None;
}

Instruction* Make(Instruction* inst, int64_t block) {
  Maker make(inst);
  const Expr a = AsMatrices(make, inst->operand(0));
  const int64_t batch = a.dim(0);
  if (Match(*inst) == Target::Qr) {
    const Shape &packed_shape = inst->shape().tuple_shape(0), &taus_shape = inst->shape().tuple_shape(1);
    if (a.shape().ElementCount() == 0)
      return make.Tuple({inst->operand(0), make.Full(taus_shape.WithDefaultLayouts(), 0)});
    const Packed packed = Factor(make, a, block);
    return make.Tuple({FromMatrices(packed.a, packed_shape), FromMatrices(packed.taus, taus_shape)});
  }
  const Expr taus = Expr(make, inst->operand(1)).To(a.type());
  const int64_t k = taus.shape().dims().back();
  if (a.shape().ElementCount() == 0) return inst->operand(0);
  return FromMatrices(FormQ(make, {a, taus.Reshape({batch, k})}, block), inst->shape());
}

llvm::ArrayRef<PassOptionRow> QrExpanderOptions::Rows() { return kRows; }

Result<bool> RunQrExpander(Module& module, const QrExpanderOptions& options, PassContext& context) {
  const int64_t block = std::max<int64_t>(1, options.block_size);
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return Match(inst) != Target::None; },
      [&](Instruction* inst) -> Result<Instruction*> { return Make(inst, block); });
}

}  // namespace

HLO_DEFINE_PASS(QrExpander, QrExpanderOptions);

}  // namespace hlo
