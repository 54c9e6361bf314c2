// What vector units have instructions for, and the same without them.
#include "backends/llvm/math.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

/// Lanes [from, from + count); those beyond the vector are undefined.
Value* Lanes(llvm::IRBuilderBase& b, Value* vector, unsigned from, unsigned count) {
  const unsigned all = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  llvm::SmallVector<int, 16> lanes;
  for (unsigned i = from; i < from + count; ++i) lanes.push_back(i < all ? static_cast<int>(i) : -1);
  return b.CreateShuffleVector(vector, lanes);
}

Value* Join(llvm::IRBuilderBase& b, Value* low, Value* high) {
  const unsigned half = llvm::cast<llvm::FixedVectorType>(low->getType())->getNumElements();
  llvm::SmallVector<int, 16> lanes;
  for (unsigned i = 0; i < 2 * half; ++i) lanes.push_back(static_cast<int>(i));
  return b.CreateShuffleVector(low, high, lanes);
}

constexpr uint64_t kCurrentRounding = 4;

}  // namespace

Value* Math::InRegisters(unsigned width, llvm::ArrayRef<Value*> operands,
                         llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> instruction) {
  const unsigned all = llvm::cast<llvm::FixedVectorType>(operands[0]->getType())->getNumElements();
  if (all == width) return instruction(operands);
  auto part = [&](unsigned from, unsigned count) {
    llvm::SmallVector<Value*, 3> parts;
    for (Value* operand : operands) parts.push_back(Lanes(b, operand, from, count));
    return parts;
  };
  if (all < width) return Lanes(b, instruction(part(0, width)), 0, all);
  Value* low = InRegisters(width, part(0, all / 2), instruction);
  return Join(b, low, InRegisters(width, part(all / 2, all / 2), instruction));
}

Value* Math::ScaleOrZero(Value* keep, Value* x, const Rounded& k) {
  if (!avx512_) return Select(keep, Scale(x, k.integer), C(0));
  const unsigned width = f64() ? 8 : 16;
  const auto id =
      f64() ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512 : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
  return InRegisters(width, {keep, x, k.real}, [&](llvm::ArrayRef<Value*> part) {
    Value* mask = b.CreateBitCast(part[0], b.getIntNTy(width));
    Value* zero = llvm::Constant::getNullValue(part[1]->getType());
    return b.CreateIntrinsic(id, {}, {part[1], part[2], zero, mask, b.getInt32(kCurrentRounding)});
  });
}

Math::Parts Math::Split(Value* x) {
  if (avx512_) {
    Value* all = llvm::Constant::getAllOnesValue(b.getInt16Ty());
    auto instruction = [&](llvm::Intrinsic::ID id, Value* v, llvm::ArrayRef<Value*> how) {
      return InRegisters(16, {v}, [&](llvm::ArrayRef<Value*> part) {
        llvm::SmallVector<Value*, 5> arguments = {part[0]};
        arguments.append(how.begin(), how.end());
        arguments.append({llvm::PoisonValue::get(part[0]->getType()), all, b.getInt32(kCurrentRounding)});
        return b.CreateIntrinsic(id, {}, arguments);
      });
    };
    constexpr uint32_t kFromThreeQuarters = 3, kNanIfNegative = 8;
    Value* mantissa = instruction(llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, x,
                                  {b.getInt32(kFromThreeQuarters | kNanIfNegative)});
    const auto exponent = llvm::Intrinsic::x86_avx512_mask_getexp_ps_512;
    // 1 more where the mantissa was halved.
    return {Sub(instruction(exponent, x, {}), instruction(exponent, mantissa, {})), mantissa, nullptr};
  }
  Value* small = Less(x, 0x1p-126);
  Value* bits = Bits(Select(small, Mul(x, 0x1p25), x));
  Value* e = b.CreateAShr(b.CreateSub(bits, I(0x3f400000)), I(23));
  Value* mantissa = FromBits(b.CreateSub(bits, b.CreateShl(e, I(23))));
  e = b.CreateSub(e, Select(small, I(25), I(0)));
  return {ToFloat(e), mantissa, e};
}

Value* Math::LookupInMemory(llvm::ArrayRef<double> table, Value* index) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::SmallVector<float, 16> values(table);
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), llvm::ArrayRef<float>(values));
  auto* memory =
      new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  Value* places = b.CreateGEP(b.getFloatTy(), memory, b.CreateAnd(index, I(15)));
  if (!type_->isVectorTy()) return b.CreateLoad(type_, places);
  return b.CreateMaskedGather(type_, places, llvm::Align(4));
}

Value* Math::Lookup(llvm::ArrayRef<double> table, Value* index) {
  const bool parts = type_->isVectorTy() && llvm::isPowerOf2_32(lanes());
  if (unit_ == VectorUnit::Common || !parts) return LookupInMemory(table, index);
  auto constants = [&](size_t from, size_t count) {
    const llvm::SmallVector<float, 16> values(table.slice(from, count));
    return llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef<float>(values));
  };
  if (avx512_)
    return InRegisters(16, {index}, [&](llvm::ArrayRef<Value*> part) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {constants(0, 16), part[0]});
    });
  auto half = [&](size_t from) {
    return InRegisters(8, {index}, [&](llvm::ArrayRef<Value*> part) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {}, {constants(from, 8), part[0]});
    });
  };
  Value* upper = b.CreateICmpSLT(b.CreateShl(index, I(28)), I(0));
  return Select(upper, half(8), half(0));
}

}  // namespace hlo::codegen
