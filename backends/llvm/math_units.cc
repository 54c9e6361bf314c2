// What vector units have instructions for, and the same without them.
#include "backends/llvm/math.h"
#include "backends/llvm/thread_target.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
using llvm::Value;

Value* Math::ScaleOrZero(Value* keep, Value* x, const Rounded& k) {
  return has_exponents() ? target_.ScaleOrZero(b, keep, x, k.real) : Select(keep, Scale(x, k.integer), C(0));
}

Math::Parts Math::Split(Value* x) {
  if (has_exponents()) {
    const auto [exponent, mantissa] = target_.Split(b, x);
    return {exponent, mantissa, nullptr};
  }
  Value* small = Less(x, kLeastNormal32);
  Value* bits = Bits(Select(small, Mul(x, kPowerUp32), x));
  Value* e = b.CreateAShr(b.CreateSub(bits, I(kBitsOfThreeQuarters32)), I(kF32.mantissa_bits));
  Value* mantissa = FromBits(b.CreateSub(bits, b.CreateShl(e, I(kF32.mantissa_bits))));
  e = b.CreateSub(e, Select(small, I(kUp32), I(0)));
  return {ToFloat(e), mantissa, e};
}

Value* Math::LookupInMemory(llvm::ArrayRef<double> table, Value* index) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::SmallVector<float, 16> values(table);
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), llvm::ArrayRef<float>(values));
  const ThreadTarget* threads = target_.threads();
  auto* memory = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          data, "table", nullptr, llvm::GlobalValue::NotThreadLocal,
                                          threads == nullptr ? 0 : threads->facts().global_space);
  memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  Value* places =
      b.CreateGEP(b.getFloatTy(), memory, b.CreateAnd(index, I(static_cast<int64_t>(table.size()) - 1)));
  if (!type_->isVectorTy()) return b.CreateLoad(type_, places);
  return b.CreateMaskedGather(type_, places, llvm::Align(sizeof(float)));
}

Value* Math::Lookup(llvm::ArrayRef<double> table, Value* index) {
  Value* found = IsInParts() ? target_.Lookup(b, table, index) : nullptr;
  return found == nullptr ? LookupInMemory(table, index) : found;
}

}  // namespace hlo::codegen
