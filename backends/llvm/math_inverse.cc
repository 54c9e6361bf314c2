// Inverse trigonometric functions of f64.
#include "backends/llvm/math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
constexpr double kQuarter = kPi / 4, kQuarterLow = kPiLow / 4;

/// The angle of (x, y), both not NaN, turned by `more` away from where y is 0 and x positive: much less than
/// one unit of the angle's; null: 0.
Value* Angle(Math& m, Value* y, Value* x, Value* more) {
  Value *ay = m.Abs(y), *ax = m.Abs(x);
  Value* steep = m.Less(ax, ay);
  Value *small = m.Select(steep, ax, ay), *large = m.Select(steep, ay, ax);
  constexpr double kLarge = 0x1p1000, kDown = 0x1p-100;  // so that sums do not overflow
  Value* scale = m.Select(m.b.CreateFCmpOGT(large, m.C(kLarge)), m.C(kDown), m.C(1));
  small = m.Mul(small, scale);
  large = m.Mul(large, scale);
  // Both infinite: as if equal. Both zero: as if the larger were 1.
  Value* infinite = m.Equal(small, m.Inf());
  small = m.Select(infinite, m.C(1), small);
  large = m.Select(m.b.CreateOr(infinite, m.Equal(large, 0.0)), m.C(1), large);
  // atan(t) = pi/4 + atan((t - 1) / (t + 1)) above tan(pi/8).
  Value* diagonal = m.b.CreateFCmpOGT(small, m.Mul(large, 0x1.a827999fcef32p-2));
  Value* z =
      m.Div(m.Select(diagonal, m.Sub(small, large), small), m.Select(diagonal, m.Add(small, large), large));
  // z + z^3 p(z^2): near minimax, error 2^-59.
  constexpr double kP[] = {-0x1.5555555555555p-2, 0x1.9999999999952p-3,  -0x1.249249248d684p-3,
                           0x1.c71c71c2f37e8p-4,  -0x1.745d165a9c002p-4, 0x1.3b139279535a8p-4,
                           -0x1.110e81459346ep-4, 0x1.e19978381e052p-5,  -0x1.ac761b5db4f38p-5,
                           0x1.74c9760b1bea4p-5,  -0x1.1aff6533dd0e5p-5, 0x1.0a5f8c60d732dp-6};
  Value* s = m.Mul(z, z);
  Value* rest = m.Mul(m.Mul(z, s), m.Poly(s, kP));
  // Quarter turns: base +- (z + rest), the base in two parts.
  Value *base = m.Select(diagonal, m.C(kQuarter), m.C(0)),
        *low = m.Select(diagonal, m.C(kQuarterLow), m.C(0));
  auto reflect = [&](Value* condition, double turn, double turn_low) {
    base = m.Select(condition, m.Sub(m.C(turn), base), base);
    low = m.Select(condition, m.Sub(m.C(turn_low), low), low);
    z = m.Select(condition, m.Neg(z), z);
    rest = m.Select(condition, m.Neg(rest), rest);
  };
  reflect(steep, kPi / 2, kPiLow / 2);
  reflect(m.Negative(x), kPi, kPiLow);
  if (more != nullptr) rest = m.Add(rest, more);
  // base is 0 or more than z.
  Value* sum = m.Add(base, z);
  Value* lost = m.Sub(z, m.Sub(sum, base));
  return m.CopySign(m.Add(sum, m.Add(m.Add(low, lost), rest)), y);
}

/// sqrt(1 - x^2) and what rounding takes from it, for |x| <= 1.
struct Side {
  Value *length, *error;
};
Side OtherSide(Math& m, Value* x) {
  Value* square = m.Mul(x, x);
  Value* square_error = m.Fma(x, x, m.Neg(square));
  Value* rest = m.Sub(m.C(1), square);
  Value* error = m.Sub(m.Sub(m.Sub(m.C(1), rest), square), square_error);
  Value* length = m.Sqrt(rest);
  return {length, ErrorOfRoot(m, length, rest, error)};
}

}  // namespace

Value* ErrorOfRoot(Math& m, Value* root, Value* square, Value* error) {
  Value* left = m.Add(m.Fma(m.Neg(root), root, square), error);
  return m.Select(m.Equal(root, 0.0), m.C(0), m.Div(m.Mul(left, 0.5), root));
}

Value* EmitAtan264(Math& m, llvm::ArrayRef<Value*> x) {
  Value* nan = m.b.CreateFCmpUNO(x[0], x[1]);
  return m.Select(nan, m.NaN(), Angle(m, x[0], x[1], nullptr));
}
Value* EmitAsin64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* inside = m.b.CreateFCmpOLE(m.Abs(x[0]), m.C(1));
  // Below 1/2: x + x^3 p(x^2), near minimax, error 2^-60.
  constexpr double kP[] = {0x1.5555555555555p-3,  0x1.3333333333388p-4, 0x1.6db6db6dac1e0p-5,
                           0x1.f1c71c7a52ba3p-6,  0x1.6e8ba123e494cp-6, 0x1.1c4efce23019fp-6,
                           0x1.c990ad3d8fdcap-7,  0x1.7b027ee1dd585p-7, 0x1.3b49de7121487p-7,
                           0x1.31622469ce5adp-7,  0x1.8f193743418ffp-9, 0x1.406192d124629p-6,
                           -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6};
  Value* s = m.Mul(x[0], x[0]);
  Value* near = m.CopySign(m.Fma(m.Mul(x[0], s), m.Poly(s, kP), x[0]), x[0]);
  // The circle has radius 1: its angle grows by x where y does by 1.
  const Side side = OtherSide(m, x[0]);
  Value* more = m.Neg(m.Mul(side.error, m.Abs(x[0])));
  Value* far = m.Select(inside, Angle(m, x[0], side.length, more), m.NaN());
  return m.Select(m.Less(s, 0.25), near, far);
}
Value* EmitAcos64(Math& m, llvm::ArrayRef<Value*> x) {
  Value* inside = m.b.CreateFCmpOLE(m.Abs(x[0]), m.C(1));
  const Side side = OtherSide(m, x[0]);
  return m.Select(inside, Angle(m, side.length, x[0], m.Mul(side.error, x[0])), m.NaN());
}

}  // namespace hlo::codegen
