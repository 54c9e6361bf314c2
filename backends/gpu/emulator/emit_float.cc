// Floating-point arithmetic (ptx.md §2.3).
#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/soft_float.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Mod;
using ptx::Type;
using E = FunctionEmitter;

unsigned BitsOf(Value* x) { return x->getType()->getIntegerBitWidth(); }
Value* SignBit(E& e, unsigned bits) { return e.I(bits, uint64_t{1} << (bits - 1)); }

/// Bits of the largest finite number, and of infinity.
uint64_t InfinityOf(Type scalar) {
  static constexpr std::pair<Type, uint64_t> kInfinities[] = {
      {Type::F16, 0x7c00}, {Type::BF16, 0x7f80}, {Type::F32, 0x7f800000}, {Type::F64, 0x7ff0000000000000}};
  for (const auto& [type, bits] : kInfinities)
    if (type == scalar) return bits;
  llvm_unreachable("no float");
}

Value* Magnitude(E& e, Value* bits) {
  return e.b().CreateAnd(bits, e.b().CreateNot(SignBit(e, BitsOf(bits))));
}
Value* IsNan(E& e, Type scalar, Value* bits) {
  return e.b().CreateICmpUGT(Magnitude(e, bits), e.I(BitsOf(bits), InfinityOf(scalar)));
}
Value* Canonical(E& e, Type scalar, Value* bits) {
  return e.b().CreateSelect(IsNan(e, scalar, bits), e.I(BitsOf(bits), CanonicalNan(scalar)), bits);
}

/// Whether host instructions round as asked: to nearest even, and once.
bool IsNative(const Instruction& inst, Type scalar) {
  const bool nearest = !inst.Has(Mod::Rz) && !inst.Has(Mod::Rm) && !inst.Has(Mod::Rp);
  // What f32 computes of narrower numbers rounds to them as if once, but for fma.
  return nearest && (inst.kind() != ptx::Kind::Fma || scalar == Type::F32 || scalar == Type::F64);
}

Value* Native(E& e, const Instruction& inst, llvm::ArrayRef<Value*> x) {
  auto& b = e.b();
  switch (inst.kind()) {
    case ptx::Kind::FAdd: return b.CreateFAdd(x[0], x[1]);
    case ptx::Kind::FSub: return b.CreateFSub(x[0], x[1]);
    case ptx::Kind::FMul: return b.CreateFMul(x[0], x[1]);
    case ptx::Kind::FDiv: return b.CreateFDiv(x[0], x[1]);
    case ptx::Kind::Fma: return b.CreateIntrinsic(llvm::Intrinsic::fma, {x[0]->getType()}, x);
    case ptx::Kind::Rcp: return b.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1), x[0]);
    case ptx::Kind::Sqrt: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
    default: llvm_unreachable("no arithmetic");
  }
}

Value* Soft(E& e, const Instruction& inst, Type scalar, llvm::ArrayRef<Value*> x) {
  auto& b = e.b();
  llvm::SmallVector<Value*> arguments{e.HostPointer(&inst), e.I(32, static_cast<uint64_t>(scalar))};
  for (size_t i = 0; i < 3; ++i)
    arguments.push_back(i < x.size() ? b.CreateZExt(x[i], e.Int(64)) : static_cast<Value*>(e.I(64, 0)));
  return b.CreateTrunc(e.CallHost(&SoftArithmetic, e.Int(64), arguments), x[0]->getType());
}

void EmitArithmetic(E& e, const Instruction& inst) {
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> given) {
    llvm::SmallVector<Value*> x(given);
    const bool flush = inst.Has(Mod::Ftz);
    if (flush)
      for (Value*& v : x) v = Flush(e, scalar, v);
    Value* result = nullptr;
    if (IsNative(inst, scalar)) {
      llvm::SmallVector<Value*> floats;
      for (Value* v : x) floats.push_back(ToFloat(e, scalar, v));
      result = FromFloat(e, scalar, Native(e, inst, floats));
    } else {
      result = Soft(e, inst, scalar, x);
    }
    if (flush) result = Flush(e, scalar, result);
    if (inst.Has(Mod::Sat)) result = SaturateBits(e, scalar, result);
    if (inst.Has(Mod::Relu)) result = ReluBits(e, scalar, result);
    return result;
  });
}

void EmitApproximation(E& e, const Instruction& inst) {
  auto& b = e.b();
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> x) {
    const bool flush = inst.Has(Mod::Ftz);
    const auto argument = [&](size_t i) -> Value* {
      if (i >= x.size()) return e.I(64, 0);
      return b.CreateZExt(flush ? Flush(e, scalar, x[i]) : x[i], e.Int(64));
    };
    Value* bits =
        e.CallHost(&Approximate, e.Int(64),
                   {e.HostPointer(&inst), e.I(32, static_cast<uint64_t>(scalar)), argument(0), argument(1)});
    bits = b.CreateTrunc(bits, x[0]->getType());
    return flush ? Flush(e, scalar, bits) : bits;
  });
}

/// Of integers that order as the floats do: the larger; -0 is less than 0.
template <bool maximum>
void EmitExtreme(E& e, const Instruction& inst) {
  auto& b = e.b();
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> given) {
    Value *x = given[0], *y = given[1];
    const unsigned bits = BitsOf(x);
    if (inst.Has(Mod::Ftz)) x = Flush(e, scalar, x), y = Flush(e, scalar, y);
    Value* sign = nullptr;
    if (inst.Has(Mod::Xorsign)) {
      sign = b.CreateAnd(b.CreateXor(x, y), SignBit(e, bits));
      x = Magnitude(e, x);
      y = Magnitude(e, y);
    }
    const auto ordered = [&](Value* v) { return b.CreateXor(v, b.CreateLShr(b.CreateAShr(v, bits - 1), 1)); };
    Value* less = b.CreateICmpSLT(ordered(x), ordered(y));
    Value* result = maximum ? b.CreateSelect(less, y, x) : b.CreateSelect(less, x, y);
    Value *x_nan = IsNan(e, scalar, x), *y_nan = IsNan(e, scalar, y);
    Value* nan = e.I(bits, CanonicalNan(scalar));
    if (inst.Has(Mod::NaN)) {
      result = b.CreateSelect(b.CreateOr(x_nan, y_nan), nan, result);
    } else {
      result = b.CreateSelect(x_nan, y, b.CreateSelect(y_nan, x, result));
      result = b.CreateSelect(b.CreateAnd(x_nan, y_nan), nan, result);
    }
    return sign != nullptr ? b.CreateOr(result, sign) : result;
  });
}

void EmitAbs(E& e, const Instruction& inst) {
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> x) {
    return Magnitude(e, inst.Has(Mod::Ftz) ? Flush(e, scalar, x[0]) : x[0]);
  });
}
void EmitNeg(E& e, const Instruction& inst) {
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> x) {
    return e.b().CreateXor(inst.Has(Mod::Ftz) ? Flush(e, scalar, x[0]) : x[0], SignBit(e, BitsOf(x[0])));
  });
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::FAdd, EmitArithmetic},
    {ptx::Kind::FSub, EmitArithmetic},
    {ptx::Kind::FMul, EmitArithmetic},
    {ptx::Kind::FDiv, EmitArithmetic},
    {ptx::Kind::Fma, EmitArithmetic},
    {ptx::Kind::Rcp, EmitArithmetic},
    {ptx::Kind::Sqrt, EmitArithmetic},
    {ptx::Kind::FDivApprox, EmitApproximation},
    {ptx::Kind::RcpApprox, EmitApproximation},
    {ptx::Kind::SqrtApprox, EmitApproximation},
    {ptx::Kind::Rsqrt, EmitApproximation},
    {ptx::Kind::Ex2, EmitApproximation},
    {ptx::Kind::Lg2, EmitApproximation},
    {ptx::Kind::Sin, EmitApproximation},
    {ptx::Kind::Cos, EmitApproximation},
    {ptx::Kind::Tanh, EmitApproximation},
    {ptx::Kind::FMin, EmitExtreme<false>},
    {ptx::Kind::FMax, EmitExtreme<true>},
    {ptx::Kind::FAbs, EmitAbs},
    {ptx::Kind::FNeg, EmitNeg},
};

}  // namespace

Value* ToFloat(E& e, Type scalar, Value* bits) {
  auto& b = e.b();
  if (scalar == Type::F32) return b.CreateBitCast(bits, b.getFloatTy());
  if (scalar == Type::F64) return b.CreateBitCast(bits, b.getDoubleTy());
  if (scalar == Type::F16) return b.CreateFPExt(b.CreateBitCast(bits, b.getHalfTy()), b.getFloatTy());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, e.Int(32)), 16), b.getFloatTy());
}

Value* FromFloat(E& e, Type scalar, Value* value) {
  auto& b = e.b();
  if (scalar == Type::F64) return b.CreateBitCast(value, e.Int(64));
  if (scalar == Type::F32) return Canonical(e, scalar, b.CreateBitCast(value, e.Int(32)));
  if (scalar == Type::F16)
    return Canonical(e, scalar, b.CreateBitCast(b.CreateFPTrunc(value, b.getHalfTy()), e.Int(16)));
  // bf16 to nearest even: what is added carries into the upper half.
  Value* bits = b.CreateBitCast(value, e.Int(32));
  Value* last = b.CreateAnd(b.CreateLShr(bits, 16), e.I(32, 1));
  Value* rounded = b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(last, e.I(32, 0x7fff))), 16);
  rounded = b.CreateTrunc(rounded, e.Int(16));
  return b.CreateSelect(IsNan(e, Type::F32, bits), e.I(16, 0x7fff), rounded);
}

Value* Flush(E& e, Type scalar, Value* bits) {
  auto& b = e.b();
  static constexpr std::pair<Type, uint64_t> kSmallest[] = {
      {Type::F16, 0x0400}, {Type::BF16, 0x0080}, {Type::F32, 0x00800000}, {Type::F64, 0x0010000000000000}};
  for (const auto& [type, smallest] : kSmallest)
    if (type == scalar)
      return b.CreateSelect(b.CreateICmpULT(Magnitude(e, bits), e.I(BitsOf(bits), smallest)),
                            b.CreateAnd(bits, SignBit(e, BitsOf(bits))), bits);
  llvm_unreachable("no float");
}

/// Clamped to [0, 1]; NaN and -0 become +0.
Value* SaturateBits(E& e, Type scalar, Value* bits) {
  auto& b = e.b();
  const unsigned width = BitsOf(bits);
  static constexpr std::pair<Type, uint64_t> kOnes[] = {
      {Type::F16, 0x3c00}, {Type::BF16, 0x3f80}, {Type::F32, 0x3f800000}, {Type::F64, 0x3ff0000000000000}};
  uint64_t one = 0;
  for (const auto& [type, value] : kOnes)
    if (type == scalar) one = value;
  Value* clamped = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, bits, e.I(width, one));
  Value* none = b.CreateOr(IsNan(e, scalar, bits), b.CreateICmpSLT(bits, e.I(width, 0)));
  return b.CreateSelect(none, e.I(width, 0), clamped);
}

/// Negative numbers become +0, NaN the one of the type.
Value* ReluBits(E& e, Type scalar, Value* bits) {
  auto& b = e.b();
  Value* nan = IsNan(e, scalar, bits);
  Value* negative = b.CreateICmpSLT(bits, e.I(BitsOf(bits), 0));
  Value* result = b.CreateSelect(negative, e.I(BitsOf(bits), 0), bits);
  return b.CreateSelect(nan, e.I(BitsOf(bits), CanonicalNan(scalar)), result);
}

llvm::ArrayRef<EmitRow> FloatRows() { return kRows; }

}  // namespace hlo::gpu
