// exp, expm1 and what is made of them.
//
// x = k ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r) by a polynomial.
#include "backends/llvm/emit_ops.h"
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

struct ExpTable {
  double ln2_high, ln2_low;  // ln2_high * k is exact
  double low, high;          // exp underflows and overflows beyond
  llvm::ArrayRef<double> q;
};
// f32: minimax, error 2^-32. f64: Taylor, error 2^-57.
constexpr double kQ32[] = {0x1p-1,        0x1.555556p-3,  0x1.5554acp-5,
                           0x1.111090p-7, 0x1.6d75f2p-10, 0x1.a19faep-13};
// For exp(r), where less is enough.
constexpr double kExp32[] = {0x1p-1, 0x1.55548ep-3, 0x1.55545cp-5, 0x1.123c78p-7, 0x1.6db5bap-10};
constexpr double kQ64[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                           1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                           1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
constexpr double kNormal32 = -87.3;   // from here on exp(x) of f32 is a normal number
constexpr int64_t kSmallest32 = 149;  // the smallest subnormal is 2^-149
constexpr double kLog2E = 0x1.71547652b82fep+0;

ExpTable TableOf(const Math& m) {
  constexpr ExpTable k64 = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45, -746, 710, kQ64};
  constexpr ExpTable k32 = {0x1.62e4p-1, 0x1.7f7d1cf79abcap-20, -104, 89, kQ32};
  return m.f64() ? k64 : k32;
}

struct Reduced {
  Math::Rounded k;
  Value* r;
  Value* lost;  // what rounding r cut off
};
/// The integer of k is `more` than it.
Reduced Reduce(Math& m, Value* x, int more = 0) {
  const ExpTable table = TableOf(m);
  const Math::Rounded k = m.RoundProduct(x, kLog2E, more);
  Value* high = m.Fma(k.real, -table.ln2_high, x);
  Value* r = m.Fma(k.real, -table.ln2_low, high);
  return {k, r, m.Fma(k.real, -table.ln2_low, m.Sub(high, r))};
}

/// exp(r), |r| <= ln 2 / 2.
Value* SmallExp(Math& m, Value* r) {
  return m.Fma(m.Fma(m.Poly(r, m.f64() ? llvm::ArrayRef(kQ64) : llvm::ArrayRef(kExp32)), r, m.C(1)), r,
               m.C(1));
}

/// exp(x) of x that neither overflows nor gives subnormals.
Value* MiddleExp(Math& m, Value* x) {
  const Reduced reduced = Reduce(m, x);
  return m.Mul(SmallExp(m, reduced.r), m.PowerOfTwo(reduced.k.integer));
}

/// numerator / (e + one): the quotient is corrected by its remainder. The sum is exact but for e > one.
Value* PreciseQuotient(Math& m, Value* numerator, Value* e, double one) {
  Value* sum = m.Add(e, m.C(one));
  Value* error = m.Add(m.Sub(m.C(one), sum), e);
  Value* inverse = m.Div(m.C(1), sum);
  Value* quotient = m.Mul(numerator, inverse);
  Value* rest = m.Fma(m.Neg(quotient), error, m.Fma(m.Neg(quotient), sum, numerator));
  return m.Fma(rest, inverse, quotient);
}

}  // namespace

namespace {

/// x with its sign, subnormal results and what vanishes, of e = exp(r) and x = k ln 2 + r. What gives zero is
/// not computed: processors are slow with results that underflow, and masks of attention consist of such
/// arguments.
Value* ScaledExp(Math& m, Value* x, Value* keep, Value* e, Math::Rounded k) {
  Value* is_normal = m.b.CreateFCmpUGE(x, m.C(kNormal32));
  if (m.has_subnormals()) return m.Select(keep, m.Scale(e, k.integer), m.C(0));
  Value* units = m.b.CreateAdd(k.integer, m.I(kSmallest32));
  if (!m.has_exponents()) k.integer = m.Select(is_normal, k.integer, m.I(0));
  Value* usual = m.ScaleOrZero(is_normal, e, k);
  return m.InRareCase(m.b.CreateXor(keep, is_normal), {usual}, [&]() -> llvm::SmallVector<Value*, 2> {
    return {m.Subnormal(m.Mul(e, m.PowerOfTwo(units)))};
  })[0];
}

}  // namespace

namespace {

/// So much the exponents of f32 are raised for results that may be subnormal, and what arguments allow it.
constexpr int kRaised32 = 24;
constexpr double kLowers32 = 0x1p-24, kRaisedMost32 = 64;

/// exp(x) of f32 where subnormals come at no cost, x <= kRaisedMost32 or NaN.
Value* RaisedExp(Math& m, Value* x) {
  Value* safe = m.Call(llvm::Intrinsic::maximum, {x, m.C(TableOf(m).low)});
  const Reduced reduced = Reduce(m, safe, kRaised32);
  return m.Mul(m.Mul(SmallExp(m, reduced.r), m.PowerOfTwo(reduced.k.integer)), kLowers32);
}

/// The same of vectors, and of any x; `rare` is where x may be larger or NaN, if that is known.
Value* ExpOfMany(Math& m, Value* x, Value* rare = nullptr) {
  const ExpTable table = TableOf(m);
  Value* safe = m.Call(llvm::Intrinsic::maximum, {x, m.C(table.low)});
  const Reduced reduced = Reduce(m, safe, kRaised32);
  Value* power = m.b.CreateShl(reduced.k.integer, m.I(m.mantissa_bits()));
  Value* raised = m.FromBits(m.b.CreateAdd(m.Bits(SmallExp(m, reduced.r)), power));
  // Sums of bits know no NaN.
  if (rare == nullptr) rare = m.b.CreateFCmpUGT(x, m.C(kRaisedMost32));
  return m.InRareCase(rare, {m.Mul(raised, kLowers32)}, [&]() -> llvm::SmallVector<Value*, 2> {
    const Reduced large = Reduce(m, m.AtMost(x, table.high));
    return {m.Scale(SmallExp(m, large.r), large.k.integer)};
  })[0];
}

/// exp(x), with x at most 0 or NaN if that is `known`.
Value* ExpInRange(Math& m, Value* x, bool known) {
  const ExpTable table = TableOf(m);
  Value* keep = m.b.CreateFCmpUGE(x, m.C(table.low));
  Value* safe = m.has_exponents() ? x : m.Select(keep, x, m.C(0));
  const Reduced reduced = Reduce(m, known ? safe : m.AtMost(safe, table.high));
  Value* e = SmallExp(m, reduced.r);
  return m.f64() ? m.ScaleOrZero(keep, e, reduced.k) : ScaledExp(m, x, keep, e, reduced.k);
}

}  // namespace

Value* EmitExp(Math& m, llvm::ArrayRef<Value*> x) {
  if (!m.f64() && m.has_subnormals() && m.IsVector()) return ExpOfMany(m, x[0]);
  return ExpInRange(m, x[0], false);
}

Value* EmitBoundedExp(llvm::IRBuilderBase& b, Value* x, Value* subtracted) {
  Math m(b, x->getType());
  if (m.f64() || !m.has_subnormals()) return ExpInRange(m, x, true);
  if (!m.IsVector()) return RaisedExp(m, x);
  if (subtracted == nullptr) return ExpOfMany(m, x);
  Math scalar(b, subtracted->getType());
  return ExpOfMany(m, x, b.CreateFCmpUEQ(scalar.Abs(subtracted), scalar.Inf()));
}

namespace {

struct SumExp {
  Value* e;  // exp(r), high + low = k ln 2 + r
  Math::Rounded k;
};
SumExp SmallExpOfSum(Math& m, Value* high, Value* low) {
  const ExpTable table = TableOf(m);
  const Math::Rounded k = m.RoundProduct(high, kLog2E);
  Value* rest = m.Fma(k.real, -table.ln2_high, high);
  low = m.Fma(k.real, -table.ln2_low, low);
  Value* r = m.Add(rest, low);
  Value* r_low = m.Add(m.Sub(rest, r), low);
  // 1 + (r + (r_low + r^2 q)): errors before the last rounding are less than half a unit, so that results
  // that are numbers of f32 come out as such.
  Value* square = m.Mul(r, r);
  return {m.Add(m.Add(m.Fma(square, m.PolyByPairs(r, square, kQ32), r_low), r), m.C(1)), k};
}

}  // namespace

Value* MiddleExpOfSum32(Math& m, Value* high, Value* low) {
  const SumExp sum = SmallExpOfSum(m, high, low);
  if (!m.has_exponents()) return m.Mul(sum.e, m.PowerOfTwo(sum.k.integer));
  return m.ScaleOrZero(m.b.CreateICmpEQ(m.I(0), m.I(0)), sum.e, sum.k);
}

Value* ExpOfSum32(Math& m, Value* high, Value* low) {
  const ExpTable table = TableOf(m);
  Value* keep = m.b.CreateFCmpUGE(high, m.C(table.low));
  Value* safe = m.has_exponents() ? high : m.Select(keep, high, m.C(0));
  // What overflows does so whatever the low part, which may be NaN there.
  Value* overflows = m.b.CreateFCmpOGT(high, m.C(table.high));
  low = m.Select(overflows, m.C(0), low);
  const SumExp sum = SmallExpOfSum(m, m.Select(overflows, m.C(table.high), safe), low);
  return ScaledExp(m, high, keep, sum.e, sum.k);
}

Value* EmitExpm1(Math& m, llvm::ArrayRef<Value*> x) {
  constexpr double kMinusOne = -38;  // below it the result is -1
  const Reduced reduced = Reduce(m, m.AtMost(m.AtLeast(x[0], kMinusOne), TableOf(m).high));
  // 2^k (exp(r) - 1) + 2^k - 1, halved because 2^k may be too large.
  Value* half = m.PowerOfTwo(m.b.CreateSub(reduced.k.integer, m.I(1)));
  Value* high = m.Fma(half, reduced.r, m.Sub(half, m.C(0.5)));
  Value* low = m.Fma(m.Mul(reduced.r, reduced.r), m.Poly(reduced.r, TableOf(m).q), reduced.lost);
  Value* sum = m.Fma(half, low, high);
  Value* tiny = m.Less(m.Abs(x[0]), m.f64() ? 0x1p-54 : 0x1p-25);
  return m.Select(tiny, x[0], m.Add(sum, sum));
}

/// exp(-|x|) over 1 + exp(-|x|), or 1 over it.
Value* EmitLogistic(Math& m, llvm::ArrayRef<Value*> x) {
  Value* negative = m.Neg(m.Abs(x[0]));
  Value* e = !m.f64() && m.has_subnormals() ? RaisedExp(m, negative) : EmitExp(m, {negative});
  Value* numerator = m.Select(m.Negative(x[0]), e, m.C(1));
  if (m.f64()) return PreciseQuotient(m, numerator, e, 1);
  // 1 - q or e - e q with q = e / (1 + e), which is less than 1/2: so are its errors.
  Value* q = m.Div(e, m.Add(e, m.C(1)));
  return m.Fma(m.Neg(numerator), q, numerator);
}

Value* EmitTanh64(Math& m, llvm::ArrayRef<Value*> x) {
  // expm1(2a) / (expm1(2a) + 2)
  Value* a = m.Abs(x[0]);
  constexpr double kOne = 44;  // from here on the quotient is 1
  Value* e = EmitExpm1(m, {m.AtMost(m.Add(a, a), kOne)});
  return m.CopySign(PreciseQuotient(m, e, e, 2), x[0]);
}

namespace {

/// exp(a) / 2, a >= 0.
Value* HalfExp(Math& m, Value* a) {
  constexpr double kInfinite = 720;
  const Reduced reduced = Reduce(m, m.AtMost(a, kInfinite));
  return m.Scale(SmallExp(m, reduced.r), m.b.CreateSub(reduced.k.integer, m.I(1)));
}

}  // namespace

Value* EmitSinh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* a = m.Abs(x[0]);
  // Taylor, error 2^-60 below 1.
  constexpr double kP[] = {1.0 / 6,
                           1.0 / 120,
                           1.0 / 5040,
                           1.0 / 362880,
                           1.0 / 39916800,
                           1.0 / 6227020800.0,
                           1.0 / 1307674368000.0,
                           1.0 / 355687428096000.0,
                           1.0 / 121645100408832000.0,
                           1.0 / 51090942171709440000.0};
  Value* s = m.Mul(a, a);
  Value* near = m.Fma(m.Mul(a, s), m.Poly(s, kP), a);
  Value* half = HalfExp(m, a);
  Value* far = m.Sub(half, m.Div(m.C(0.25), half));
  return m.CopySign(m.Select(m.Less(a, 1.0), near, far), x[0]);
}

Value* EmitCosh64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* half = HalfExp(m, m.Abs(x[0]));
  return m.Add(half, m.Div(m.C(0.25), half));
}

Value* EmitErf64(Math& m, llvm::ArrayRef<Value*> x) {
  // x + x p(x^2 - 1.375) for |x| < 1.65, else 1 - exp(-q((|x| - 3.7) / 2.3)): near minimax, errors 2^-58.
  constexpr double kP[] = {-0x1.d75189af75cc7p-3,  -0x1.68de6b8f696b4p-3,  0x1.6a690ea8c8b24p-5,
                           -0x1.37fbf66c6a20dp-7,  0x1.c71c4e3b046eep-10,  -0x1.1d062471ee5e4p-12,
                           0x1.37690bc32112ep-15,  -0x1.2d0878d321b17p-18, 0x1.049b6be503eecp-21,
                           -0x1.983d15acf0abdp-25, 0x1.23cce603950aep-28,  -0x1.7f7d4cb5327e9p-32,
                           0x1.d2416aa1d8a35p-36,  -0x1.0790591f2f145p-39, 0x1.1687f75496405p-43,
                           -0x1.1b99a3cc332a7p-47, 0x1.0b756737049a0p-51};
  constexpr double kQ[] = {
      0x1.f356fb56f8dacp+3,   0x1.19a52926cf2eap+4,   0x1.484c599e55d3fp+2,   0x1.c8b0d58be92d4p-5,
      -0x1.5348036790968p-6,  0x1.fe9f69f077bf8p-8,   -0x1.7b40ca98cf432p-9,  0x1.111fefae9b4dep-10,
      -0x1.76d946c6df6e2p-12, 0x1.de91ec313baebp-14,  -0x1.0fb5c493ad6a9p-15, 0x1.e6f1dca20822ep-18,
      -0x1.47be646426d50p-21, -0x1.4627d8184e546p-21, 0x1.1afbed040242bp-21,  -0x1.3b9ea2bb46440p-22,
      0x1.2adbc78ff4e3ap-23,  -0x1.dc2d30fe94436p-25, 0x1.01a6786b891f7p-26,  -0x1.1d911d813daedp-28,
      0x1.e5ee07e04371ap-29,  -0x1.b12e3834ed073p-31, -0x1.22ff3eb0d30d0p-30, 0x1.01123ab33e597p-31};
  constexpr double kOne = 6, kCenter = 3.7, kScale = 1 / 2.3;  // t in [-1, 1] of [1.4, 6]
  Value* a = m.AtMost(m.Abs(x[0]), kOne);
  Value* p = m.Poly(m.Fma(x[0], x[0], m.C(-1.375)), kP);
  Value* near = m.Fma(x[0], p, x[0]);
  Value* t = m.Mul(m.Sub(a, m.C(kCenter)), kScale);
  Value* far = m.Sub(m.C(1), MiddleExp(m, m.Neg(m.Poly(t, kQ))));
  return m.Select(m.Less(a, 1.65), near, m.CopySign(far, x[0]));
}

Value* ExpOfSum64(Math& m, Value* high, Value* low) {
  const ExpTable table = TableOf(m);
  const Reduced reduced = Reduce(m, m.AtMost(m.AtLeast(high, table.low), table.high));
  return m.Scale(SmallExp(m, m.Add(reduced.r, m.Add(low, reduced.lost))), reduced.k.integer);
}

}  // namespace hlo::codegen
