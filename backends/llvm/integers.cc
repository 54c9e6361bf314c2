#include "backends/llvm/integers.h"

#include "backends/llvm/types.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

/// Vectors of numbers that floats hold. Constants become multiplications elsewhere.
bool GoesThroughFloats(Value* x, Value* y) {
  return x->getType()->isVectorTy() && x->getType()->getScalarSizeInBits() <= 32 &&
         !llvm::isa<llvm::Constant>(y);
}

/// Quotients that are no integer differ from the next one by at least 1/y. For x below 2^16 in f32, and x
/// below 2^32 in f64, that is more than a rounding: cut off, the rounded quotient is the exact one.
Value* QuotientOfFloats(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  llvm::Type* type = x->getType();
  llvm::Type* words = SameWidth(b.getInt32Ty(), type);
  if (type->getScalarSizeInBits() < 32) {
    llvm::Type* floats = SameWidth(b.getFloatTy(), type);
    const auto widen = [&](Value* value) {
      return b.CreateSIToFP(b.CreateIntCast(value, words, is_signed), floats);
    };
    return b.CreateTrunc(b.CreateFPToSI(b.CreateFDiv(widen(x), widen(y)), words), type);
  }
  llvm::Type* doubles = SameWidth(b.getDoubleTy(), type);
  if (is_signed)
    return b.CreateFPToSI(b.CreateFDiv(b.CreateSIToFP(x, doubles), b.CreateSIToFP(y, doubles)), type);
  // Few processors convert unsigned numbers: those less 2^31 are signed.
  Value* sign = llvm::ConstantInt::get(type, uint64_t{1} << 31);
  Value* half = llvm::ConstantFP::get(doubles, 0x1p31);
  const auto widen = [&](Value* value) {
    return b.CreateFAdd(b.CreateSIToFP(b.CreateXor(value, sign), doubles), half);
  };
  Value* whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(widen(x), widen(y)));
  return b.CreateXor(b.CreateFPToSI(b.CreateFSub(whole, half), type), sign);
}

}  // namespace

Value* Quotient(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  if (GoesThroughFloats(x, y)) return QuotientOfFloats(b, x, y, is_signed);
  return is_signed ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
}

Value* Remainder(llvm::IRBuilderBase& b, Value* x, Value* y, bool is_signed) {
  if (GoesThroughFloats(x, y)) return b.CreateSub(x, b.CreateMul(QuotientOfFloats(b, x, y, is_signed), y));
  return is_signed ? b.CreateSRem(x, y) : b.CreateURem(x, y);
}

}  // namespace hlo::codegen
