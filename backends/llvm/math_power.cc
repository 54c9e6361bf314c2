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

}  // namespace

Value* EmitPower32(Math& m, llvm::ArrayRef<Value*> operands) {
  Value *x = operands[0], *y = operands[1], *a = m.Abs(x);
  Math wide = m.Wide();
  Value* log = WideLog2(wide, m.Widen(a));
  Value* result = m.Narrow(WideExp2(wide, wide.Mul(m.Widen(y), log)));
  // Negative numbers have powers with whole exponents, and those of odd ones are negative.
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
