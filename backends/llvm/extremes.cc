#include "backends/llvm/extremes.h"

#include "backends/llvm/code_target.h"
#include "backends/llvm/types.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace hlo::codegen {
namespace {

using llvm::ConstantInt;
using llvm::IRBuilderBase;
using llvm::Type;
using llvm::Value;

/// What the processor's instruction gives: `y` if one of the two is NaN or both are zeros.
Value* Compared(IRBuilderBase& b, bool maximum, Value* x, Value* y) {
  return b.CreateSelect(maximum ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y), x, y);
}

/// A number other than 0, for which LLVM needs one instruction.
bool IsPlainConstant(const Value* x) {
  const llvm::APFloat* value = nullptr;
  return llvm::PatternMatch::match(x, llvm::PatternMatch::m_APFloat(value)) && !value->isNaN() &&
         !value->isZero();
}

/// x & y where the mask has ones, else x | y.
Value* AndElseOr(IRBuilderBase& b, Value* x, Value* y, Value* mask) {
  if (Value* both = CodeTargetOf(b).AndElseOr(b, x, y, mask)) return both;
  return b.CreateOr(b.CreateAnd(x, y), b.CreateAnd(b.CreateOr(x, y), b.CreateNot(mask)));
}

}  // namespace

Value* EmitExtreme(IRBuilderBase& b, bool maximum, Value* x, Value* y) {
  const CodeTarget::Facts& facts = CodeTargetOf(b).facts();
  if (!facts.compares || IsPlainConstant(x) || IsPlainConstant(y))
    return b.CreateBinaryIntrinsic(maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  Type* type = x->getType();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    // Compared both ways round, the two differ only if they are both zeros, of which the sign is the lesser
    // or the greater, or one of them is NaN, whose bits stay in what they have together.
    const unsigned bits = type->getScalarSizeInBits();
    Type* integers = SameWidth(b.getIntNTy(bits), vector);
    Value* one = b.CreateBitCast(Compared(b, maximum, x, y), integers);
    Value* other = b.CreateBitCast(Compared(b, maximum, y, x), integers);
    Value* sign = ConstantInt::get(integers, llvm::APInt::getSignMask(bits));
    return b.CreateBitCast(maximum ? AndElseOr(b, one, other, sign) : b.CreateOr(one, other), type);
  }
  // Scalars lie in vector registers.
  auto* wide = llvm::FixedVectorType::get(type, facts.scalar_bits / type->getScalarSizeInBits());
  const auto widen = [&](Value* v) {
    return b.CreateInsertElement(llvm::PoisonValue::get(wide), v, uint64_t{0});
  };
  return b.CreateExtractElement(EmitExtreme(b, maximum, widen(x), widen(y)), uint64_t{0});
}

}  // namespace hlo::codegen
