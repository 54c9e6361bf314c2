// power and cbrt.
#include "backends/llvm/math.h"

namespace hlo::codegen {

using llvm::Value;

namespace {

struct Pair {
  Value* high;
  Value* low;
};

/// Of f32: 1 / r[j] near the middle of 16 parts of [3/4, 3/2), told by the leading bits of a mantissa, and
/// -log(r[j]), 16 bits behind the point and the rest.
constexpr int kIndexBits = 4;  // of a mantissa, that tell its part
constexpr double kInverse[16] = {0x1p+0,        0x1.d41d42p-1, 0x1.bacf92p-1, 0x1.a41a42p-1,
                                 0x1.8f9c18p-1, 0x1.7d05f4p-1, 0x1.6c16c2p-1, 0x1.5c9882p-1,
                                 0x1.4e5e0ap+0, 0x1.414142p+0, 0x1.3521dp+0,  0x1.29e412p+0,
                                 0x1.1f7048p+0, 0x1.15b1e6p+0, 0x1.0c9714p+0, 0x1p+0};
constexpr double kLogHigh[16] = {0,
                                 0x1.6f1p-4,
                                 0x1.2958p-3,
                                 0x1.9528p-3,
                                 0x1.fb9p-3,
                                 0x1.2e9p-2,
                                 0x1.5d1cp-2,
                                 0x1.89a4p-2,
                                 -0x1.1178p-2,
                                 -0x1.d1p-3,
                                 -0x1.824p-3,
                                 -0x1.366p-3,
                                 -0x1.da7p-4,
                                 -0x1.4d3p-4,
                                 -0x1.894p-5,
                                 0};
constexpr double kLogLow[16] = {0,
                                -0x1.6c68d4p-19,
                                -0x1.69dfp-18,
                                -0x1.2bf85ep-18,
                                0x1.8bd5e4p-19,
                                -0x1.d411eep-18,
                                -0x1.2d53fcp-21,
                                -0x1.8ae7d8p-19,
                                -0x1.cd84fcp-19,
                                -0x1.c1f32ap-18,
                                0x1.f3d572p-18,
                                0x1.c9f538p-22,
                                -0x1.3c1c22p-19,
                                -0x1.165208p-20,
                                -0x1.506940p-18,
                                0};

/// log of a >= 0 of f32 with a second word of less than 2^-9 of the first: error 2^-32; NaN of 0 and
/// infinity.
Pair PreciseLog32(Math& m, Value* a) {
  // log(1 + f) = f - f^2/2 + f^3 q(f), |f| <= 1/16: minimax, error 2^-33 f.
  constexpr double kQ[] = {0x1.555558p-2, -0x1.000316p-2, 0x1.99b5d8p-3, -0x1.401892p-3};
  const Math::Parts parts = m.Split(a);
  Value* index = m.b.CreateLShr(m.Bits(parts.mantissa), m.I(kF32.mantissa_bits - kIndexBits));
  Value* inverse = m.Lookup(kInverse, index);
  // mantissa * inverse = 1 + f + f_low exactly.
  Value* product = m.Mul(parts.mantissa, inverse);
  Value* f_low = m.Fma(parts.mantissa, inverse, m.Neg(product));
  Value* f = m.Sub(product, m.C(1));
  Value* square = m.Mul(f, f);
  Value* square_low = m.Fma(f, f, m.Neg(square));
  Value* near = m.Fma(square, -0.5, f);
  Value* low = m.Fma(square, -0.5, m.Sub(f, near));
  low = m.Fma(m.Mul(square, f), m.PolyByPairs(f, square, kQ), m.Fma(square_low, -0.5, low));
  low = m.Fma(m.Neg(f), f_low, m.Add(low, f_low));
  // + e ln 2 - log(inverse), whose high words are short: their sum is exact.
  Value* far = m.Fma(parts.exponent, 0x1.62e4p-1, m.Lookup(kLogHigh, index));
  Value* far_low = m.Fma(parts.exponent, 0x1.7f7d1cp-20, m.Lookup(kLogLow, index));
  Value* high = m.Add(far, near);
  low = m.Add(m.Add(m.Sub(near, m.Sub(high, far)), far_low), low);
  if (m.has_exponents()) return {high, low};
  Value* has_log = m.b.CreateAnd(m.Less(m.C(0), a), m.Less(a, m.Inf()));
  return {m.Select(has_log, high, m.NaN()), low};
}

/// log of a >= 0 of f64 with twice the precision, error 2^-64.
Pair PreciseLog(Math& m, Value* a) {
  Value* small = m.Less(a, kLeastNormal64);
  Value* bits = m.Bits(m.Select(small, m.Mul(a, kPowerUp64), a));
  Value* e = m.b.CreateAShr(m.b.CreateSub(bits, m.I(kBitsOfRootOfHalf64)), m.I(m.mantissa_bits()));
  Value* mantissa = m.FromBits(m.b.CreateSub(bits, m.b.CreateShl(e, m.I(m.mantissa_bits()))));
  e = m.ToFloat(m.b.CreateSub(e, m.Select(small, m.I(kUp64), m.I(0))));
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
  constexpr double kTwoThirds = 2.0 / 3, kTwoThirdsLow = 0x1.5555555555555p-55;
  Value* p = m.Add(m.C(kTwoThirds), tail);
  Value* p_low = m.Add(m.Add(m.Sub(m.C(kTwoThirds), p), tail), m.C(kTwoThirdsLow));
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

/// The power of x that is no negative number is `result`; of others: numbers below 0 have powers with whole
/// exponents, and those of odd ones are negative.
Value* OfNegative(Math& m, Value* x, Value* y, Value* result) {
  Value* whole = m.Equal(m.Trunc(y), y);
  Value* half = m.Mul(y, 0.5);
  Value* odd = m.b.CreateAnd(whole, m.b.CreateFCmpONE(m.Trunc(half), half));
  Value* finite = m.b.CreateAnd(m.Less(x, 0.0), m.b.CreateFCmpOGT(x, m.Neg(m.Inf())));
  result = m.Select(m.b.CreateAnd(finite, m.b.CreateNot(whole)), m.NaN(), result);
  return m.Select(odd, m.Neg(result), result);
}

/// The power of |x| where y log|x| is NaN, or would be with logarithms of 0 and infinity; elsewhere, or where
/// x or y is NaN, `result`.
Value* AtEnds(Math& m, Value* x, Value* y, Value* result) {
  Value *zero = m.Equal(x, 0.0), *infinite = m.Equal(m.Abs(x), m.Inf());
  Value* vanishes = m.b.CreateXor(zero, m.Less(y, 0.0));
  Value* end = m.Select(m.IsNan(y), y, m.Select(vanishes, m.C(0), m.Inf()));
  // 1^y, x^0 and (-1)^inf are 1, also of NaN.
  Value* one = m.b.CreateOr(m.Equal(x, 1.0), m.Equal(y, 0.0));
  one = m.b.CreateOr(one, m.b.CreateAnd(m.Equal(x, -1.0), m.Equal(m.Abs(y), m.Inf())));
  return m.Select(one, m.C(1), m.Select(m.b.CreateOr(zero, infinite), end, result));
}

/// The power of x with that of |x|.
Value* Signed(Math& m, Value* x, Value* y, Value* result) {
  return m.InRareCase(m.Negative(x), {result},
                      [&]() -> llvm::SmallVector<Value*, 2> { return {OfNegative(m, x, y, result)}; })[0];
}

}  // namespace

Value* EmitPower32(Math& m, llvm::ArrayRef<Value*> x) {
  const Pair log = PreciseLog32(m, m.Abs(x[0]));
  Value* high = m.Mul(x[1], log.high);
  Value* low = m.Fma(x[1], log.low, m.Fma(x[1], log.high, m.Neg(high)));
  // What overflows, vanishes, is subnormal or NaN.
  Value* far = m.b.CreateFCmpUGE(m.Abs(high), m.C(kMiddle32));
  Value* usual = MiddleExpOfSum32(m, high, low);
  Value* power = m.InRareCase(far, {usual}, [&]() -> llvm::SmallVector<Value*, 2> {
    Value* result = ExpOfSum32(m, high, low);
    return {m.Select(m.IsNan(high), AtEnds(m, x[0], x[1], result), result)};
  })[0];
  return Signed(m, x[0], x[1], power);
}

Value* EmitPower64(Math& m, llvm::ArrayRef<Value*> x) {
  const Pair log = PreciseLog(m, m.Abs(x[0]));
  Value* high = m.Mul(x[1], log.high);
  Value* low = m.Fma(x[1], log.low, m.Fma(x[1], log.high, m.Neg(high)));
  constexpr double kBeyond = 800;  // where results overflow or vanish whatever the low part
  Value* counts = m.Less(m.Abs(high), kBeyond);
  Value* power = ExpOfSum64(m, high, m.Select(counts, low, m.C(0)));
  power = m.InRareCase(m.IsNan(high), {power},
                       [&]() -> llvm::SmallVector<Value*, 2> { return {AtEnds(m, x[0], x[1], power)}; })[0];
  return Signed(m, x[0], x[1], power);
}

Value* EmitCbrt64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  // Away from the ends of the range, by a power whose root is one.
  constexpr double kLarge = 0x1p900, kCube = 0x1p300, kRoot = 0x1p100;
  Value *small = m.Less(a, 1 / kLarge), *big = m.b.CreateFCmpOGT(a, m.C(kLarge));
  Value* up = m.Select(small, m.C(kCube), m.Select(big, m.C(1 / kCube), m.C(1)));
  Value* down = m.Select(small, m.C(1 / kRoot), m.Select(big, m.C(kRoot), m.C(1)));
  Value* v = m.Mul(a, up);
  // A third of the exponent: within 5 %.
  constexpr double kThird = 1.0 / 3, kRest = kWhole64 * (kF64.bias * 2.0 / 3 - 0.0331);
  Value* third = m.Fma(m.ToFloat(m.Bits(v)), kThird, m.C(kRest));
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
  constexpr double kOfSlope = 3;  // the slope of y^3 is 3 y^2
  y = m.Add(y, m.Div(m.Sub(m.Sub(v, cube), cube_error), m.Mul(square, kOfSlope)));
  Value* ordinary = m.b.CreateAnd(m.Less(m.C(0), a), m.Less(a, m.Inf()));
  return m.Select(ordinary, m.CopySign(m.Mul(y, down), x[0]), x[0]);
}

}  // namespace hlo::codegen
