#include "backends/llvm/types.h"

#include "backends/llvm/narrow.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::IRBuilderBase;
using llvm::Type;
using llvm::Value;

/// f32 to the upper half of its bits, to nearest even; what NaNs become is given.
Value* RoundToBf16(IRBuilderBase& b, Value* x, llvm::function_ref<Value*(Value* bits)> nans) {
  Type* wide = SameWidth(b.getInt32Ty(), x->getType());
  Type* narrow = SameWidth(b.getInt16Ty(), x->getType());
  Value* bits = b.CreateBitCast(x, wide);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), llvm::ConstantInt::get(wide, 1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, llvm::ConstantInt::get(wide, 0x7fff)));
  Value* kept = b.CreateSelect(b.CreateFCmpUNO(x, x), nans(bits), rounded);
  return b.CreateTrunc(b.CreateLShr(kept, 16), narrow);
}

/// Of what an operation gave: its NaNs have the quiet bit set, which lies in the upper half.
Value* ToBf16(IRBuilderBase& b, Value* x) {
  return RoundToBf16(b, x, [](Value* bits) { return bits; });
}

Value* FromBf16(IRBuilderBase& b, Value* bits) {
  Type* wide = SameWidth(b.getInt32Ty(), bits->getType());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, wide), 16),
                         SameWidth(b.getFloatTy(), bits->getType()));
}

Value* ToF16(IRBuilderBase& b, Value* x) {
  return b.CreateBitCast(b.CreateFPTrunc(x, SameWidth(b.getHalfTy(), x->getType())),
                         SameWidth(b.getInt16Ty(), x->getType()));
}

Value* FromF16(IRBuilderBase& b, Value* bits) {
  return b.CreateFPExt(b.CreateBitCast(bits, SameWidth(b.getHalfTy(), bits->getType())),
                       SameWidth(b.getFloatTy(), bits->getType()));
}

Value* ToPredByte(IRBuilderBase& b, Value* x) {
  return b.CreateZExt(x, SameWidth(b.getInt8Ty(), x->getType()));
}
Value* FromPredByte(IRBuilderBase& b, Value* x) {
  return b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
}

/// Types whose forms differ.
struct Conversion {
  ElementType type;
  Value* (*to_stored)(IRBuilderBase&, Value*);
  Value* (*to_compute)(IRBuilderBase&, Value*);
};
constexpr Conversion kConversions[] = {
    {ElementType::Pred, ToPredByte, FromPredByte},
    {ElementType::BF16, ToBf16, FromBf16},
    {ElementType::F16, ToF16, FromF16},
};

constexpr llvm::StringLiteral kVectorUnit = "hlo.vector-unit";

const Conversion* FindConversion(ElementType type) {
  for (const Conversion& c : kConversions)
    if (c.type == type) return &c;
  return nullptr;
}

}  // namespace

bool IsSupported(ElementType type) {
  if (IsIntegral(type) || IsByteFloat(type)) return true;
  return type == ElementType::F32 || type == ElementType::F64 || FindConversion(type) != nullptr;
}

void SetVectorUnit(llvm::Module& module, VectorUnit unit) {
  module.addModuleFlag(llvm::Module::Max, kVectorUnit, static_cast<uint32_t>(unit));
}

VectorUnit VectorUnitOf(const llvm::Module& module) {
  const auto* unit = llvm::mdconst::extract_or_null<llvm::ConstantInt>(module.getModuleFlag(kVectorUnit));
  return unit == nullptr ? VectorUnit::Common : static_cast<VectorUnit>(unit->getZExtValue());
}

Type* StoredType(llvm::LLVMContext& context, ElementType type) {
  if (type == ElementType::F32) return Type::getFloatTy(context);
  if (type == ElementType::F64) return Type::getDoubleTy(context);
  return Type::getIntNTy(context, static_cast<unsigned>(Info(type).host_bytes()) * 8);
}

Type* ComputeType(llvm::LLVMContext& context, ElementType type) {
  if (type == ElementType::Pred) return Type::getInt1Ty(context);
  if (IsFloat(type) && type != ElementType::F64) return Type::getFloatTy(context);
  return StoredType(context, type);
}

Type* SameWidth(Type* type, Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector == nullptr ? type : llvm::FixedVectorType::get(type, vector->getNumElements());
}

Value* Splat(IRBuilderBase& b, Value* value, unsigned width) {
  return value->getType()->isVectorTy() ? value : b.CreateVectorSplat(width, value);
}

Value* Wrap(IRBuilderBase& b, ElementType type, Value* value) {
  const auto bits = static_cast<unsigned>(Info(type).bits);
  if (bits >= 8) return value;
  Value* unused = llvm::ConstantInt::get(value->getType(), 8 - bits);
  Value* high = b.CreateShl(value, unused);
  return IsSigned(type) ? b.CreateAShr(high, unused) : b.CreateLShr(high, unused);
}

Emitted FromStored(IRBuilderBase& b, ElementType type, Value* stored) {
  if (IsByteFloat(type)) return {DecodeByteFloat(b, type, stored), stored};
  const Conversion* c = FindConversion(type);
  return {c == nullptr ? stored : c->to_compute(b, stored), stored};
}

Emitted ConvertedToBf16(IRBuilderBase& b, Value* f32) {
  return FromStored(b, ElementType::BF16, RoundToBf16(b, f32, [&](Value* bits) {
                      Value* sign = b.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), 0x80000000));
                      return b.CreateOr(sign, llvm::ConstantInt::get(bits->getType(), 0x7fc00000));
                    }));
}

Emitted FromCompute(IRBuilderBase& b, ElementType type, Value* compute) {
  // What was rounded away must not be seen by later operations.
  if (IsByteFloat(type)) return FromStored(b, type, EncodeByteFloat(b, type, compute));
  if (IsIntegral(type)) compute = Wrap(b, type, compute);
  const Conversion* c = FindConversion(type);
  if (c == nullptr) return {compute, compute};
  Value* stored = c->to_stored(b, compute);
  return {type == ElementType::Pred ? compute : c->to_compute(b, stored), stored};
}

}  // namespace hlo::codegen
