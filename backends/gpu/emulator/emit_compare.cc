// Comparisons and selections (ptx.md §2.2).
#include "backends/gpu/emulator/emit.h"

namespace hlo::gpu {
namespace {

using llvm::CmpInst;
using llvm::Value;
using ptx::Instruction;
using ptx::IsFloat;
using ptx::IsSigned;
using ptx::Mod;
using ptx::Type;
using E = FunctionEmitter;

struct Comparison {
  Mod mod;
  CmpInst::Predicate is_signed, is_unsigned, real;
};
constexpr auto kNone = CmpInst::BAD_ICMP_PREDICATE;
constexpr Comparison kComparisons[] = {{Mod::Eq, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ},
                                       {Mod::Ne, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE},
                                       {Mod::Lt, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT},
                                       {Mod::Le, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE},
                                       {Mod::Gt, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT},
                                       {Mod::Ge, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE},
                                       {Mod::Lo, kNone, CmpInst::ICMP_ULT, kNone},
                                       {Mod::Ls, kNone, CmpInst::ICMP_ULE, kNone},
                                       {Mod::Hi, kNone, CmpInst::ICMP_UGT, kNone},
                                       {Mod::Hs, kNone, CmpInst::ICMP_UGE, kNone},
                                       {Mod::Equ, kNone, kNone, CmpInst::FCMP_UEQ},
                                       {Mod::Neu, kNone, kNone, CmpInst::FCMP_UNE},
                                       {Mod::Ltu, kNone, kNone, CmpInst::FCMP_ULT},
                                       {Mod::Leu, kNone, kNone, CmpInst::FCMP_ULE},
                                       {Mod::Gtu, kNone, kNone, CmpInst::FCMP_UGT},
                                       {Mod::Geu, kNone, kNone, CmpInst::FCMP_UGE},
                                       {Mod::Num, kNone, kNone, CmpInst::FCMP_ORD},
                                       {Mod::Nan, kNone, kNone, CmpInst::FCMP_UNO}};

const Comparison& ComparisonOf(const Instruction& inst) {
  for (const Comparison& comparison : kComparisons)
    if (inst.Has(comparison.mod)) return comparison;
  llvm_unreachable("no comparison");
}

Value* Compare(E& e, const Instruction& inst, Type scalar, Value* x, Value* y) {
  if (IsFloat(scalar)) return CompareFloats(e, inst, scalar, x, y);
  const Comparison& how = ComparisonOf(inst);
  return e.b().CreateICmp(IsSigned(scalar) ? how.is_signed : how.is_unsigned, x, y);
}

/// With what .and, .or or .xor combine.
Value* Combine(E& e, const Instruction& inst, Value* x, Value* c) {
  if (inst.Has(Mod::And)) return e.b().CreateAnd(x, c);
  if (inst.Has(Mod::Or)) return e.b().CreateOr(x, c);
  if (inst.Has(Mod::Xor)) return e.b().CreateXor(x, c);
  return x;
}

void EmitSetp(E& e, const Instruction& inst) {
  auto& b = e.b();
  const Type type = inst.type(), scalar = ScalarOf(type);
  Value *x = e.Source(inst, 1), *y = e.Source(inst, 2);
  Value* c = inst.operands.size() > 3 ? e.Source(inst, 3) : nullptr;
  const ptx::Operand& to = inst.operands[0];
  Value *first = nullptr, *second = nullptr;
  if (scalar == type) {
    Value* holds = Compare(e, inst, scalar, x, y);
    first = Combine(e, inst, holds, c);
    second = Combine(e, inst, b.CreateNot(holds), c);
  } else {
    const auto lane = [&](Value* whole, uint64_t i) {
      return b.CreateTrunc(b.CreateLShr(whole, 16 * i), e.Int(16));
    };
    first = Combine(e, inst, Compare(e, inst, scalar, lane(x, 0), lane(y, 0)), c);
    second = Combine(e, inst, Compare(e, inst, scalar, lane(x, 1), lane(y, 1)), c);
  }
  if (to.reg != nullptr) e.WriteRegister(*to.reg, first);
  if (to.second != nullptr) e.WriteRegister(*to.second, second);
}

/// All ones or 1.0 where it holds.
void EmitSet(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* holds = Compare(e, inst, inst.type(1), e.Source(inst, 1), e.Source(inst, 2));
  Value* yes = e.I(32, inst.type(0) == Type::F32 ? 0x3f800000 : 0xffffffff);
  e.Result(inst, b.CreateSelect(holds, yes, e.I(32, 0)));
}

void EmitSelp(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateSelect(e.Source(inst, 3), e.Source(inst, 1), e.Source(inst, 2)));
}

/// c >= 0 ? a : b; NaN takes b, -0 takes a.
void EmitSlct(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* c = e.Source(inst, 3);
  Value* zero = llvm::ConstantInt::get(c->getType(), 0);
  Value* holds = inst.type(1) == Type::F32 ? b.CreateFCmpOGE(b.CreateBitCast(c, b.getFloatTy()),
                                                             llvm::ConstantFP::get(b.getFloatTy(), 0))
                                           : b.CreateICmpSGE(c, zero);
  e.Result(inst, b.CreateSelect(holds, e.Source(inst, 1), e.Source(inst, 2)));
}

void EmitTestp(E& e, const Instruction& inst) {
  auto& b = e.b();
  static constexpr std::pair<Mod, llvm::FPClassTest> kTests[] = {
      {Mod::Finite, llvm::fcFinite},  {Mod::Infinite, llvm::fcInf},  {Mod::Number, ~llvm::fcNan},
      {Mod::NotANumber, llvm::fcNan}, {Mod::Normal, llvm::fcNormal}, {Mod::Subnormal, llvm::fcSubnormal}};
  for (const auto& [mod, test] : kTests)
    if (inst.Has(mod)) {
      Value* x = ToFloat(e, inst.type(), e.Source(inst, 1));
      e.Result(inst, b.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {x->getType()},
                                       {x, b.getInt32(test & llvm::fcAllFlags)}));
    }
}

/// The sign of a and the magnitude of b.
void EmitCopysign(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *x = e.Source(inst, 1), *y = e.Source(inst, 2);
  const unsigned bits = x->getType()->getIntegerBitWidth();
  Value* sign = e.I(bits, uint64_t{1} << (bits - 1));
  e.Result(inst, b.CreateOr(b.CreateAnd(x, sign), b.CreateAnd(y, b.CreateNot(sign))));
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::Setp, EmitSetp}, {ptx::Kind::Set, EmitSet},     {ptx::Kind::Selp, EmitSelp},
    {ptx::Kind::Slct, EmitSlct}, {ptx::Kind::Testp, EmitTestp}, {ptx::Kind::Copysign, EmitCopysign},
};

}  // namespace

Value* CompareFloats(E& e, const Instruction& inst, Type scalar, Value* x, Value* y) {
  if (inst.Has(Mod::Ftz)) {
    x = Flush(e, scalar, x);
    y = Flush(e, scalar, y);
  }
  return e.b().CreateFCmp(ComparisonOf(inst).real, ToFloat(e, scalar, x), ToFloat(e, scalar, y));
}

llvm::ArrayRef<EmitRow> CompareRows() { return kRows; }

}  // namespace hlo::gpu
