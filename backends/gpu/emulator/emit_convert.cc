// cvt (ptx.md §2.4): what host instructions do as well is written out, all else the emulator does.
#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/soft_float.h"
#include "backends/gpu/ptx/check.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::IsFloat;
using ptx::IsSigned;
using ptx::Mod;
using ptx::Type;
using E = FunctionEmitter;

bool IsHost(Type type) { return type == Type::F32 || type == Type::F64; }

Value* Soft(E& e, const Instruction& inst, Value* a, Value* c) {
  auto& b = e.b();
  Value* bits = e.CallHost(&Convert, e.Int(64),
                           {e.HostPointer(&inst), b.CreateZExt(a, e.Int(64)), b.CreateZExt(c, e.Int(64))});
  return b.CreateTrunc(bits, e.IntOf(ptx::TypeOfOperand(inst, 0)));
}

/// Rounded to an integer, of f32 and f64.
Value* ToIntegral(E& e, const Instruction& inst, Value* x) {
  static constexpr std::pair<Mod, llvm::Intrinsic::ID> kRoundings[] = {{Mod::Rni, llvm::Intrinsic::rint},
                                                                       {Mod::Rzi, llvm::Intrinsic::trunc},
                                                                       {Mod::Rmi, llvm::Intrinsic::floor},
                                                                       {Mod::Rpi, llvm::Intrinsic::ceil}};
  for (const auto& [mod, id] : kRoundings)
    if (inst.Has(mod)) return e.b().CreateUnaryIntrinsic(id, x);
  llvm_unreachable("no rounding to integers");
}

Value* FloatToInteger(E& e, const Instruction& inst, Value* bits) {
  auto& b = e.b();
  const Type to = inst.type(0), from = inst.type(1);
  Value* x = ToFloat(e, from, inst.Has(Mod::Ftz) ? Flush(e, from, bits) : bits);
  llvm::IntegerType* type = e.IntOf(to);
  Value* result = b.CreateIntrinsic(IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                    {type, x->getType()}, {ToIntegral(e, inst, x)});
  const unsigned width = type->getBitWidth();
  const bool wide = from == Type::F64 || width == 64;
  return b.CreateSelect(b.CreateFCmpUNO(x, x), e.I(width, wide ? uint64_t{1} << (width - 1) : 0), result);
}

/// Between f32 and f64, and from f16 and bf16 to them: NaNs keep their payload only between the former.
Value* FloatToFloat(E& e, const Instruction& inst, Value* bits) {
  auto& b = e.b();
  const Type to = inst.type(0), from = inst.type(1);
  const bool integral = inst.Has(Mod::Rni) || inst.Has(Mod::Rzi) || inst.Has(Mod::Rmi) || inst.Has(Mod::Rpi);
  if (inst.Has(Mod::Ftz) && from == Type::F32) bits = Flush(e, from, bits);
  Value* x = ToFloat(e, from, bits);
  if (integral) x = ToIntegral(e, inst, x);
  llvm::Type* wanted = to == Type::F64 ? b.getDoubleTy() : b.getFloatTy();
  x = b.CreateFPCast(x, wanted);
  Value* result = b.CreateBitCast(x, e.IntOf(to));
  if (!IsHost(from))
    result = b.CreateSelect(b.CreateFCmpUNO(x, x), e.I(ptx::BitsOf(to), CanonicalNan(to)), result);
  if (integral && from == to)
    result = b.CreateSelect(b.CreateFCmpUNO(x, x), e.I(ptx::BitsOf(to), CanonicalNan(to)), result);
  if (inst.Has(Mod::Ftz) && to == Type::F32) result = Flush(e, to, result);
  return inst.Has(Mod::Sat) ? SaturateBits(e, to, result) : result;
}

bool RoundsToNearest(const Instruction& inst) {
  return !inst.Has(Mod::Rz) && !inst.Has(Mod::Rm) && !inst.Has(Mod::Rp);
}

void EmitCvt(E& e, const Instruction& inst) {
  auto& b = e.b();
  const Type to = inst.type(0), from = inst.type(1);
  Value* a = e.Source(inst, 1);
  const bool plain = RoundsToNearest(inst) && !inst.Has(Mod::Relu) && !inst.Has(Mod::Satfinite);
  if (!IsFloat(to) && !IsFloat(from)) {
    if (inst.Has(Mod::Sat)) return e.Result(inst, Soft(e, inst, a, a));
    a = IsSigned(from) ? b.CreateSExtOrTrunc(a, e.IntOf(to)) : b.CreateZExtOrTrunc(a, e.IntOf(to));
    return e.Result(inst, a);
  }
  if (!IsFloat(to)) return e.Result(inst, FloatToInteger(e, inst, a));
  if (!IsFloat(from)) {
    if (!IsHost(to) || !plain || inst.Has(Mod::Sat)) return e.Result(inst, Soft(e, inst, a, a));
    llvm::Type* type = to == Type::F64 ? b.getDoubleTy() : b.getFloatTy();
    Value* x = IsSigned(from) ? b.CreateSIToFP(a, type) : b.CreateUIToFP(a, type);
    return e.Result(inst, b.CreateBitCast(x, e.IntOf(to)));
  }
  if (IsHost(to) && plain) return e.Result(inst, FloatToFloat(e, inst, a));
  if (from == Type::F32 && plain && !inst.Has(Mod::Ftz) && !inst.Has(Mod::Sat))
    return e.Result(inst, FromFloat(e, to, ToFloat(e, from, a)));
  e.Result(inst, Soft(e, inst, a, a));
}

/// The first operand in the upper half.
void EmitPair(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *high = e.Source(inst, 1), *low = e.Source(inst, 2);
  const bool plain = RoundsToNearest(inst) && !inst.Has(Mod::Relu) && !inst.Has(Mod::Satfinite);
  if (!plain) return e.Result(inst, Soft(e, inst, high, low));
  const Type scalar = ScalarOf(inst.type());
  const auto half = [&](Value* x) {
    return b.CreateZExt(FromFloat(e, scalar, ToFloat(e, Type::F32, x)), e.Int(32));
  };
  e.Result(inst, b.CreateOr(b.CreateShl(half(high), 16), half(low)));
}

void EmitSoft(E& e, const Instruction& inst) {
  Value* a = e.Source(inst, 1);
  e.Result(inst, Soft(e, inst, a, a));
}

constexpr EmitRow kRows[] = {{ptx::Kind::Cvt, EmitCvt},
                             {ptx::Kind::CvtPair, EmitPair},
                             {ptx::Kind::CvtTf32, EmitSoft},
                             {ptx::Kind::CvtF8, EmitSoft}};

}  // namespace

llvm::ArrayRef<EmitRow> ConvertRows() { return kRows; }

}  // namespace hlo::gpu
