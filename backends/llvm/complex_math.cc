// Complex functions by their real and imaginary parts; special values are those of the C library (Annex G).
#include "backends/llvm/complex_math.h"
#include "backends/llvm/floats.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

Value* IsFinite(Math& m, Value* x) { return m.b.CreateFCmpOLT(m.Abs(x), m.Inf()); }
Value* IsFinite(Math& m, Parts z) { return m.b.CreateAnd(IsFinite(m, z.re), IsFinite(m, z.im)); }
Value* IsInf(Math& m, Value* x) { return m.b.CreateFCmpOEQ(m.Abs(x), m.Inf()); }
Value* HasInf(Math& m, Parts z) { return m.b.CreateOr(IsInf(m, z.re), IsInf(m, z.im)); }
Value* IsZero(Math& m, Parts z) { return m.b.CreateAnd(m.Equal(z.re, 0.0), m.Equal(z.im, 0.0)); }
Value* Not(Math& m, Value* x) { return m.b.CreateNot(x); }
Parts Select(Math& m, Value* condition, Parts x, Parts y) {
  return {m.Select(condition, x.re, y.re), m.Select(condition, x.im, y.im)};
}
Value* Larger(Math& m, Parts z) {
  Value *a = m.Abs(z.re), *b = m.Abs(z.im);
  return m.Select(m.Less(a, b), b, a);
}
Value* Function(Math& m, llvm::Value* (*f)(Math&, llvm::ArrayRef<Value*>), Value* x) { return f(m, {x}); }
Parts Rare(Math& m, Value* condition, Parts usual, llvm::function_ref<Parts()> rare) {
  const auto values = m.InRareCase(condition, {usual.re, usual.im}, [&]() -> llvm::SmallVector<Value*, 2> {
    const Parts z = rare();
    return {z.re, z.im};
  });
  return {values[0], values[1]};
}

/// z 2^-exponent, whose larger part is near 1 unless z is 0 or not finite. Even exponents have roots.
struct Scaled {
  Parts z;
  Value* exponent;  // as an integer
};
Scaled ScaleDown(Math& m, Parts z, PartRange range, bool even) {
  if (range == PartRange::OfF32) return {z, m.I(0)};
  Value* biased = m.b.CreateLShr(m.Bits(Larger(m, z)), m.I(m.mantissa_bits()));
  Value* exponent = m.b.CreateSub(biased, m.I(m.bias()));
  if (even) exponent = m.b.CreateAnd(exponent, m.I(-2));
  constexpr int64_t kMost = kF64.bias - 1;  // its opposite is the exponent of a normal number
  exponent = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exponent, m.I(-kMost));
  exponent = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, exponent, m.I(kMost));
  Value* factor = m.PowerOfTwo(m.b.CreateNeg(exponent));
  return {{m.Mul(z.re, factor), m.Mul(z.im, factor)}, exponent};
}
Value* ScaleUp(Math& m, Value* x, Value* exponent, PartRange range) {
  return range == PartRange::OfF32 ? x : m.Scale(x, exponent);
}
Parts ScaleUp(Math& m, Parts z, Value* exponent, PartRange range) {
  return {ScaleUp(m, z.re, exponent, range), ScaleUp(m, z.im, exponent, range)};
}

Value* SquareOfAbs(Math& m, Parts z) { return m.Fma(z.re, z.re, m.Mul(z.im, z.im)); }

Parts EmitMultiply(Math& m, llvm::ArrayRef<Parts> x, PartRange) {
  const auto [a, b] = x[0];
  const auto [c, d] = x[1];
  return {m.Sub(m.Mul(a, c), m.Mul(b, d)), m.Add(m.Mul(a, d), m.Mul(b, c))};
}

/// (ac + bd, bc - ad)
Parts TimesConjugate(Math& m, Parts x, Parts y) {
  return {m.Add(m.Mul(x.re, y.re), m.Mul(x.im, y.im)), m.Sub(m.Mul(x.im, y.re), m.Mul(x.re, y.im))};
}

/// Infinite parts become +-1, the others signed zeros.
Parts UnitInfinities(Math& m, Parts z) {
  const auto unit = [&](Value* x) { return m.CopySign(m.Select(IsInf(m, x), m.C(1), m.C(0)), x); };
  return {unit(z.re), unit(z.im)};
}

Parts EmitDivide(Math& m, llvm::ArrayRef<Parts> operands, PartRange range) {
  const Parts x = operands[0], y = operands[1];
  const Scaled n = ScaleDown(m, x, range, false), d = ScaleDown(m, y, range, false);
  const Parts product = TimesConjugate(m, n.z, d.z);
  Value* norm = m.Add(m.Mul(d.z.re, d.z.re), m.Mul(d.z.im, d.z.im));
  const Parts quotient = ScaleUp(m, {m.Div(product.re, norm), m.Div(product.im, norm)},
                                 m.b.CreateSub(n.exponent, d.exponent), range);
  Value* usual = m.b.CreateAnd(m.b.CreateAnd(IsFinite(m, x), IsFinite(m, y)),
                               Not(m, m.b.CreateOr(IsZero(m, x), IsZero(m, y))));
  return Rare(m, Not(m, usual), quotient, [&]() -> Parts {
    const auto times = [&](Value* factor, Parts z) -> Parts {
      return {m.Mul(factor, z.re), m.Mul(factor, z.im)};
    };
    Value *finite_x = IsFinite(m, x), *finite_y = IsFinite(m, y);
    Parts result = {m.NaN(), m.NaN()};
    result = Select(m, m.b.CreateAnd(finite_x, HasInf(m, y)),
                    times(m.C(0), TimesConjugate(m, x, UnitInfinities(m, y))), result);
    result = Select(m, m.b.CreateAnd(HasInf(m, x), finite_y),
                    times(m.Inf(), TimesConjugate(m, UnitInfinities(m, x), y)), result);
    Value* zero = m.b.CreateAnd(m.b.CreateAnd(finite_x, finite_y), IsZero(m, x));
    result = Select(m, zero, times(y.re, x), result);
    Value* nan = m.b.CreateAnd(m.IsNan(x.re), m.IsNan(x.im));
    Value* by_zero = m.b.CreateAnd(IsZero(m, y), Not(m, nan));
    return Select(m, by_zero, times(m.CopySign(m.Inf(), y.re), x), result);
  });
}

/// Root and absolute value of z 2^-exponent.
struct Root {
  Parts root;
  Value *abs, *exponent;
};
Root RootOf(Math& m, Parts z, PartRange range) {
  const Scaled scaled = ScaleDown(m, z, range, true);
  const auto [a, b] = scaled.z;
  Value* abs = m.Sqrt(SquareOfAbs(m, scaled.z));
  Value* t = m.Sqrt(m.Mul(m.Add(m.Abs(a), abs), 0.5));
  Value* u = m.Div(b, m.Add(t, t));
  Value* right = m.Less(m.C(0), a);
  const Parts root = {m.Select(right, t, m.Abs(u)), m.Select(right, u, m.CopySign(t, b))};
  return {root, abs, scaled.exponent};
}

Value* HalfOf(Math& m, Value* exponent) { return m.b.CreateAShr(exponent, m.I(1)); }

Parts EmitSqrt(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = {x[0].re, m.Select(m.Equal(x[0].im, 0.0), m.C(0), x[0].im)};
  const Root root = RootOf(m, z, range);
  const Parts usual = ScaleUp(m, root.root, HalfOf(m, root.exponent), range);
  Value* rare = m.b.CreateOr(Not(m, IsFinite(m, z)), IsZero(m, z));
  return Rare(m, rare, usual, [&]() -> Parts {
    Value *nan_b = m.IsNan(z.im), *infinite = IsInf(m, z.re), *left = m.Negative(z.re);
    Value* edge = m.Select(nan_b, m.NaN(), m.C(0));
    Parts result = {m.NaN(), m.NaN()};
    result = Select(m, m.b.CreateAnd(infinite, left), {edge, m.CopySign(m.Inf(), z.im)}, result);
    result = Select(m, m.b.CreateAnd(infinite, Not(m, left)), {m.Inf(), m.CopySign(edge, z.im)}, result);
    result = Select(m, IsInf(m, z.im), {m.Inf(), z.im}, result);
    return Select(m, IsZero(m, z), {m.C(0), z.im}, result);
  });
}

Parts EmitRsqrt(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = x[0];
  const Root root = RootOf(m, z, range);
  const Parts inverse = {m.Div(root.root.re, root.abs), m.Neg(m.Div(root.root.im, root.abs))};
  const Parts usual = ScaleUp(m, inverse, m.b.CreateNeg(HalfOf(m, root.exponent)), range);
  Value* rare = m.b.CreateOr(Not(m, IsFinite(m, z)), IsZero(m, z));
  return Rare(m, rare, usual, [&]() -> Parts {
    const Parts zeros = {m.CopySign(m.C(0), z.re), m.CopySign(m.C(0), m.Neg(z.im))};
    const Parts result = Select(m, HasInf(m, z), zeros, {m.NaN(), m.NaN()});
    return Select(m, IsZero(m, z), {m.Inf(), m.NaN()}, result);
  });
}

Parts EmitSign(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = ScaleDown(m, x[0], range, false).z;
  Value* abs = m.Sqrt(SquareOfAbs(m, z));
  const Parts usual = {m.Div(z.re, abs), m.Div(z.im, abs)};
  Value* rare = m.b.CreateOr(Not(m, IsFinite(m, x[0])), IsZero(m, x[0]));
  return Rare(m, rare, usual, [&]() -> Parts {
    Value* norm = m.Select(HasInf(m, x[0]), m.Inf(), m.NaN());
    const Parts result = {m.Div(x[0].re, norm), m.Div(x[0].im, norm)};
    return Select(m, IsZero(m, x[0]), {m.C(0), m.C(0)}, result);
  });
}

/// Exponentials of f64 are finite up to here.
constexpr double kFiniteExp = 709;

/// exp(a) (cos b, sin b)
Parts EmitExpOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const auto [a, b] = x[0];
  Value *exp = Function(m, &EmitExp, a), *cos = Function(m, &EmitCos, b), *sin = Function(m, &EmitSin, b);
  Value* real = m.Equal(b, 0.0);
  const Parts usual = {m.Mul(exp, cos), m.Select(real, b, m.Mul(exp, sin))};
  Value* rare = Not(m, IsFinite(m, x[0]));
  if (range == PartRange::OfF64) rare = m.b.CreateOr(rare, m.b.CreateFCmpOGT(a, m.C(kFiniteExp)));
  return Rare(m, rare, usual, [&]() -> Parts {
    // The exponential alone may overflow.
    Value* half = Function(m, &EmitExp, m.Mul(a, 0.5));
    Parts result = {m.Mul(m.Mul(half, cos), half), m.Select(real, b, m.Mul(m.Mul(half, sin), half))};
    Value* lost = m.b.CreateAnd(IsInf(m, a), Not(m, IsFinite(m, b)));
    const Parts limit = Select(m, m.Negative(a), {m.C(0), m.C(0)}, {m.Inf(), m.NaN()});
    return Select(m, lost, limit, result);
  });
}

Value* Argument(Math& m, Parts z) { return EmitAtan264(m, {z.im, z.re}); }

/// log1p(square - 1) / 2 of |z|^2 near 1, without cancellation.
Value* HalfLogNearOne(Math& m, Parts z) {
  Value *a = m.Abs(z.re), *b = m.Abs(z.im);
  Value* swap = m.Less(a, b);
  Value *l = m.Select(swap, b, a), *s = m.Select(swap, a, b);
  Value* excess = m.Fma(m.Sub(l, m.C(1)), m.Add(l, m.C(1)), m.Mul(s, s));
  return m.Mul(Function(m, &EmitLog1p64, excess), 0.5);
}

Parts EmitLogOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = x[0];
  const Scaled scaled = ScaleDown(m, z, range, false);
  Value* far = m.Mul(Function(m, &EmitLog64, SquareOfAbs(m, scaled.z)), 0.5);
  if (range == PartRange::OfF64) far = m.Fma(m.ToFloat(scaled.exponent), m.C(0x1.62e42fefa39efp-1), far);
  Value* square = SquareOfAbs(m, z);
  Value* near = m.b.CreateAnd(m.Less(m.C(0.5), square), m.Less(square, 2));
  Value* re = m.Select(near, HalfLogNearOne(m, z), far);
  return {m.Select(HasInf(m, z), m.Inf(), re), Argument(m, z)};
}

Parts EmitLog1pOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const auto [a, b] = x[0];
  const Parts moved = {m.Add(a, m.C(1)), b};
  // |1+z|^2 - 1 = a (2 + a) + b^2
  Value* excess = m.Fma(a, m.Add(a, m.C(2)), m.Mul(b, b));
  Value* re = m.Mul(Function(m, &EmitLog1p64, excess), 0.5);
  re = m.Select(m.Less(excess, -0.5), m.Mul(Function(m, &EmitLog64, SquareOfAbs(m, moved)), 0.5), re);
  Value* real = m.b.CreateAnd(m.Equal(b, 0.0), m.b.CreateFCmpOGE(a, m.C(-1)));
  re = m.Select(real, Function(m, &EmitLog1p64, a), re);
  const Parts usual = {re, m.Select(real, b, Argument(m, moved))};
  constexpr double kSquares = 0x1p30;  // from here on the one that is added hardly counts
  Value* rare = Not(m, m.Less(Larger(m, x[0]), kSquares));
  rare = m.b.CreateOr(rare, Not(m, IsFinite(m, x[0])));
  return Rare(m, rare, usual, [&] { return EmitLogOf(m, moved, range); });
}

Parts EmitExpm1Of(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const auto [a, b] = x[0];
  Value* half_sine = Function(m, &EmitSin, m.Mul(b, 0.5));
  Value* cos = m.Mul(Function(m, &EmitExpm1, a), Function(m, &EmitCos, b));
  const Parts usual = {m.Fma(m.Mul(half_sine, -2), half_sine, cos),
                       m.Mul(Function(m, &EmitExp, a), Function(m, &EmitSin, b))};
  constexpr double kFinite = 700;  // up to here all products are
  Value* rare = m.b.CreateOr(Not(m, IsFinite(m, x[0])), m.b.CreateFCmpOGT(a, m.C(kFinite)));
  return Rare(m, rare, usual, [&]() -> Parts {
    const Parts exp = EmitExpOf(m, x, range);
    return {m.Sub(exp.re, m.C(1)), exp.im};
  });
}

Parts EmitLogisticOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const auto [a, b] = x[0];
  Value* minus_a = m.Neg(a);
  Value* half_cosine = Function(m, &EmitCos, m.Mul(b, 0.5));
  // 1 + exp(-z), written so that it does not cancel near its zeros.
  Value* rest = m.Mul(Function(m, &EmitExpm1, minus_a), Function(m, &EmitCos, b));
  Value* re = m.Fma(m.Mul(half_cosine, 2), half_cosine, rest);
  Value* im = m.Mul(Function(m, &EmitExp, minus_a), Function(m, &EmitSin, b));
  Value* norm = SquareOfAbs(m, {re, im});
  const Parts usual = {m.Div(re, norm), m.Div(im, norm)};
  constexpr double kVanishes = -40;  // below it 1 + exp(a) is 1
  Value* rare = m.b.CreateOr(Not(m, IsFinite(m, x[0])), m.Less(a, kVanishes));
  return Rare(m, rare, usual, [&]() -> Parts {
    const Parts exp = EmitExpOf(m, Parts{minus_a, m.Neg(b)}, range);
    const Parts quotient =
        EmitDivide(m, {Parts{m.C(1), m.C(0)}, Parts{m.Add(exp.re, m.C(1)), exp.im}}, range);
    return Select(m, m.b.CreateAnd(m.Less(a, kVanishes), IsFinite(m, x[0])), EmitExpOf(m, x, range),
                  quotient);
  });
}

/// Products in which zeros stay zeros, whatever they are multiplied with.
Value* ZeroWins(Math& m, Value* x, Value* y) {
  Value* sign = m.b.CreateAnd(m.b.CreateXor(m.Bits(x), m.Bits(y)), m.I(std::numeric_limits<int64_t>::min()));
  return m.Select(m.b.CreateOr(m.Equal(x, 0.0), m.Equal(y, 0.0)), m.FromBits(sign), m.Mul(x, y));
}
/// (f(a) cos b, g(a) sin b) of hyperbolic functions f and g. Where the sign is lost the first is `limit`.
Parts Hyperbolic(Math& m, Parts z, Value* f, Value* g, Value* limit) {
  Value *cos = Function(m, &EmitCos, z.im), *sin = Function(m, &EmitSin, z.im);
  const Parts usual = {m.Mul(f, cos), m.Mul(g, sin)};
  Value* rare = Not(m, IsFinite(m, usual));
  return Rare(m, rare, usual, [&]() -> Parts {
    Value* lost = m.b.CreateAnd(IsInf(m, z.re), Not(m, IsFinite(m, z.im)));
    return {m.Select(lost, limit, ZeroWins(m, f, cos)), ZeroWins(m, g, sin)};
  });
}
Parts Sinh(Math& m, Parts z, Value* limit) {
  return Hyperbolic(m, z, Function(m, &EmitSinh64, z.re), Function(m, &EmitCosh64, z.re), limit);
}
Parts EmitSinhOf(Math& m, llvm::ArrayRef<Parts> x, PartRange) { return Sinh(m, x[0], m.Inf()); }
Parts EmitCoshOf(Math& m, llvm::ArrayRef<Parts> x, PartRange) {
  Value *sinh = Function(m, &EmitSinh64, x[0].re), *cosh = Function(m, &EmitCosh64, x[0].re);
  return Hyperbolic(m, x[0], cosh, sinh, m.Inf());
}
/// -i sinh(iz)
Parts EmitSinOf(Math& m, llvm::ArrayRef<Parts> x, PartRange) {
  const Parts z = Sinh(m, {m.Neg(x[0].im), x[0].re}, m.Neg(m.Inf()));
  return {z.im, m.Neg(z.re)};
}

Parts EmitTanhOf(Math& m, llvm::ArrayRef<Parts> x, PartRange) {
  constexpr double kOne = 20;  // where tanh rounds to 1
  const auto [a, b] = x[0];
  Value *cos = Function(m, &EmitCos, b), *sin = Function(m, &EmitSin, b);
  Value* near = m.AtMost(m.AtLeast(a, -kOne), kOne);
  Value *sinh = Function(m, &EmitSinh64, near), *cosh = Function(m, &EmitCosh64, near);
  Value* denominator = m.Fma(sinh, sinh, m.Mul(cos, cos));
  Value* product = m.Mul(sin, cos);
  Value* large = m.b.CreateFCmpOGT(m.Abs(a), m.C(kOne));
  constexpr double kOfDecay = 4;  // 1 / cosh^2 a is about 4 exp(-2 a)
  Value* decay = m.Mul(Function(m, &EmitExp, m.Mul(m.Abs(a), -2)), kOfDecay);
  const Parts usual = {m.Select(large, m.CopySign(m.C(1), a), m.Div(m.Mul(sinh, cosh), denominator)),
                       m.Select(large, m.Mul(product, decay), m.Div(product, denominator))};
  return Rare(m, Not(m, IsFinite(m, x[0])), usual, [&]() -> Parts {
    Value* real = m.Equal(b, 0.0);
    Parts result = {m.Select(m.Equal(a, 0.0), a, m.NaN()), m.Select(real, b, m.NaN())};
    Value* sign = m.Select(IsFinite(m, b), product, m.C(1));
    return Select(m, IsInf(m, a), {m.CopySign(m.C(1), a), m.CopySign(m.C(0), sign)}, result);
  });
}

/// -i tanh(iz)
Parts EmitTanOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = EmitTanhOf(m, Parts{m.Neg(x[0].im), x[0].re}, range);
  return {z.im, m.Neg(z.re)};
}
Parts EmitCosOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  return EmitCoshOf(m, Parts{m.Neg(x[0].im), x[0].re}, range);
}

Parts EmitPowerOf(Math& m, llvm::ArrayRef<Parts> x, PartRange range) {
  const Parts z = x[0], w = x[1];
  const Parts product = EmitMultiply(m, {w, EmitLogOf(m, z, range)}, range);
  Parts result = EmitExpOf(m, product, range);
  const Parts zero = {m.C(0), m.C(0)}, one = {m.C(1), m.C(0)};
  Value* positive = m.Less(m.C(0), w.re);
  Value* infinite = m.b.CreateAnd(HasInf(m, z), m.b.CreateAnd(m.Equal(w.im, 0.0), Not(m, m.IsNan(w.re))));
  result = Select(m, infinite, Select(m, positive, {m.Inf(), m.C(0)}, zero), result);
  result = Select(m, m.b.CreateAnd(IsZero(m, z), positive), zero, result);
  Value* z_is_one = m.b.CreateAnd(m.Equal(z.re, 1.0), m.Equal(z.im, 0.0));
  return Select(m, m.b.CreateOr(IsZero(m, w), z_is_one), one, result);
}

Parts EmitAtan2Of(Math& m, llvm::ArrayRef<Parts> operands, PartRange range) {
  const Parts y = operands[0], x = operands[1];
  const Parts numerator = {m.Sub(x.re, y.im), m.Add(x.im, y.re)};
  const Parts xx = EmitMultiply(m, {x, x}, range), yy = EmitMultiply(m, {y, y}, range);
  const Parts norm = EmitSqrt(m, Parts{m.Add(xx.re, yy.re), m.Add(xx.im, yy.im)}, PartRange::OfF64);
  const Parts log = EmitLogOf(m, EmitDivide(m, {numerator, norm}, PartRange::OfF64), PartRange::OfF64);
  return {log.im, m.Neg(log.re)};
}

struct Row {
  OpKind kind;
  ComplexFn fn;
  bool wide = true;  // also of c128
};
constexpr Row kRows[] = {
    {OpKind::Multiply, EmitMultiply},   {OpKind::Divide, EmitDivide}, {OpKind::Sqrt, EmitSqrt},
    {OpKind::Rsqrt, EmitRsqrt},         {OpKind::Sign, EmitSign},     {OpKind::Exp, EmitExpOf},
    {OpKind::Expm1, EmitExpm1Of},       {OpKind::Log, EmitLogOf},     {OpKind::Log1p, EmitLog1pOf},
    {OpKind::Logistic, EmitLogisticOf}, {OpKind::Sinh, EmitSinhOf},   {OpKind::Cosh, EmitCoshOf},
    {OpKind::Tanh, EmitTanhOf},         {OpKind::Sin, EmitSinOf},     {OpKind::Cos, EmitCosOf},
    {OpKind::Tan, EmitTanOf},           {OpKind::Power, EmitPowerOf}, {OpKind::Atan2, EmitAtan2Of},
};

}  // namespace

ComplexFn FindComplexMath(OpKind kind, PartRange range) {
  for (const Row& row : kRows)
    if (row.kind == kind) return row.wide || range == PartRange::OfF32 ? row.fn : nullptr;
  return nullptr;
}

Value* EmitComplexAbs(Math& m, Parts z, PartRange range) {
  const Scaled scaled = ScaleDown(m, z, range, false);
  Value* abs = ScaleUp(m, m.Sqrt(SquareOfAbs(m, scaled.z)), scaled.exponent, range);
  return m.Select(HasInf(m, z), m.Inf(), abs);
}

}  // namespace hlo::codegen
