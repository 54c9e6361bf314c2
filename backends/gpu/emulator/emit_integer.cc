// Integer arithmetic (ptx.md §2.1).
#include "backends/gpu/emulator/emit.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;
using ptx::Instruction;
using ptx::IsSigned;
using ptx::Mod;
using ptx::Type;
using E = FunctionEmitter;

/// The value in twice its width.
Value* Wide(E& e, Type type, Value* x) {
  llvm::IntegerType* wide = e.Int(2 * x->getType()->getIntegerBitWidth());
  return IsSigned(type) ? e.b().CreateSExt(x, wide) : e.b().CreateZExt(x, wide);
}

Value* High(E& e, Value* wide) {
  const unsigned bits = wide->getType()->getIntegerBitWidth() / 2;
  return e.b().CreateTrunc(e.b().CreateLShr(wide, bits), e.Int(bits));
}

/// The half of a product that .lo or .hi names.
Value* Product(E& e, const Instruction& inst, Value* x, Value* y) {
  if (inst.Has(Mod::Lo)) return e.b().CreateMul(x, y);
  const Type type = inst.type();
  return High(e, e.b().CreateMul(Wide(e, type, x), Wide(e, type, y)));
}

void EmitAdd(E& e, const Instruction& inst) {
  e.PerLane(inst, [&](Type, llvm::ArrayRef<Value*> x) { return e.b().CreateAdd(x[0], x[1]); });
}
void EmitSub(E& e, const Instruction& inst) {
  e.PerLane(inst, [&](Type, llvm::ArrayRef<Value*> x) { return e.b().CreateSub(x[0], x[1]); });
}

template <ID id>
void EmitSaturating(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateBinaryIntrinsic(id, e.Source(inst, 1), e.Source(inst, 2)));
}

/// x + y + carry, or x - y - borrow; the carry out is kept if asked for.
void EmitSum(E& e, const Instruction& inst, Value* x, Value* y, bool subtract, bool takes, bool gives) {
  auto& b = e.b();
  const unsigned bits = x->getType()->getIntegerBitWidth();
  llvm::IntegerType* wide = e.Int(bits + 1);
  Value* carry = takes ? b.CreateZExt(b.CreateLoad(e.Int(1), e.carry()), wide)
                       : static_cast<Value*>(llvm::ConstantInt::get(wide, 0));
  Value* left = b.CreateZExt(x, wide);
  Value* right = b.CreateAdd(b.CreateZExt(y, wide), carry);
  Value* sum = subtract ? b.CreateSub(left, right) : b.CreateAdd(left, right);
  if (gives) b.CreateStore(b.CreateTrunc(b.CreateLShr(sum, bits), e.Int(1)), e.carry());
  e.Result(inst, b.CreateTrunc(sum, x->getType()));
}

template <bool subtract, bool takes>
void EmitCarry(E& e, const Instruction& inst) {
  EmitSum(e, inst, e.Source(inst, 1), e.Source(inst, 2), subtract, takes, inst.Has(Mod::Cc));
}

template <bool takes>
void EmitMadCarry(E& e, const Instruction& inst) {
  Value* product = Product(e, inst, e.Source(inst, 1), e.Source(inst, 2));
  EmitSum(e, inst, product, e.Source(inst, 3), false, takes, inst.Has(Mod::Cc));
}

void EmitMul(E& e, const Instruction& inst) {
  e.Result(inst, Product(e, inst, e.Source(inst, 1), e.Source(inst, 2)));
}
void EmitMad(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateAdd(Product(e, inst, e.Source(inst, 1), e.Source(inst, 2)), e.Source(inst, 3)));
}
void EmitMadSat(E& e, const Instruction& inst) {
  Value* product = Product(e, inst, e.Source(inst, 1), e.Source(inst, 2));
  e.Result(inst, e.b().CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, product, e.Source(inst, 3)));
}

Value* WideProduct(E& e, const Instruction& inst) {
  const Type type = inst.type();
  return e.b().CreateMul(Wide(e, type, e.Source(inst, 1)), Wide(e, type, e.Source(inst, 2)));
}
void EmitMulWide(E& e, const Instruction& inst) { e.Result(inst, WideProduct(e, inst)); }
void EmitMadWide(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateAdd(WideProduct(e, inst), e.Source(inst, 3)));
}

/// Of the low 24 bits: bits 31 to 0 or 47 to 16 of their product.
Value* Product24(E& e, const Instruction& inst) {
  auto& b = e.b();
  const auto low24 = [&](Value* x) {
    Value* up = b.CreateShl(x, 8);
    up = IsSigned(inst.type()) ? b.CreateAShr(up, 8) : b.CreateLShr(up, 8);
    return Wide(e, inst.type(), up);
  };
  Value* product = b.CreateMul(low24(e.Source(inst, 1)), low24(e.Source(inst, 2)));
  return b.CreateTrunc(inst.Has(Mod::Hi) ? b.CreateLShr(product, 16) : product, e.Int(32));
}
void EmitMul24(E& e, const Instruction& inst) { e.Result(inst, Product24(e, inst)); }
void EmitMad24(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateAdd(Product24(e, inst), e.Source(inst, 3)));
}

/// c + |a - b|
void EmitSad(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *x = e.Source(inst, 1), *y = e.Source(inst, 2);
  Value* less = IsSigned(inst.type()) ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
  Value* distance = b.CreateSelect(less, b.CreateSub(y, x), b.CreateSub(x, y));
  e.Result(inst, b.CreateAdd(distance, e.Source(inst, 3)));
}

/// By zero: all ones, for the remainder as well, as ptxas folds them. The smallest number by -1 wraps.
template <bool remainder>
void EmitDiv(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *x = e.Source(inst, 1), *y = e.Source(inst, 2);
  const unsigned bits = x->getType()->getIntegerBitWidth();
  Value* zero = b.CreateICmpEQ(y, e.I(bits, 0));
  Value* divisor = b.CreateSelect(zero, e.I(bits, 1), y);
  Value* result = nullptr;
  if (IsSigned(inst.type())) {
    Value* minus = b.CreateICmpEQ(y, llvm::ConstantInt::getAllOnesValue(y->getType()));
    divisor = b.CreateSelect(minus, e.I(bits, 1), divisor);
    result = remainder ? b.CreateSRem(x, divisor) : b.CreateSDiv(x, divisor);
    if (!remainder) result = b.CreateSelect(minus, b.CreateNeg(x), result);
  } else {
    result = remainder ? b.CreateURem(x, divisor) : b.CreateUDiv(x, divisor);
  }
  e.Result(inst, b.CreateSelect(zero, llvm::ConstantInt::getAllOnesValue(y->getType()), result));
}

void EmitAbs(E& e, const Instruction& inst) {
  e.Result(inst, e.b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, e.Source(inst, 1), e.b().getFalse()));
}
void EmitNeg(E& e, const Instruction& inst) { e.Result(inst, e.b().CreateNeg(e.Source(inst, 1))); }

template <bool maximum>
void EmitExtreme(E& e, const Instruction& inst) {
  auto& b = e.b();
  e.PerLane(inst, [&](Type scalar, llvm::ArrayRef<Value*> x) {
    const bool is_signed = IsSigned(scalar);
    const ID id = maximum ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                          : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
    Value* result = b.CreateBinaryIntrinsic(id, x[0], x[1]);
    if (!inst.Has(Mod::Relu)) return result;
    return static_cast<Value*>(
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, result, llvm::ConstantInt::get(result->getType(), 0)));
  });
}

/// c + the products of the bytes.
void EmitDp4a(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value *x = e.Source(inst, 1), *y = e.Source(inst, 2);
  Value* sum = e.Source(inst, 3);
  const auto byte = [&](Value* whole, uint64_t i, Type type) {
    Value* part = b.CreateTrunc(b.CreateLShr(whole, 8 * i), e.Int(8));
    return IsSigned(type) ? b.CreateSExt(part, e.Int(32)) : b.CreateZExt(part, e.Int(32));
  };
  for (unsigned i = 0; i < 4; ++i)
    sum = b.CreateAdd(sum, b.CreateMul(byte(x, i, inst.type(0)), byte(y, i, inst.type(1))));
  e.Result(inst, sum);
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::IAdd, EmitAdd},
    {ptx::Kind::IAddSat, EmitSaturating<llvm::Intrinsic::sadd_sat>},
    {ptx::Kind::ISubSat, EmitSaturating<llvm::Intrinsic::ssub_sat>},
    {ptx::Kind::AddCarry, EmitCarry<false, false>},
    {ptx::Kind::AddCarryIn, EmitCarry<false, true>},
    {ptx::Kind::ISub, EmitSub},
    {ptx::Kind::SubCarry, EmitCarry<true, false>},
    {ptx::Kind::SubCarryIn, EmitCarry<true, true>},
    {ptx::Kind::IMul, EmitMul},
    {ptx::Kind::IMulWide, EmitMulWide},
    {ptx::Kind::IMad, EmitMad},
    {ptx::Kind::IMadSat, EmitMadSat},
    {ptx::Kind::IMadWide, EmitMadWide},
    {ptx::Kind::MadCarry, EmitMadCarry<false>},
    {ptx::Kind::MadCarryIn, EmitMadCarry<true>},
    {ptx::Kind::Mul24, EmitMul24},
    {ptx::Kind::Mad24, EmitMad24},
    {ptx::Kind::Sad, EmitSad},
    {ptx::Kind::IDiv, EmitDiv<false>},
    {ptx::Kind::IRem, EmitDiv<true>},
    {ptx::Kind::IAbs, EmitAbs},
    {ptx::Kind::INeg, EmitNeg},
    {ptx::Kind::IMin, EmitExtreme<false>},
    {ptx::Kind::IMax, EmitExtreme<true>},
    {ptx::Kind::Dp4a, EmitDp4a},
};

}  // namespace

llvm::ArrayRef<EmitRow> IntegerRows() { return kRows; }

}  // namespace hlo::gpu
