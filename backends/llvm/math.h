// What the emitters of transcendental functions share: arithmetic on one floating type, scalar or vector.
#pragma once
#include "backends/llvm/code_target.h"
#include "backends/llvm/floats.h"
#include "backends/llvm/types.h"

namespace hlo::codegen {

/// Builds expressions over values of one type: f32, f64 or vectors of these.
class Math {
 public:
  using Value = llvm::Value;
  Math(llvm::IRBuilderBase& builder, llvm::Type* type) : b(builder), type_(type), target_(CodeTargetOf(b)) {}

  [[nodiscard]] bool IsVector() const { return type_->isVectorTy(); }
  [[nodiscard]] bool f64() const { return type_->getScalarType()->isDoubleTy(); }
  Value* C(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Inf() { return llvm::ConstantFP::getInfinity(type_); }
  Value* NaN() { return llvm::ConstantFP::getNaN(type_); }
  Value* Add(Value* x, Value* y) { return b.CreateFAdd(x, y); }
  Value* Sub(Value* x, Value* y) { return b.CreateFSub(x, y); }
  Value* Mul(Value* x, Value* y) { return b.CreateFMul(x, y); }
  Value* Mul(Value* x, double y) { return b.CreateFMul(x, C(y)); }
  Value* Div(Value* x, Value* y) { return b.CreateFDiv(x, y); }
  Value* Neg(Value* x) { return b.CreateFNeg(x); }
  /// x * y + z, rounded once.
  Value* Fma(Value* x, Value* y, Value* z) { return Call(llvm::Intrinsic::fma, {x, y, z}); }
  Value* Fma(Value* x, double y, Value* z) { return Fma(x, C(y), z); }
  Value* Abs(Value* x) { return Call(llvm::Intrinsic::fabs, {x}); }
  Value* CopySign(Value* x, Value* sign);
  Value* Trunc(Value* x) { return Call(llvm::Intrinsic::trunc, {x}); }
  Value* Sqrt(Value* x) { return Call(llvm::Intrinsic::sqrt, {x}); }
  /// c[0] + c[1] x + c[2] x^2 + …
  Value* Poly(Value* x, llvm::ArrayRef<double> c);

  /// The same of an even number of coefficients in steps that wait less for each other.
  Value* PolyByPairs(Value* x, Value* square, llvm::ArrayRef<double> c);

  Value* Select(Value* condition, Value* x, Value* y) { return b.CreateSelect(condition, x, y); }
  Value* Less(Value* x, Value* y) { return b.CreateFCmpOLT(x, y); }
  Value* Less(Value* x, double y) { return Less(x, C(y)); }
  Value* Equal(Value* x, Value* y) { return b.CreateFCmpOEQ(x, y); }
  Value* Equal(Value* x, double y) { return Equal(x, C(y)); }
  Value* IsNan(Value* x) { return b.CreateFCmpUNO(x, x); }
  /// NaN stays.
  Value* AtMost(Value* x, double high) { return Select(b.CreateFCmpOGT(x, C(high)), C(high), x); }
  Value* AtLeast(Value* x, double low) { return Select(Less(x, low), C(low), x); }

  // Bits as integers of the same width.
  [[nodiscard]] int mantissa_bits() const { return f64() ? kF64.mantissa_bits : kF32.mantissa_bits; }
  [[nodiscard]] int bias() const { return f64() ? kF64.bias : kF32.bias; }
  llvm::Type* IntType();
  Value* I(int64_t value) { return llvm::ConstantInt::get(IntType(), static_cast<uint64_t>(value), true); }
  Value* Bits(Value* x) { return b.CreateBitCast(x, IntType()); }
  Value* FromBits(Value* bits) { return b.CreateBitCast(bits, type_); }
  Value* ToFloat(Value* integer) { return b.CreateSIToFP(integer, type_); }
  Value* Negative(Value* x) { return b.CreateICmpSLT(Bits(x), I(0)); }  // the sign bit
  /// 2^k, k within the normal exponents.
  Value* PowerOfTwo(Value* k) { return FromBits(b.CreateShl(b.CreateAdd(k, I(bias())), I(mantissa_bits()))); }
  /// x to the nearest integer as a float and as an integer; |x| < 2^21.
  struct Rounded {
    Value* real;
    Value* integer;
  };
  /// Of x * factor; the integer is `more` than that, an even number.
  Rounded RoundProduct(Value* x, double factor, int more = 0);
  /// x * 2^k rounded once, if x is near 1 and |k| < 2 * bias.
  Value* Scale(Value* x, Value* k);

  // What vector units have instructions for.

  /// Whether there are instructions for exponents of such vectors.
  [[nodiscard]] bool has_exponents() const { return target_.facts().exponents && IsInParts(); }
  /// Whether results may be subnormal at no cost.
  [[nodiscard]] bool has_subnormals() const { return target_.facts().subnormals; }
  /// Scale() where `keep` holds, else 0. With those instructions k may be anything where it does not.
  Value* ScaleOrZero(Value* keep, Value* x, const Rounded& k);
  /// x = 2^exponent * mantissa of f32 with the mantissa in [3/4, 3/2); subnormals count as normal numbers.
  struct Parts {
    Value* exponent;  // a float
    Value* mantissa;
    Value* integer;  // the exponent; null with instructions for exponents
  };
  /// By instructions: NaN gives NaN twice, negative numbers a NaN as mantissa, 0 and infinity the exponents
  /// -inf and inf with a finite mantissa. Else those have to be replaced.
  Parts Split(Value* x);
  /// Tables of 16 numbers.
  using Tables = llvm::ArrayRef<double[16]>;
  /// table[index modulo 16] of f32.
  Value* Lookup(llvm::ArrayRef<double> table, Value* index);
  /// The same of each of the tables.
  llvm::SmallVector<Value*, 8> LookupInAll(Tables tables, Value* index);

  /// Emits `rare` into a block of its own that runs if `condition` holds in any lane; there the lanes where
  /// it holds take its values, elsewhere they keep `usual`.
  llvm::SmallVector<Value*, 2> InRareCase(Value* condition, llvm::ArrayRef<Value*> usual,
                                          llvm::function_ref<llvm::SmallVector<Value*, 2>()> rare);
  /// The f32 with x units of the smallest subnormal, 0 <= x < 2^24, rounded: no instruction gives a
  /// subnormal, which processors are slow with.
  Value* Subnormal(Value* x) {
    return FromBits(b.CreateFPToSI(Call(llvm::Intrinsic::roundeven, {x}), IntType()));
  }

  /// This arithmetic on f64 and back.
  Math Wide() { return {b, SameWidth(b.getDoubleTy(), type_)}; }
  Value* Widen(Value* x) { return b.CreateFPExt(x, SameWidth(b.getDoubleTy(), type_)); }
  Value* Narrow(Value* x) { return b.CreateFPTrunc(x, type_); }

  Value* Call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> arguments) {
    return b.CreateIntrinsic(id, {type_}, arguments);
  }

  llvm::IRBuilderBase& b;

 private:
  [[nodiscard]] unsigned lanes() const { return llvm::cast<llvm::FixedVectorType>(type_)->getNumElements(); }
  /// Whether halves of vectors are such vectors.
  [[nodiscard]] bool IsInParts() const { return IsVector() && llvm::isPowerOf2_32(lanes()); }
  Value* LookupInMemory(llvm::ArrayRef<double> table, Value* index);
  llvm::SmallVector<Value*, 8> LookupPairs(Tables tables, Value* index);
  llvm::GlobalVariable* InMemory(llvm::ArrayRef<float> values);

  llvm::Type* type_;
  const CodeTarget& target_;
};

// One function per opcode: for both floating types, or the one in its name.
#define HLO_MATH(Name)           llvm::Value* Name(Math& m, llvm::ArrayRef<llvm::Value*> x);
#define HLO_MATH_BOTH(Kind)      HLO_MATH(Emit##Kind)
#define HLO_MATH_EACH(Kind)      HLO_MATH(Emit##Kind##32) HLO_MATH(Emit##Kind##64)
#define HLO_MATH_THROUGH64(Kind) HLO_MATH(Emit##Kind##64)
#include "backends/llvm/math.def"
#undef HLO_MATH

/// x = k pi/2 + r + low of f64, |x| >= 2^30: |r| at most about pi/4, the low two bits of k, an integer,
/// count. NaN where x is not finite.
struct LargeAngleParts {
  llvm::Value* r;
  llvm::Value* low;
  llvm::Value* quadrant;
};
LargeAngleParts ReduceLargeAngle(Math& m, llvm::Value* x);

/// What sqrt(square + error) is more than `root`, which is sqrt(square) rounded; 0 where that is 0.
llvm::Value* ErrorOfRoot(Math& m, llvm::Value* root, llvm::Value* square, llvm::Value* error);
/// exp(high + low), |low| much less than |high|.
llvm::Value* ExpOfSum64(Math& m, llvm::Value* high, llvm::Value* low);
/// The same of f32; error 0.7 units of the last place. If `high` is infinite or NaN, `low` may be anything.
llvm::Value* ExpOfSum32(Math& m, llvm::Value* high, llvm::Value* low);
/// The same for |high| < kMiddle32, where results are normal numbers.
constexpr double kMiddle32 = 87;
llvm::Value* MiddleExpOfSum32(Math& m, llvm::Value* high, llvm::Value* low);

}  // namespace hlo::codegen
