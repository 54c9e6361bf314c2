// log and log1p, and what is made of them.
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

struct Exponent {
  Value* e;  // integer
  Value* f;
};
/// x = 2^e (1 + f) of positive normal f64 with 1 + f in [sqrt(1/2), sqrt(2)).
Exponent SplitExponent(Math& m, Value* x) {
  Value* bits = m.Bits(x);
  Value* e = m.b.CreateAShr(m.b.CreateSub(bits, m.I(kBitsOfRootOfHalf64)), m.I(m.mantissa_bits()));
  Value* mantissa = m.FromBits(m.b.CreateSub(bits, m.b.CreateShl(e, m.I(m.mantissa_bits()))));
  return {e, m.Sub(mantissa, m.C(1))};
}

/// Of f32: r[j] and -log(r[j]) for 16 parts of [3/4, 3/2), told by the leading bits of a mantissa; m r[j] is
/// within [31/32, 17/16]. r[j] is such that its logarithm is a float to 2^-12 of the last place.
constexpr int kIndexBits = 4;  // of a mantissa, that tell its part
constexpr double kInverse[16] = {0x1p+0,        0x1.d40f4ep-1, 0x1.badefep-1, 0x1.a42dbp-1,
                                 0x1.8f9708p-1, 0x1.7cf1b6p-1, 0x1.6c138p-1,  0x1.5caeb8p-1,
                                 0x1.4e5f7ep+0, 0x1.41525ap+0, 0x1.352496p+0, 0x1.29e368p+0,
                                 0x1.1f81eep+0, 0x1.159aaep+0, 0x1.0cadccp+0, 0x1p+0};
constexpr double kLogarithm[16] = {0,
                                   0x1.6f874p-4,
                                   0x1.290ddap-3,
                                   0x1.94c6f2p-3,
                                   0x1.fbab7ep-3,
                                   0x1.2ec494p-2,
                                   0x1.5d2504p-2,
                                   0x1.8961fep-2,
                                   -0x1.117d5ap-2,
                                   -0x1.d1707ap-3,
                                   -0x1.824e78p-3,
                                   -0x1.365b36p-3,
                                   -0x1.db6deep-4,
                                   -0x1.4bda8ep-4,
                                   -0x1.8bff52p-5,
                                   0};

/// e ln 2 + log(m + more), m in [3/4, 3/2), of f32; `more` is much smaller, null: 0.
Value* Combine32(Math& m, const Math::Parts& parts, Value* more) {
  // log(1 + f) = f + f^2 q(f): minimax, error 2^-28.
  constexpr double kQ[] = {-0x1p-1, 0x1.555844p-2, -0x1.001p-2, 0x1.81f776p-3};
  Value* index = m.b.CreateLShr(m.Bits(parts.mantissa), m.I(kF32.mantissa_bits - kIndexBits));
  Value* inverse = m.Lookup(kInverse, index);
  Value* f = m.Fma(parts.mantissa, inverse, m.C(-1));
  if (more != nullptr) f = m.Fma(more, inverse, f);
  Value* rest = m.Fma(m.Mul(f, f), m.Poly(f, kQ), f);
  return m.Add(m.Fma(parts.exponent, 0x1.62e43p-1, m.Lookup(kLogarithm, index)), rest);
}

/// e ln 2 + log(1 + f) of f64.
Value* Combine64(Math& m, Value* e, Value* f) {
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
  // The sign is that of processors' own NaN.
  result = m.Select(m.b.CreateFCmpULT(argument, m.C(0)), m.Neg(m.NaN()), result);
  return m.Select(m.Equal(x, m.Inf()), x, result);
}

/// 1 + x = u + error exactly.
struct Sum {
  Value* u;
  Value* error;
};
Sum OneAnd(Math& m, Value* x) {
  Value* u = m.Add(x, m.C(1));
  Value* back = m.Sub(u, m.C(1));
  return {u, m.Add(m.Sub(m.C(1), m.Sub(u, back)), m.Sub(x, back))};
}

/// log(1 + x + more), where `more` is less than a unit of x; null: 0.
Value* Log1p64(Math& m, Value* x, Value* more) {
  Sum sum = OneAnd(m, x);
  if (more != nullptr) sum.error = m.Add(sum.error, more);
  const Exponent split = SplitExponent(m, sum.u);
  // The error is less than a unit of u: where the exponent is large it does not count.
  Value* e = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, split.e, m.I(m.bias() / 2));
  Value* f = m.Fma(sum.error, m.PowerOfTwo(m.b.CreateNeg(e)), split.f);
  Value* result = m.Select(m.Equal(x, 0.0), x, Combine64(m, m.ToFloat(split.e), f));
  return Specials(m, result, sum.u, x);
}

}  // namespace

Value* EmitLog32(Math& m, llvm::ArrayRef<Value*> x) {
  Value* result = Combine32(m, m.Split(x[0]), nullptr);
  return m.has_exponents() ? result : Specials(m, result, x[0], x[0]);
}

Value* EmitLog64(Math& m, llvm::ArrayRef<Value*> x) {
  // Subnormals become normal.
  Value* small = m.Less(x[0], kLeastNormal64);
  const Exponent split = SplitExponent(m, m.Select(small, m.Mul(x[0], kPowerUp64), x[0]));
  Value* e = m.b.CreateSub(split.e, m.Select(small, m.I(kUp64), m.I(0)));
  return Specials(m, Combine64(m, m.ToFloat(e), split.f), x[0], x[0]);
}

Value* EmitLog1p32(Math& m, llvm::ArrayRef<Value*> x) {
  const Sum sum = OneAnd(m, x[0]);
  const Math::Parts parts = m.Split(sum.u);
  // The error is less than a unit of u: where the exponent is large it does not count.
  constexpr double kLarge = 64;
  Value* counts = m.Less(m.Abs(parts.exponent), kLarge);
  Value* more = m.has_exponents()
                    ? m.ScaleOrZero(counts, sum.error, {m.Neg(parts.exponent), nullptr})
                    : m.Select(counts, m.Mul(sum.error, m.PowerOfTwo(m.b.CreateNeg(parts.integer))), m.C(0));
  // The sign is that of x, also of zeros.
  Value* result = m.CopySign(Combine32(m, parts, more), x[0]);
  return m.has_exponents() ? result : Specials(m, result, sum.u, x[0]);
}

Value* EmitLog1p64(Math& m, llvm::ArrayRef<Value*> x) { return Log1p64(m, x[0], nullptr); }

namespace {
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kHuge = 0x1p60;  // where log(2 x) is asinh(x) and acosh(x)
}  // namespace

/// log1p(a + a^2 / (1 + sqrt(a^2 + 1)))
Value* EmitAsinh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  Value* s = m.Mul(a, a);
  Value* less = m.Div(s, m.Add(m.C(1), m.Sqrt(m.Add(s, m.C(1)))));
  Value* near = m.Add(a, less);
  Value* huge = m.b.CreateFCmpOGT(a, m.C(kHuge));
  Value* lost = m.Select(huge, m.C(0), m.Add(m.Sub(a, near), less));
  Value* result = Log1p64(m, m.Select(huge, a, near), lost);
  return m.CopySign(m.Add(result, m.Select(huge, m.C(kLn2), m.C(0))), x[0]);
}

/// log1p(t + sqrt(t (t + 2))), t = x - 1
Value* EmitAcosh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* t = m.Sub(x[0], m.C(1));
  // Where t > 2 errors are not all of them, but results are large.
  Value *twice = m.Add(t, t), *square = m.Mul(t, t), *sum = m.Add(twice, square);
  Value* error = m.Add(m.Add(m.Sub(twice, sum), square), m.Fma(t, t, m.Neg(square)));
  Value* root = m.Sqrt(sum);
  Value* near = m.Add(t, root);
  Value* lost = m.Add(m.Add(m.Sub(root, near), t), ErrorOfRoot(m, root, sum, error));
  Value* huge = m.b.CreateFCmpOGT(x[0], m.C(kHuge));
  Value* result = Log1p64(m, m.Select(huge, x[0], near), m.Select(huge, m.C(0), lost));
  result = m.Add(result, m.Select(huge, m.C(kLn2), m.C(0)));
  return m.Select(m.b.CreateFCmpULT(x[0], m.C(1)), m.NaN(), result);
}

/// log1p(2 a / (1 - a)) / 2, with what rounding takes from the quotient: half a unit of it would be more than
/// one of the result.
Value* EmitAtanh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value *a = m.Abs(x[0]), *twice = m.Add(a, a), *rest = m.Sub(m.C(1), a);
  Value* lost = m.Sub(m.Sub(m.C(1), rest), a);  // 1 - a = rest + lost
  Value* inverse = m.Div(m.C(1), rest);
  Value* ratio = m.Mul(twice, inverse);
  Value* left = m.Sub(m.Fma(m.Neg(ratio), rest, twice), m.Mul(ratio, lost));
  return m.CopySign(m.Mul(Log1p64(m, ratio, m.Mul(left, inverse)), 0.5), x[0]);
}

}  // namespace hlo::codegen
