// power and cbrt.
#include "backends/llvm/math.h"

namespace hlo::codegen {

using llvm::Value;

namespace {

/// log2 of a >= 0 of f64 that is an f32: error 2^-40.
Value* WideLog2(Math& m, Value* a) {
  Value* bits = m.Bits(a);
  Value* e = m.b.CreateAShr(m.b.CreateSub(bits, m.I(0x3fe6a09e667f3bcd)), m.I(52));
  Value* mantissa = m.FromBits(m.b.CreateSub(bits, m.b.CreateShl(e, m.I(52))));
  // 2 atanh(s) / ln 2 by an odd polynomial.
  constexpr double kP[] = {0x1.71547652b8250p+1, 0x1.ec709dc53e155p-1, 0x1.2776c290c2449p-1,
                           0x1.a61a3127f9858p-2, 0x1.4794e6127b0dep-2, 0x1.21b7f057b2a99p-2};
  Value* s = m.Div(m.Sub(mantissa, m.C(1)), m.Add(mantissa, m.C(1)));
  Value* log = m.Fma(s, m.Poly(m.Mul(s, s), kP), m.ToFloat(e));
  log = m.Select(m.Equal(a, 0.0), m.Neg(m.Inf()), log);
  return m.Select(m.b.CreateFCmpULT(a, m.Inf()), m.Select(m.IsNan(a), a, log), a);
}

/// 2^x for f32 results: error 2^-32.
Value* WideExp2(Math& m, Value* x) {
  constexpr double kP[] = {1,
                           0x1.62e42fefa35edp-1,
                           0x1.ebfbe046792c5p-3,
                           0x1.c6b08d89e68a4p-5,
                           0x1.3b2a1ac108b5fp-7,
                           0x1.5d879bc1e3763p-10,
                           0x1.4440afe4a7658p-13,
                           0x1.00a7eb86c0febp-16};
  Value* clamped = m.AtMost(m.AtLeast(x, -200), 200);
  const Math::Rounded k = m.RoundProduct(clamped, 1);
  return m.Mul(m.Poly(m.Sub(clamped, k.real), kP), m.PowerOfTwo(k.integer));
}

struct Pair {
  Value* high;
  Value* low;
};

/// log of a >= 0 of f64 with twice the precision, error 2^-64.
Pair PreciseLog(Math& m, Value* a) {
  Value* small = m.Less(a, 0x1p-1022);
  Value* bits = m.Bits(m.Select(small, m.Mul(a, 0x1p54), a));
  Value* e = m.b.CreateAShr(m.b.CreateSub(bits, m.I(0x3fe6a09e667f3bcd)), m.I(52));
  Value* mantissa = m.FromBits(m.b.CreateSub(bits, m.b.CreateShl(e, m.I(52))));
  e = m.ToFloat(m.b.CreateSub(e, m.Select(small, m.I(54), m.I(0))));
  // s = f / (2 + f), z = s^2
  Value* f = m.Sub(mantissa, m.C(1));
  Value* sum = m.Add(mantissa, m.C(1));
  Value* sum_low = m.Sub(mantissa, m.Sub(sum, m.C(1)));
  Value* inverse = m.Div(m.C(1), sum);
  Value* s = m.Mul(f, inverse);
  Value* rest = m.Fma(m.Neg(s), sum_low, m.Fma(m.Neg(s), sum, f));
  Value* s_low = m.Mul(rest, inverse);
  Value* z = m.Mul(s, s);
  Value* z_low = m.Fma(m.Add(s, s), s_low, m.Fma(s, s, m.Neg(z)));
  // p = 2/3 + 2/5 z + …
  constexpr double kQ[] = {2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                           2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25};
  Value* tail = m.Mul(z, m.Poly(z, kQ));
  Value* p = m.Add(m.C(2.0 / 3), tail);
  Value* p_low = m.Add(m.Add(m.Sub(m.C(2.0 / 3), p), tail), m.C(0x1.5555555555555p-55));
  // log(1 + f) = 2 s + s z p
  Value* t = m.Mul(z, p);
  Value* t_low = m.Fma(z, p_low, m.Fma(z_low, p, m.Fma(z, p, m.Neg(t))));
  Value* u = m.Mul(s, t);
  Value* u_low = m.Fma(s, t_low, m.Fma(s_low, t, m.Fma(s, t, m.Neg(u))));
  Value* twice = m.Add(s, s);
  Value* log = m.Add(twice, u);
  Value* log_low = m.Add(m.Add(m.Sub(twice, log), u), m.Add(m.Add(s_low, s_low), u_low));
  // + e ln 2
  Value* whole = m.Mul(e, 0x1.62e42fefa3800p-1);  // exact
  Value* high = m.Add(whole, log);
  Value* low = m.Add(m.Add(m.Sub(whole, high), log), m.Fma(e, 0x1.ef35793c76730p-45, log_low));
  Value* total = m.Add(high, low);
  low = m.Add(m.Sub(high, total), low);
  total = m.Select(m.Equal(a, 0.0), m.Neg(m.Inf()), total);
  return {m.Select(m.b.CreateFCmpULT(a, m.Inf()), m.Select(m.IsNan(a), a, total), a), low};
}

/// The power of |x| with the sign and the special cases of x^y.
Value* SignedPower(Math& m, Value* x, Value* y, Value* result) {
  // Negative numbers have powers with whole exponents, and those of odd ones are negative.
  Value* a = m.Abs(x);
  Value* whole = m.Equal(m.Trunc(y), y);
  Value* half = m.Mul(y, 0.5);
  Value* odd = m.b.CreateAnd(whole, m.b.CreateFCmpONE(m.Trunc(half), half));
  Value* finite_negative = m.b.CreateAnd(m.Less(x, 0.0), m.Less(a, m.Inf()));
  result = m.Select(m.b.CreateAnd(finite_negative, m.b.CreateNot(whole)), m.NaN(), result);
  result = m.Select(m.b.CreateAnd(odd, m.Negative(x)), m.Neg(result), result);
  // 1^y, x^0 and (-1)^inf are 1, also of NaN.
  Value* one = m.b.CreateOr(m.Equal(x, 1.0), m.Equal(y, 0.0));
  one = m.b.CreateOr(one, m.b.CreateAnd(m.Equal(x, -1.0), m.Equal(m.Abs(y), m.Inf())));
  return m.Select(one, m.C(1), result);
}

}  // namespace

Value* EmitPower32(Math& m, llvm::ArrayRef<Value*> x) {
  Math wide = m.Wide();
  Value* log = WideLog2(wide, m.Widen(m.Abs(x[0])));
  return SignedPower(m, x[0], x[1], m.Narrow(WideExp2(wide, wide.Mul(m.Widen(x[1]), log))));
}

Value* EmitPower64(Math& m, llvm::ArrayRef<Value*> x) {
  const Pair log = PreciseLog(m, m.Abs(x[0]));
  Value* high = m.Mul(x[1], log.high);
  Value* low = m.Fma(x[1], log.low, m.Fma(x[1], log.high, m.Neg(high)));
  // Beyond, results overflow or vanish whatever the low part.
  Value* counts = m.Less(m.Abs(high), 800.0);
  return SignedPower(m, x[0], x[1], ExpOfSum64(m, high, m.Select(counts, low, m.C(0))));
}

Value* EmitCbrt64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  // Away from the ends of the range.
  Value *small = m.Less(a, 0x1p-900), *big = m.b.CreateFCmpOGT(a, m.C(0x1p900));
  Value* up = m.Select(small, m.C(0x1p300), m.Select(big, m.C(0x1p-300), m.C(1)));
  Value* down = m.Select(small, m.C(0x1p-100), m.Select(big, m.C(0x1p100), m.C(1)));
  Value* v = m.Mul(a, up);
  // A third of the exponent: within 5 %.
  Value* third = m.Fma(m.ToFloat(m.Bits(v)), 1.0 / 3, m.C(0x1p52 * (1023 * 2.0 / 3 - 0.0331)));
  Value* y = m.FromBits(m.b.CreateFPToSI(third, m.IntType()));
  for (int i = 0; i < 2; ++i) {
    // y (y^3 + 2 v) / (2 y^3 + v)
    Value* cube = m.Mul(m.Mul(y, y), y);
    y = m.Mul(y, m.Div(m.Fma(v, 2, cube), m.Fma(cube, 2, v)));
  }
  // One Newton step on the exact residual v - y^3.
  Value* square = m.Mul(y, y);
  Value* square_error = m.Fma(y, y, m.Neg(square));
  Value* cube = m.Mul(square, y);
  Value* cube_error = m.Fma(square_error, y, m.Fma(square, y, m.Neg(cube)));
  y = m.Add(y, m.Div(m.Sub(m.Sub(v, cube), cube_error), m.Mul(square, 3)));
  Value* ordinary = m.b.CreateAnd(m.Less(m.C(0), a), m.Less(a, m.Inf()));
  return m.Select(ordinary, m.CopySign(m.Mul(y, down), x[0]), x[0]);
}

}  // namespace hlo::codegen
