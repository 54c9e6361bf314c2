// sin, cos and tan: x = k pi/2 + r with |r| <= pi/4 found in f64, or x = k pi + r.
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
// pi/2 in three parts.
constexpr double kP1 = 0x1.921fb54442d18p+0, kP2 = 0x1.1a62633145c07p-54, kP3 = -0x1.f1976b7ed8fbcp-110;
/// Below this, k and the parts of k pi/2 are exact enough.
constexpr double kLarge = 0x1p30;

struct Reduced {
  Value* quadrant;       // integer; the low two bits count
  Value* r;              // f64
  Value* low = nullptr;  // r + low more exactly; of f64 only
};

/// f32 values of at least 2^(b + 23) are a whole multiple X of 2^b; X (2^b mod 2 pi) is congruent to them and
/// small enough, with the residue in two parts.
struct Band {
  double from;   // of |x|
  double scale;  // 2^-b
  double high, low;
};
constexpr Band kBands[] = {
    {0x1p30, 0x1p-7, 0x1.2b0bad558f435p+1, -0x1.f5f7fb2e61132p-57},
    {0x1p50, 0x1p-27, -0x1.bcb4a23e73336p-1, -0x1.4cc11b4920ae8p-57},
    {0x1p70, 0x1p-47, -0x1.89d0120259a97p+1, -0x1.6cc942274dc45p-54},
    {0x1p90, 0x1p-67, -0x1.82ac8377ff216p-3, 0x1.17955574142a1p-58},
    {0x1p110, 0x1p-87, -0x1.214a9b91233b2p-3, 0x1.45f5262caae07p-58},
};

struct Product {
  Value* high;
  Value* low;
};
Product SmallCongruent(Math& m, Value* x) {
  Value *scale = m.C(kBands[0].scale), *high = m.C(kBands[0].high), *low = m.C(kBands[0].low);
  Value* a = m.Abs(x);
  for (const Band& band : llvm::ArrayRef(kBands).drop_front()) {
    Value* below = m.Less(a, band.from);
    scale = m.Select(below, scale, m.C(band.scale));
    high = m.Select(below, high, m.C(band.high));
    low = m.Select(below, low, m.C(band.low));
  }
  Value* whole = m.Mul(x, scale);
  Value* product = m.Mul(whole, high);
  return {product, m.Fma(whole, low, m.Fma(whole, high, m.Neg(product)))};
}

/// Of f32 beyond kLarge what SmallCongruent() says, else x; of f64.
Product Congruent(Math& wide, Value* x) {
  Value* large = wide.b.CreateFCmpOGE(wide.Abs(x), wide.C(kLarge));
  const auto parts = wide.InRareCase(large, {x, wide.C(0)}, [&]() -> llvm::SmallVector<Value*, 2> {
    const Product product = SmallCongruent(wide, x);
    return {product.high, product.low};
  });
  return {parts[0], parts[1]};
}

Reduced Reduce32(Math& m, Value* x32) {
  Math wide = m.Wide();
  const Product x = Congruent(wide, m.Widen(x32));
  const Math::Rounded k = wide.RoundProduct(x.high, kTwoOverPi);
  Value* r = wide.Fma(k.real, -kP2, wide.Fma(k.real, -kP1, x.high));
  return {wide.b.CreateTrunc(k.integer, m.IntType()), wide.Add(r, x.low)};
}

/// x = k pi + r, or (k + 1/2) pi - r for the cosine, |r| <= pi / 2 and a little: the function is sin(r),
/// negated if k is odd.
struct HalfTurns {
  Value* r;
  Value* k;  // integer; the lowest bit counts
};
HalfTurns ReduceToHalfTurn(Math& m, Value* x, bool cosine, llvm::ArrayRef<double> pi) {
  Value* low = nullptr;
  const bool wide = m.f64();
  if (wide) {
    const Product parts = Congruent(m, x);
    x = parts.high;
    low = parts.low;
  }
  Value* magic = m.C(wide ? kRounding64 : kRounding32);
  Value* sum = cosine ? m.Add(m.Fma(x, kTwoOverPi / 2, m.C(-0.5)), magic) : m.Fma(x, kTwoOverPi / 2, magic);
  Value* k = m.Sub(sum, magic);
  if (cosine) k = m.Add(k, m.C(0.5));
  Value* r = cosine ? m.Neg(x) : x;
  for (const double part : pi) r = m.Fma(k, cosine ? part : -part, r);
  if (wide) r = cosine ? m.Sub(r, low) : m.Add(r, low);
  return {r, m.Bits(sum)};
}

/// The first difference is exact below this: x and k times the first part are whole multiples of 2^-23.
constexpr double kSmall32 = 0x1p16;

// Rounded towards 0: with k = 0 they leave -0 as it is.
constexpr double kPi32[] = {0x1.921fb4p+1, 0x1.4442dp-23, 0x1.846988p-47};

HalfTurns ReduceAnyToHalfTurn32(Math& m, Value* x, bool cosine) {
  constexpr double kPi64[] = {2 * kP1, 2 * kP2};
  const HalfTurns small = ReduceToHalfTurn(m, x, cosine, kPi32);
  Value* large = m.b.CreateFCmpOGE(m.Abs(x), m.C(kSmall32));
  const auto any = m.InRareCase(large, {small.r, small.k}, [&]() -> llvm::SmallVector<Value*, 2> {
    Math wide = m.Wide();
    const HalfTurns turns = ReduceToHalfTurn(wide, m.Widen(x), cosine, kPi64);
    return {m.Narrow(turns.r), m.b.CreateTrunc(turns.k, m.IntType())};
  });
  return {any[0], any[1]};
}

/// The same. Where one number waits for the one before, as in steps of a differential equation, the processor
/// guesses that k = 0 (|x| < pi / 2, or 0 < x < pi for the cosine) and need not wait for k: same bits, as the
/// products with k are exact.
HalfTurns ReduceToHalfTurn32(Math& m, Value* x, bool cosine) {
  if (m.IsVector()) return ReduceAnyToHalfTurn32(m, x, cosine);
  Value* magic = m.C(kRounding32);
  Value* sum = cosine ? m.Add(m.Fma(x, kTwoOverPi / 2, m.C(-0.5)), magic) : m.Fma(x, kTwoOverPi / 2, magic);
  Value* r = cosine ? m.Neg(x) : x;
  if (cosine)
    for (const double part : kPi32) r = m.Add(r, m.C(part / 2));
  const auto any =
      m.InRareCase(m.b.CreateFCmpUNE(sum, magic), {r, m.Bits(magic)}, [&]() -> llvm::SmallVector<Value*, 2> {
        const HalfTurns turns = ReduceAnyToHalfTurn32(m, x, cosine);
        return {turns.r, turns.k};
      });
  return {any[0], any[1]};
}

/// sin(x), or cos(x), of f32.
Value* Sin32(Math& m, Value* x, bool cosine) {
  // sin(r) = r + r w(r^2 - 1): minimax up to pi / 2, error 2^-32. Polynomials of r^2 itself lose half a unit
  // more where r is large; w(-1) is exactly 0, computed as it is here, so that zeros and subnormals stay.
  constexpr double kW[] = {-0x1.44aadcp-3,  -0x1.34659p-3,  0x1.fc30eep-8,
                           -0x1.898112p-13, 0x1.616866p-19, -0x1.9a6476p-26};
  const HalfTurns turns = ReduceToHalfTurn32(m, x, cosine);
  Value* w = m.Poly(m.Fma(turns.r, turns.r, m.C(-1)), kW);
  Value* sin = m.Fma(turns.r, w, turns.r);
  return m.FromBits(m.b.CreateXor(m.Bits(sin), m.b.CreateShl(turns.k, m.I(kF32.bits - 1))));
}

Reduced Reduce64(Math& m, Value* x) {
  const Math::Rounded k = m.RoundProduct(x, kTwoOverPi);
  Value* high = m.Fma(k.real, -kP1, x);  // exact
  Value* product = m.Mul(k.real, kP2);
  Value* lost = m.Fma(k.real, kP3, m.Fma(k.real, kP2, m.Neg(product)));
  Value* r = m.Sub(high, product);
  // Exact: one of the two is much smaller, or they cancel.
  Value* back = m.Sub(high, r);
  Value* low = m.Sub(m.Sub(back, product), lost);
  Value* large = m.b.CreateNot(m.b.CreateFCmpOLT(m.Abs(x), m.C(kLarge)));
  const auto any = m.InRareCase(large, {r, low, k.integer}, [&]() -> llvm::SmallVector<Value*, 2> {
    const LargeAngleParts parts = ReduceLargeAngle(m, x);
    return {parts.r, parts.low, parts.quadrant};
  });
  return {any[2], any[0], any[1]};
}

// r + r^3 p(r^2) and 1 - r^2/2 + r^4 p(r^2): minimax for f32 (2^-37, 2^-33), for f64 2^-66 and more.
constexpr double kSin32[] = {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f32p-13, 0x1.6cbecep-19};
constexpr double kCos32[] = {0x1.55554ap-5, -0x1.6c0c22p-10, 0x1.99e338p-16};
constexpr double kSin64[] = {-0x1.5555555555555p-3, 0x1.1111111111110p-7,   -0x1.a01a01a019880p-13,
                             0x1.71de3a544a6cep-19, -0x1.ae6453ecab5c4p-26, 0x1.612161267019ep-33,
                             -0x1.ab066192d3e8fp-41};
constexpr double kCos64[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cb8p-16,
                             -0x1.27e4fb7708fb2p-22, 0x1.1eed8ddaa5390p-29,  -0x1.93949f74df9adp-37,
                             0x1.ab68d5c08a457p-45};

struct SinCos {
  Value* sin;
  Value* cos;
  Value *sin_low = nullptr, *cos_low = nullptr;  // what rounding cut off; of f64 only
};
SinCos Both32(Math& m, Value* r) {
  Value* s = m.Mul(r, r);
  Value* sin = m.Fma(m.Mul(s, r), m.Poly(s, kSin32), r);
  return {sin, m.Fma(s, m.Fma(s, m.Poly(s, kCos32), m.C(-0.5)), m.C(1))};
}
SinCos Both64(Math& m, const Reduced& reduced) {
  Value* r = reduced.r;
  Value* s = m.Mul(r, r);
  Value* cos_rest = m.Mul(m.Mul(s, s), m.Poly(s, kCos64));
  Value* head = m.Fma(s, -0.5, m.C(1));
  // sin(r + l) = sin(r) + l (1 - r^2/2), cos(r + l) = cos(r) - r l.
  Value* sin_rest = m.Fma(m.Mul(s, r), m.Poly(s, kSin64), m.Mul(reduced.low, head));
  Value* cut = m.Fma(s, -0.5, m.Sub(m.C(1), head));
  Value* tail = m.Add(cut, m.Fma(m.Neg(r), reduced.low, cos_rest));
  Value *sin = m.Add(r, sin_rest), *cos = m.Add(head, tail);
  return {sin, cos, m.Add(m.Sub(r, sin), sin_rest), m.Add(m.Sub(head, cos), tail)};
}

/// sin(x + quarters pi/2) of f64
Value* Sin64(Math& m, Value* x, int quarters) {
  const Reduced reduced = Reduce64(m, x);
  const SinCos both = Both64(m, reduced);
  Value* quadrant = quarters == 0 ? reduced.quadrant : m.b.CreateAdd(reduced.quadrant, m.I(quarters));
  Value* odd = m.b.CreateICmpNE(m.b.CreateAnd(quadrant, m.I(1)), m.I(0));
  Value* magnitude = m.Select(odd, both.cos, both.sin);
  Value* sign = m.b.CreateShl(m.b.CreateLShr(quadrant, m.I(1)), m.I(kF64.bits - 1));
  Value* result = m.FromBits(m.b.CreateXor(m.Bits(magnitude), sign));
  return quarters == 0 ? m.Select(m.Equal(x, 0.0), x, result) : result;
}

}  // namespace

Value* EmitSin(Math& m, llvm::ArrayRef<Value*> x) {
  return m.f64() ? Sin64(m, x[0], 0) : Sin32(m, x[0], false);
}
Value* EmitCos(Math& m, llvm::ArrayRef<Value*> x) {
  return m.f64() ? Sin64(m, x[0], 1) : Sin32(m, x[0], true);
}

Value* EmitTan(Math& m, llvm::ArrayRef<Value*> x) {
  const Reduced reduced = m.f64() ? Reduce64(m, x[0]) : Reduce32(m, x[0]);
  // Of f32 also in f64, as the quotient adds up errors.
  Math wide = m.Wide();
  const SinCos both = m.f64() ? Both64(m, reduced) : Both32(wide, reduced.r);
  Value* odd = m.b.CreateICmpNE(m.b.CreateAnd(reduced.quadrant, m.I(1)), m.I(0));
  // tan(r + pi/2) = -cos(r) / sin(r)
  Value* top = m.Select(odd, wide.Neg(both.cos), both.sin);
  Value* bottom = m.Select(odd, both.sin, both.cos);
  Value* quotient = wide.Div(top, bottom);
  if (m.f64()) {
    Value* top_low = m.Select(odd, m.Neg(both.cos_low), both.sin_low);
    Value* bottom_low = m.Select(odd, both.sin_low, both.cos_low);
    Value* back = m.Neg(quotient);
    Value* rest = m.Fma(back, bottom_low, m.Add(m.Fma(back, bottom, top), top_low));
    quotient = m.Add(quotient, m.Div(rest, bottom));
  } else {
    quotient = m.Narrow(quotient);
  }
  return m.Select(m.Equal(x[0], 0.0), x[0], quotient);
}

}  // namespace hlo::codegen
