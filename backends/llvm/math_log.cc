// log and log1p: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

struct Split {
  Value* e;  // integer
  Value* f;
};
/// Of positive normal x.
Split SplitExponent(Math& m, Value* x) {
  const int64_t root = m.f64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;  // sqrt(1/2)
  Value* bits = m.Bits(x);
  Value* e = m.b.CreateAShr(m.b.CreateSub(bits, m.I(root)), m.I(m.mantissa_bits()));
  Value* mantissa = m.FromBits(m.b.CreateSub(bits, m.b.CreateShl(e, m.I(m.mantissa_bits()))));
  return {e, m.Sub(mantissa, m.C(1))};
}

/// e ln 2 + log(1 + f)
Value* Combine(Math& m, Value* e, Value* f) {
  if (!m.f64()) {
    // log(1 + f) = f - f^2/2 + f^3 p(f): minimax, error 2^-30.
    constexpr double kP[] = {0x1.555546p-2,  -0x1.ffffeep-3, 0x1.99a546p-3,  -0x1.5562e0p-3, 0x1.2332b4p-3,
                             -0x1.fb4384p-4, 0x1.e65190p-4,  -0x1.e2e804p-4, 0x1.1b3ec4p-4};
    Value* square = m.Mul(f, f);
    Value* rest = m.Mul(m.Mul(square, f), m.Poly(f, kP));
    rest = m.Fma(e, 0x1.7f7d1cf79abcap-20, rest);
    rest = m.Fma(square, -0.5, rest);
    return m.Fma(e, 0x1.62e4p-1, m.Add(f, rest));
  }
  // s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + r(s^2)): Taylor, error 2^-58.
  constexpr double kR[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                           2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  Value* s = m.Div(f, m.Add(f, m.C(2)));
  Value* z = m.Mul(s, s);
  Value* half = m.Mul(m.Mul(f, 0.5), f);
  Value* rest = m.Mul(z, m.Poly(z, kR));
  Value* low = m.Fma(s, m.Add(half, rest), m.Mul(e, 0x1.ef35793c76730p-45));
  return m.Fma(e, 0x1.62e42fefa3800p-1, m.Sub(f, m.Sub(half, low)));
}

/// `argument`: what the logarithm is taken of; `x`: the operand.
Value* Specials(Math& m, Value* result, Value* argument, Value* x) {
  result = m.Select(m.Equal(argument, 0.0), m.Neg(m.Inf()), result);
  result = m.Select(m.b.CreateFCmpULT(argument, m.C(0)), m.NaN(), result);
  return m.Select(m.Equal(x, m.Inf()), x, result);
}

}  // namespace

Value* EmitLog(Math& m, llvm::ArrayRef<Value*> x) {
  // Subnormals become normal.
  Value* small = m.Less(x[0], m.f64() ? 0x1p-1022 : 0x1p-126);
  const int up = m.mantissa_bits() + 2;
  Value* normal = m.Select(small, m.Mul(x[0], m.f64() ? 0x1p54 : 0x1p25), x[0]);
  const Split split = SplitExponent(m, normal);
  Value* e = m.b.CreateSub(split.e, m.Select(small, m.I(up), m.I(0)));
  return Specials(m, Combine(m, m.ToFloat(e), split.f), x[0], x[0]);
}

Value* EmitLog1p(Math& m, llvm::ArrayRef<Value*> x) {
  // 1 + x = u + error exactly.
  Value* u = m.Add(x[0], m.C(1));
  Value* back = m.Sub(u, m.C(1));
  Value* error = m.Add(m.Sub(m.C(1), m.Sub(u, back)), m.Sub(x[0], back));
  const Split split = SplitExponent(m, u);
  // The error is less than a unit of u: where the exponent is large it does not count.
  Value* e = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, split.e, m.I(m.bias() / 2));
  Value* f = m.Fma(error, m.PowerOfTwo(m.b.CreateNeg(e)), split.f);
  Value* result = m.Select(m.Equal(x[0], 0.0), x[0], Combine(m, m.ToFloat(split.e), f));
  return Specials(m, result, u, x[0]);
}

namespace {
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kHuge = 0x1p60;  // where log(2 x) is asinh(x) and acosh(x)
}  // namespace

/// log1p(a + a^2 / (1 + sqrt(a^2 + 1)))
Value* EmitAsinh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  Value* s = m.Mul(a, a);
  Value* near = m.Add(a, m.Div(s, m.Add(m.C(1), m.Sqrt(m.Add(s, m.C(1))))));
  Value* huge = m.b.CreateFCmpOGT(a, m.C(kHuge));
  Value* result = EmitLog1p(m, {m.Select(huge, a, near)});
  return m.CopySign(m.Add(result, m.Select(huge, m.C(kLn2), m.C(0))), x[0]);
}

/// log1p(t + sqrt(t (t + 2))), t = x - 1
Value* EmitAcosh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* t = m.Sub(x[0], m.C(1));
  Value* near = m.Add(t, m.Sqrt(m.Fma(t, t, m.Add(t, t))));
  Value* huge = m.b.CreateFCmpOGT(x[0], m.C(kHuge));
  Value* result = EmitLog1p(m, {m.Select(huge, x[0], near)});
  result = m.Add(result, m.Select(huge, m.C(kLn2), m.C(0)));
  return m.Select(m.b.CreateFCmpULT(x[0], m.C(1)), m.NaN(), result);
}

/// log1p(2 a / (1 - a)) / 2
Value* EmitAtanh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  Value* ratio = m.Div(m.Add(a, a), m.Sub(m.C(1), a));
  return m.CopySign(m.Mul(EmitLog1p(m, {ratio}), 0.5), x[0]);
}

}  // namespace hlo::codegen
