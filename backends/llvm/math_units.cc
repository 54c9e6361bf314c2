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

Value* Math::CopySign(Value* x, Value* sign) {
  if (f64() || target_.threads() == nullptr) return Call(llvm::Intrinsic::copysign, {x, sign});
  // One instruction of three operands, where copysign would be a comparison and a choice.
  Value* magnitude = b.CreateAnd(Bits(x), I(INT32_MAX));
  return FromBits(b.CreateOr(magnitude, b.CreateAnd(Bits(sign), I(INT32_MIN))));
}

llvm::GlobalVariable* Math::InMemory(llvm::ArrayRef<float> values) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), values);
  const ThreadTarget* threads = target_.threads();
  auto* memory = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          data, "table", nullptr, llvm::GlobalValue::NotThreadLocal,
                                          threads == nullptr ? 0 : threads->facts().global_space);
  memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return memory;
}

Value* Math::LookupInMemory(llvm::ArrayRef<double> table, Value* index) {
  llvm::GlobalVariable* memory = InMemory(llvm::SmallVector<float, 16>(table));
  Value* places =
      b.CreateGEP(b.getFloatTy(), memory, b.CreateAnd(index, I(static_cast<int64_t>(table.size()) - 1)));
  if (!type_->isVectorTy()) return b.CreateLoad(type_, places);
  return b.CreateMaskedGather(type_, places, llvm::Align(sizeof(float)));
}

llvm::SmallVector<Value*, 8> Math::LookupPairs(Tables tables, Value* index) {
  constexpr size_t kEntries = std::extent_v<Tables::value_type>;
  constexpr unsigned kPair = 2;
  llvm::SmallVector<float, 0> values;
  for (size_t t = 0; t < tables.size(); t += kPair)
    for (size_t i = 0; i < kEntries; ++i) {
      values.push_back(static_cast<float>(tables[t][i]));
      values.push_back(t + 1 < tables.size() ? static_cast<float>(tables[t + 1][i]) : 0);
    }
  llvm::GlobalVariable* memory = InMemory(values);
  const llvm::Align align(kPair * sizeof(float));
  memory->setAlignment(align);
  auto* pair = llvm::FixedVectorType::get(b.getFloatTy(), kPair);
  index = b.CreateAnd(index, I(kEntries - 1));
  llvm::SmallVector<Value*, 8> found(tables.size(), llvm::PoisonValue::get(type_));
  for (unsigned lane = 0; lane < (IsVector() ? lanes() : 1); ++lane) {
    Value* place = b.CreateGEP(pair, memory, IsVector() ? b.CreateExtractElement(index, lane) : index);
    for (size_t t = 0; t < tables.size(); ++t) {
      // The same load for both of a pair, which is one in the end.
      Value* at = b.CreateConstGEP1_64(pair, place, t / kPair * kEntries);
      Value* value = b.CreateExtractElement(b.CreateAlignedLoad(pair, at, align), t % kPair);
      found[t] = IsVector() ? b.CreateInsertElement(found[t], value, lane) : value;
    }
  }
  return found;
}

llvm::SmallVector<Value*, 8> Math::LookupInAll(Tables tables, Value* index) {
  if (target_.threads() != nullptr) return LookupPairs(tables, index);
  llvm::SmallVector<Value*, 8> found;
  for (const auto& table : tables) found.push_back(Lookup(table, index));
  return found;
}

Value* Math::Lookup(llvm::ArrayRef<double> table, Value* index) {
  Value* found = IsInParts() ? target_.Lookup(b, table, index) : nullptr;
  return found == nullptr ? LookupInMemory(table, index) : found;
}

}  // namespace hlo::codegen
