#include "backends/llvm/integers.h"

#include "backends/llvm/types.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

constexpr unsigned kBits32 = std::numeric_limits<uint32_t>::digits;

/// Vectors of numbers that floats hold. Constants become multiplications elsewhere.
bool GoesThroughFloats(Value* x, Value* y) {
  return x->getType()->isVectorTy() && x->getType()->getScalarSizeInBits() <= kBits32 &&
         !llvm::isa<llvm::Constant>(y);
}

/// `y`, or a vector of it if `x` is one.
Value* AsWideAs(llvm::IRBuilderBase& b, Value* x, Value* y) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector == nullptr || y->getType()->isVectorTy() ? y
                                                         : b.CreateVectorSplat(vector->getNumElements(), y);
}

/// x / y, or a little more, less than 8 units in the last place, where all lanes share the divisor: there is
/// one division then.
Value* DivideUpwards(llvm::IRBuilderBase& b, Value* x, Value* y) {
  if (y->getType()->isVectorTy()) return b.CreateFDiv(x, y);
  const double more = x->getType()->getScalarType()->isDoubleTy() ? 0x1p-50 : 0x1p-21;
  Value* reciprocal = b.CreateFDiv(llvm::ConstantFP::get(y->getType(), 1 + more), y);
  return b.CreateFMul(x, AsWideAs(b, x, reciprocal));
}

/// Quotients differ from the next larger integer by at least 1/y. For x below 2^16 in f32, and x below 2^32
/// in f64, that is more than some roundings: cut off, a quotient that is a little too large is the exact one.
Value* QuotientOfFloats(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  llvm::Type* type = x->getType();
  llvm::Type* words = SameWidth(b.getInt32Ty(), type);
  if (type->getScalarSizeInBits() < kBits32) {
    const auto widen = [&](Value* value) {
      llvm::Type* own = value->getType();
      return b.CreateSIToFP(b.CreateIntCast(value, SameWidth(b.getInt32Ty(), own), is_signed),
                            SameWidth(b.getFloatTy(), own));
    };
    return b.CreateTrunc(b.CreateFPToSI(DivideUpwards(b, widen(x), widen(y)), words), type);
  }
  const auto doubles = [&](Value* value) { return SameWidth(b.getDoubleTy(), value->getType()); };
  if (is_signed) {
    const auto widen = [&](Value* value) { return b.CreateSIToFP(value, doubles(value)); };
    return b.CreateFPToSI(DivideUpwards(b, widen(x), widen(y)), type);
  }
  // Few processors convert unsigned numbers: those less 2^31 are signed.
  constexpr uint64_t kHalf = uint64_t{1} << (kBits32 - 1);
  const auto sign = [](Value* value) { return llvm::ConstantInt::get(value->getType(), kHalf); };
  const auto half = [&](Value* value) { return llvm::ConstantFP::get(doubles(value), kHalf); };
  const auto widen = [&](Value* value) {
    return b.CreateFAdd(b.CreateSIToFP(b.CreateXor(value, sign(value)), doubles(value)), half(value));
  };
  Value* whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, DivideUpwards(b, widen(x), widen(y)));
  return b.CreateXor(b.CreateFPToSI(b.CreateFSub(whole, half(x)), type), sign(x));
}

}  // namespace

bool DividesAll(const Value* divisor) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(divisor);
  return number != nullptr && !number->isZero() && !number->isMinusOne();
}

Value* Quotient(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  if (GoesThroughFloats(x, y)) return QuotientOfFloats(b, x, y, is_signed);
  y = AsWideAs(b, x, y);
  return is_signed ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
}

Value* Remainder(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  Value* divisor = AsWideAs(b, x, y);
  if (GoesThroughFloats(x, y))
    return b.CreateSub(x, b.CreateMul(QuotientOfFloats(b, x, y, is_signed), divisor));
  return is_signed ? b.CreateSRem(x, divisor) : b.CreateURem(x, divisor);
}

}  // namespace hlo::codegen
