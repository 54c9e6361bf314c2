// Bits: logic, shifts, fields, permutations (ptx.md §2.1).
#include "backends/gpu/emulator/emit.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::IsSigned;
using ptx::Mod;
using ptx::Type;
using E = FunctionEmitter;

template <llvm::Instruction::BinaryOps op>
void EmitLogic(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateBinOp(op, e.Source(inst, 1), e.Source(inst, 2)));
}
void EmitNot(E& e, const Instruction& inst) { e.Result(inst, e.b().CreateNot(e.Source(inst, 1))); }
void EmitCnot(E& e, const Instruction& inst) {
  Value* x = e.Source(inst, 1);
  e.Result(inst, e.b().CreateZExt(e.b().CreateIsNull(x), x->getType()));
}

/// The low 32 bits of a count as a number of the value's type; `past`: it is at least the width.
struct Amount {
  Value* value;
  Value* past;
};
Amount AmountOf(E& e, Value* amount, llvm::Type* type) {
  auto& b = e.b();
  const unsigned bits = type->getIntegerBitWidth();
  Value* past = b.CreateICmpUGE(amount, e.I(32, bits));
  Value* within = b.CreateSelect(past, e.I(32, 0), amount);
  return {b.CreateZExtOrTrunc(within, type), past};
}

/// Amounts from the width on give 0, or the sign.
void EmitShl(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* x = e.Source(inst, 1);
  const Amount by = AmountOf(e, e.Source(inst, 2), x->getType());
  e.Result(inst, b.CreateSelect(by.past, llvm::ConstantInt::get(x->getType(), 0), b.CreateShl(x, by.value)));
}
void EmitShr(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* x = e.Source(inst, 1);
  const Amount by = AmountOf(e, e.Source(inst, 2), x->getType());
  const unsigned bits = x->getType()->getIntegerBitWidth();
  if (IsSigned(inst.type()))
    return e.Result(inst, b.CreateAShr(x, b.CreateSelect(by.past, e.I(bits, bits - 1), by.value)));
  e.Result(inst, b.CreateSelect(by.past, llvm::ConstantInt::get(x->getType(), 0), b.CreateLShr(x, by.value)));
}

/// Of b:a, a the low half: the upper word shifted left, or the lower one shifted right.
void EmitShf(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* whole = b.CreateOr(b.CreateZExt(e.Source(inst, 1), e.Int(64)),
                            b.CreateShl(b.CreateZExt(e.Source(inst, 2), e.Int(64)), 32));
  Value* n = e.Source(inst, 3);
  n = inst.Has(Mod::Wrap) ? b.CreateAnd(n, e.I(32, 31))
                          : b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, n, e.I(32, 32));
  n = b.CreateZExt(n, e.Int(64));
  Value* result = inst.Has(Mod::L) ? b.CreateLShr(b.CreateShl(whole, n), 32) : b.CreateLShr(whole, n);
  e.Result(inst, b.CreateTrunc(result, e.Int(32)));
}

Value* LowByte(E& e, Value* x) { return e.b().CreateAnd(x, e.I(32, 255)); }
/// The low `n` bits set, n any number of 32 bits.
Value* MaskOf(E& e, Value* n, llvm::Type* type) {
  auto& b = e.b();
  const Amount by = AmountOf(e, n, type);
  Value* mask =
      b.CreateSub(b.CreateShl(llvm::ConstantInt::get(type, 1), by.value), llvm::ConstantInt::get(type, 1));
  return b.CreateSelect(by.past, llvm::ConstantInt::getAllOnesValue(type), mask);
}

void EmitBfe(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* x = e.Source(inst, 1);
  llvm::Type* type = x->getType();
  const unsigned bits = type->getIntegerBitWidth();
  Value *pos = LowByte(e, e.Source(inst, 2)), *len = LowByte(e, e.Source(inst, 3));
  const Amount at = AmountOf(e, pos, type);
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* mask = MaskOf(e, len, type);
  Value* field = b.CreateSelect(at.past, zero, b.CreateLShr(x, at.value));
  Value* result = b.CreateAnd(field, mask);
  if (IsSigned(inst.type())) {
    // The sign is the field's last bit, or the value's.
    Value* last = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                          b.CreateSub(b.CreateAdd(pos, len), e.I(32, 1)), e.I(32, bits - 1));
    Value* sign = b.CreateTrunc(b.CreateLShr(x, b.CreateZExtOrTrunc(last, type)), e.Int(1));
    // Bits of the mask beyond the value are fill as well.
    Value* have = b.CreateSelect(
        at.past, zero, b.CreateAnd(mask, b.CreateLShr(llvm::ConstantInt::getAllOnesValue(type), at.value)));
    Value* filled = b.CreateOr(b.CreateAnd(field, have), b.CreateNot(have));
    result = b.CreateSelect(sign, filled, b.CreateAnd(field, have));
    result = b.CreateSelect(b.CreateIsNull(len), zero, result);
  }
  e.Result(inst, result);
}

/// The low bits of a put into b.
void EmitBfi(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *x = e.Source(inst, 1), *into = e.Source(inst, 2);
  llvm::Type* type = x->getType();
  const Amount at = AmountOf(e, LowByte(e, e.Source(inst, 3)), type);
  Value* mask = b.CreateShl(MaskOf(e, LowByte(e, e.Source(inst, 4)), type), at.value);
  mask = b.CreateSelect(at.past, llvm::ConstantInt::get(type, 0), mask);
  Value* field = b.CreateAnd(b.CreateShl(x, at.value), mask);
  e.Result(inst, b.CreateOr(field, b.CreateAnd(into, b.CreateNot(mask))));
}

/// Selectors of prmt's modes, each of 4 bits, from the two low bits of c.
Value* PrmtSelectors(E& e, const Instruction& inst, Value* c) {
  auto& b = e.b();
  static constexpr std::pair<Mod, std::array<uint64_t, 4>> kModes[] = {
      {Mod::F4e, {0x3210, 0x4321, 0x5432, 0x6543}}, {Mod::B4e, {0x5670, 0x6701, 0x7012, 0x0123}},
      {Mod::Rc8, {0x0000, 0x1111, 0x2222, 0x3333}}, {Mod::Ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
      {Mod::Ecr, {0x0000, 0x1110, 0x2210, 0x3210}}, {Mod::Rc16, {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& [mod, selectors] : kModes) {
    if (!inst.Has(mod)) continue;
    uint64_t table = 0;
    for (size_t i = 0; i < 4; ++i) table |= selectors[i] << (16 * i);
    Value* shift = b.CreateShl(b.CreateZExt(b.CreateAnd(c, e.I(32, 3)), e.Int(64)), 4);
    return b.CreateAnd(b.CreateTrunc(b.CreateLShr(e.I(64, table), shift), e.Int(32)), e.I(32, 0xffff));
  }
  return c;
}

void EmitPrmt(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* bytes = b.CreateOr(b.CreateZExt(e.Source(inst, 1), e.Int(64)),
                            b.CreateShl(b.CreateZExt(e.Source(inst, 2), e.Int(64)), 32));
  Value* selectors = PrmtSelectors(e, inst, e.Source(inst, 3));
  Value* result = e.I(32, 0);
  for (uint64_t i = 0; i < 4; ++i) {
    Value* nibble = b.CreateAnd(b.CreateLShr(selectors, 4 * i), e.I(32, 15));
    Value* shift = b.CreateZExt(b.CreateShl(b.CreateAnd(nibble, e.I(32, 7)), 3), e.Int(64));
    Value* byte = b.CreateTrunc(b.CreateLShr(bytes, shift), e.Int(8));
    Value* sign = b.CreateAShr(byte, 7);
    byte = b.CreateSelect(b.CreateICmpUGE(nibble, e.I(32, 8)), sign, byte);
    result = b.CreateOr(result, b.CreateShl(b.CreateZExt(byte, e.Int(32)), 8 * i));
  }
  e.Result(inst, result);
}

void EmitPopc(E& e, const Instruction& inst) {
  Value* count = e.b().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, e.Source(inst, 1));
  e.Result(inst, e.b().CreateZExtOrTrunc(count, e.Int(32)));
}
Value* LeadingZeros(E& e, Value* x) {
  Value* count = e.b().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, e.b().getFalse());
  return e.b().CreateZExtOrTrunc(count, e.Int(32));
}
void EmitClz(E& e, const Instruction& inst) { e.Result(inst, LeadingZeros(e, e.Source(inst, 1))); }
void EmitBrev(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, e.Source(inst, 1)));
}

/// The highest bit that differs from the sign; none: all ones.
void EmitBfind(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* x = e.Source(inst, 1);
  const unsigned bits = x->getType()->getIntegerBitWidth();
  if (IsSigned(inst.type())) x = b.CreateXor(x, b.CreateAShr(x, bits - 1));
  Value* zeros = LeadingZeros(e, x);
  Value* found = inst.Has(Mod::Shiftamt) ? zeros : b.CreateSub(e.I(32, bits - 1), zeros);
  e.Result(inst, b.CreateSelect(b.CreateIsNull(x), e.I(32, 0xffffffff), found));
}

/// The table's bits whose number is that of a, b, c.
void EmitLop3(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* x[] = {e.Source(inst, 1), e.Source(inst, 2), e.Source(inst, 3)};
  Value* result = e.I(32, 0);
  for (unsigned row = 0; row < 8; ++row) {
    if ((inst.operands[4].integer >> row & 1) == 0) continue;
    Value* all = e.I(32, 0xffffffff);
    for (unsigned i = 0; i < 3; ++i)
      all = b.CreateAnd(all, (row >> (2 - i) & 1) != 0 ? x[i] : b.CreateNot(x[i]));
    result = b.CreateOr(result, all);
  }
  e.Result(inst, result);
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::And, EmitLogic<llvm::Instruction::And>},
    {ptx::Kind::Or, EmitLogic<llvm::Instruction::Or>},
    {ptx::Kind::Xor, EmitLogic<llvm::Instruction::Xor>},
    {ptx::Kind::Not, EmitNot},
    {ptx::Kind::Cnot, EmitCnot},
    {ptx::Kind::Shl, EmitShl},
    {ptx::Kind::Shr, EmitShr},
    {ptx::Kind::Shf, EmitShf},
    {ptx::Kind::Bfe, EmitBfe},
    {ptx::Kind::Bfi, EmitBfi},
    {ptx::Kind::Prmt, EmitPrmt},
    {ptx::Kind::Popc, EmitPopc},
    {ptx::Kind::Clz, EmitClz},
    {ptx::Kind::Brev, EmitBrev},
    {ptx::Kind::Bfind, EmitBfind},
    {ptx::Kind::Lop3, EmitLop3},
};

}  // namespace

llvm::ArrayRef<EmitRow> BitRows() { return kRows; }

}  // namespace hlo::gpu
