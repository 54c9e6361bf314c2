#include "backends/llvm/types.h"

#include <complex>

#include "backends/llvm/code_target.h"
#include "backends/llvm/floats.h"
#include "backends/llvm/narrow.h"
#include "ir/numeric/float_format.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::IRBuilderBase;
using llvm::Type;
using llvm::Value;

/// f32 to the upper half of its bits, to nearest even; what NaNs become is given.
Value* RoundToBf16(IRBuilderBase& b, Value* x, llvm::function_ref<Value*(Value* bits)> nans) {
  if (Value* converted = CodeTargetOf(b).ToBf16(b, x)) return converted;
  Type* wide = SameWidth(b.getInt32Ty(), x->getType());
  Type* narrow = SameWidth(b.getInt16Ty(), x->getType());
  Value* bits = b.CreateBitCast(x, wide);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, kBelowBf16), llvm::ConstantInt::get(wide, 1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, llvm::ConstantInt::get(wide, kHalfBelowBf16)));
  Value* kept = b.CreateSelect(b.CreateFCmpUNO(x, x), nans(bits), rounded);
  return b.CreateTrunc(b.CreateLShr(kept, kBelowBf16), narrow);
}

/// Of what an operation gave: its NaNs have the quiet bit set, which lies in the upper half.
Value* ToBf16(IRBuilderBase& b, Value* x) {
  return RoundToBf16(b, x, [](Value* bits) { return bits; });
}

/// Of f32 from anywhere: some NaNs have nothing but low bits.
Value* AnyToBf16(IRBuilderBase& b, Value* x) {
  return RoundToBf16(b, x, [&](Value* bits) {
    Value* sign = b.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), kSign32));
    return b.CreateOr(sign, llvm::ConstantInt::get(bits->getType(), kNan32));
  });
}

Value* FromBf16(IRBuilderBase& b, Value* bits) {
  if (Value* widened = CodeTargetOf(b).FromBf16(b, bits)) return widened;
  Type* wide = SameWidth(b.getInt32Ty(), bits->getType());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, wide), kBelowBf16),
                         SameWidth(b.getFloatTy(), bits->getType()));
}

/// f32 that was rounded to these bits.
Value* Bf16AsF32(IRBuilderBase& b, Value* f32, Value* bits) {
  Value* rounded = CodeTargetOf(b).RoundToBf16(b, f32);
  return rounded == nullptr ? FromBf16(b, bits) : rounded;
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

/// The parts one after the other, as a vector of twice the lanes.
Value* SideBySide(IRBuilderBase& b, Value* complex) {
  Value *re = RealPart(b, complex), *im = ImaginaryPart(b, complex);
  if (!re->getType()->isVectorTy()) {
    Type* pair = llvm::FixedVectorType::get(re->getType(), 2);
    Value* first = b.CreateInsertElement(llvm::PoisonValue::get(pair), re, uint64_t{0});
    return b.CreateInsertElement(first, im, uint64_t{1});
  }
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(re->getType())->getNumElements());
  llvm::SmallVector<int, 32> order;
  for (int i = 0; i < lanes; ++i) order.append({i, lanes + i});
  return b.CreateShuffleVector(re, im, order);
}

Value* ToComplexBits(IRBuilderBase& b, Value* x) {
  Value* parts = SideBySide(b, x);
  const auto* type = llvm::cast<llvm::FixedVectorType>(parts->getType());
  Type* bits = b.getIntNTy(2 * type->getScalarSizeInBits());
  const bool vector = PartType(x->getType())->isVectorTy();
  return b.CreateBitCast(parts, vector ? llvm::FixedVectorType::get(bits, type->getNumElements() / 2) : bits);
}

Value* FromComplexBits(IRBuilderBase& b, Value* bits) {
  const bool wide = bits->getType()->getScalarSizeInBits() == sizeof(std::complex<double>) * CHAR_BIT;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(bits->getType());
  const unsigned lanes = vector == nullptr ? 1 : vector->getNumElements();
  Type* part = wide ? b.getDoubleTy() : b.getFloatTy();
  Value* parts = b.CreateBitCast(bits, llvm::FixedVectorType::get(part, 2 * lanes));
  if (vector == nullptr)
    return MakeComplex(b, b.CreateExtractElement(parts, uint64_t{0}),
                       b.CreateExtractElement(parts, uint64_t{1}));
  llvm::SmallVector<int, 16> even, odd;
  for (unsigned i = 0; i < lanes; ++i) {
    even.push_back(static_cast<int>(2 * i));
    odd.push_back(static_cast<int>(2 * i + 1));
  }
  return MakeComplex(b, b.CreateShuffleVector(parts, even), b.CreateShuffleVector(parts, odd));
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
    {ElementType::C64, ToComplexBits, FromComplexBits},
    {ElementType::C128, ToComplexBits, FromComplexBits},
};

const Conversion* FindConversion(ElementType type) {
  for (const Conversion& c : kConversions)
    if (c.type == type) return &c;
  return nullptr;
}

}  // namespace

llvm::Align AlignOf(const Type* type) {
  return llvm::Align(std::min<uint64_t>(type->getScalarSizeInBits() / CHAR_BIT, sizeof(double)));
}

bool IsSupported(ElementType type) {
  if (IsIntegral(type) || IsByteFloat(type)) return true;
  return type == ElementType::F32 || type == ElementType::F64 || FindConversion(type) != nullptr;
}

Type* StoredType(llvm::LLVMContext& context, ElementType type) {
  if (type == ElementType::F32) return Type::getFloatTy(context);
  if (type == ElementType::F64) return Type::getDoubleTy(context);
  return Type::getIntNTy(context, static_cast<unsigned>(Info(type).host_bytes()) * CHAR_BIT);
}

Type* ComputeType(llvm::LLVMContext& context, ElementType type) {
  if (type == ElementType::Pred) return Type::getInt1Ty(context);
  if (IsFloat(type) && type != ElementType::F64) return Type::getFloatTy(context);
  if (IsComplex(type)) {
    Type* part = ComputeType(context, RealPartType(type));
    return llvm::StructType::get(part, part);
  }
  return StoredType(context, type);
}

Type* PartType(Type* type) {
  const auto* complex = llvm::dyn_cast<llvm::StructType>(type);
  return complex == nullptr ? type : complex->getElementType(0);
}

Value* MakeComplex(IRBuilderBase& b, Value* real, Value* imaginary) {
  Value* none = llvm::PoisonValue::get(llvm::StructType::get(real->getType(), imaginary->getType()));
  return b.CreateInsertValue(b.CreateInsertValue(none, real, 0), imaginary, 1);
}
Value* RealPart(IRBuilderBase& b, Value* complex) { return b.CreateExtractValue(complex, 0); }
Value* ImaginaryPart(IRBuilderBase& b, Value* complex) { return b.CreateExtractValue(complex, 1); }

Value* ForEachPart(IRBuilderBase& b, llvm::ArrayRef<Value*> values,
                   llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> f) {
  if (!values[0]->getType()->isStructTy()) return f(values);
  llvm::SmallVector<Value*, 2> real, imaginary;
  for (Value* value : values) {
    real.push_back(RealPart(b, value));
    imaginary.push_back(ImaginaryPart(b, value));
  }
  Value* first = f(real);
  return MakeComplex(b, first, f(imaginary));
}

Type* SameWidth(Type* type, Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(PartType(like));
  if (vector != nullptr && type->isStructTy()) {
    Type* part = SameWidth(PartType(type), like);
    return llvm::StructType::get(part, part);
  }
  return vector == nullptr ? type : llvm::FixedVectorType::get(type, vector->getNumElements());
}

Value* Splat(IRBuilderBase& b, Value* value, unsigned width) {
  if (PartType(value->getType())->isVectorTy()) return value;
  return ForEachPart(
      b, {value}, [&](llvm::ArrayRef<Value*> part) -> Value* { return b.CreateVectorSplat(width, part[0]); });
}

Value* Wrap(IRBuilderBase& b, ElementType type, Value* value) {
  const auto bits = static_cast<unsigned>(Info(type).bits);
  if (bits >= CHAR_BIT) return value;
  Value* unused = llvm::ConstantInt::get(value->getType(), CHAR_BIT - bits);
  Value* high = b.CreateShl(value, unused);
  return IsSigned(type) ? b.CreateAShr(high, unused) : b.CreateLShr(high, unused);
}

Emitted FromStored(IRBuilderBase& b, ElementType type, Value* stored) {
  if (IsByteFloat(type)) return {DecodeByteFloat(b, type, stored), stored};
  const Conversion* c = FindConversion(type);
  return {c == nullptr ? stored : c->to_compute(b, stored), stored};
}

Emitted ExactInBf16(IRBuilderBase& b, ElementType type, Value* f32) {
  Type* wide = SameWidth(b.getInt32Ty(), f32->getType());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* bits = b.CreateBitCast(f32, wide);
  if (Format(type).has_infinity()) {  // and several NaNs, of which the sign stays
    Value* nan = b.CreateOr(b.CreateAnd(bits, number(kSign32)), number(kNan32));
    bits = b.CreateSelect(b.CreateFCmpUNO(f32, f32), nan, bits);
  }
  return FromStored(b, ElementType::BF16,
                    b.CreateTrunc(b.CreateLShr(bits, kBelowBf16), SameWidth(b.getInt16Ty(), wide)));
}

Emitted ConvertedToBf16(IRBuilderBase& b, Value* f32) {
  Value* stored = AnyToBf16(b, f32);
  return {Bf16AsF32(b, f32, stored), stored};
}

Emitted ComputedInBf16(IRBuilderBase& b, Value* f32) {
  if (Value* converted = CodeTargetOf(b).ToBf16(b, f32)) return {Bf16AsF32(b, f32, converted), converted};
  constexpr uint64_t kLast = uint64_t{1} << kBelowBf16;
  Type* wide = SameWidth(b.getInt32Ty(), f32->getType());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* bits = b.CreateBitCast(f32, wide);
  Value* last = b.CreateAnd(bits, number(kLast));
  Value* rounded = CodeTargetOf(b).RoundBitsToBf16(b, bits, last);
  if (rounded == nullptr)
    rounded = b.CreateAdd(bits, b.CreateAdd(b.CreateLShr(last, kBelowBf16), number(kHalfBelowBf16)));
  Value* stored = b.CreateTrunc(b.CreateLShr(rounded, kBelowBf16), SameWidth(b.getInt16Ty(), wide));
  return FromStored(b, ElementType::BF16, stored);
}

Value* NormalToBf16(IRBuilderBase& b, Value* f32) {
  Value* rounded = CodeTargetOf(b).NormalToBf16(b, f32);
  return rounded == nullptr ? ComputedInBf16(b, f32).stored : rounded;
}

Value* AnySubnormal(IRBuilderBase& b, Value* f32) {
  return CodeTargetOf(b).AnySubnormal(b, f32, /*or_nan=*/false);
}

Value* StoredAsBf16(IRBuilderBase& b, Value* f32, bool converted) {
  llvm::BasicBlock* from = b.GetInsertBlock();
  // The instruction takes subnormals as zeros, and NaNs keep what they have in their upper half.
  Value* any = CodeTargetOf(b).AnySubnormal(b, f32, /*or_nan=*/converted);
  if (any == nullptr) return nullptr;
  auto* rare = llvm::BasicBlock::Create(b.getContext(), "rare", from->getParent());
  auto* next = llvm::BasicBlock::Create(b.getContext(), "next", from->getParent());
  Value* rounded = NormalToBf16(b, f32);
  b.CreateCondBr(any, rare, next, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  Value* by_integers = converted ? AnyToBf16(b, f32) : ToBf16(b, f32);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  llvm::PHINode* phi = b.CreatePHI(rounded->getType(), 2);
  phi->addIncoming(rounded, from);
  phi->addIncoming(by_integers, rare);
  return phi;
}

Emitted FromCompute(IRBuilderBase& b, ElementType type, Value* compute) {
  // What was rounded away must not be seen by later operations.
  if (IsByteFloat(type)) return FromStored(b, type, EncodeByteFloat(b, type, compute));
  if (IsIntegral(type)) compute = Wrap(b, type, compute);
  const Conversion* c = FindConversion(type);
  if (c == nullptr) return {compute, compute};
  Value* stored = c->to_stored(b, compute);
  if (type == ElementType::BF16) return {Bf16AsF32(b, compute, stored), stored};
  return {type == ElementType::Pred ? compute : c->to_compute(b, stored), stored};
}

}  // namespace hlo::codegen
