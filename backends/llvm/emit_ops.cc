#include "backends/llvm/emit_ops.h"

#include <cmath>

#include "backends/llvm/code_target.h"
#include "backends/llvm/complex_ops.h"
#include "backends/llvm/extremes.h"
#include "backends/llvm/floats.h"
#include "backends/llvm/integers.h"
#include "backends/llvm/narrow.h"
#include "ir/numeric/narrow_float.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"

namespace hlo::codegen {
namespace {

using llvm::Constant;
using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;
using EmitFn = Value* (*)(const OpContext& c);

bool IsWide(const OpContext& c) { return IsFloat(c.type()); }
Value* Call(const OpContext& c, ID id, llvm::ArrayRef<Value*> arguments) {
  return c.b.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
}
Constant* Int(const Value* like, int64_t value) {
  return ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true);
}
Constant* Fp(const Value* like, double value) { return ConstantFP::get(like->getType(), value); }

Value* EmitAdd(const OpContext& c) {
  if (IsPred(c.type())) return c.b.CreateOr(c.x(0), c.x(1));
  return IsWide(c) ? c.b.CreateFAdd(c.x(0), c.x(1)) : c.b.CreateAdd(c.x(0), c.x(1));
}
Value* EmitSubtract(const OpContext& c) {
  return IsWide(c) ? c.b.CreateFSub(c.x(0), c.x(1)) : c.b.CreateSub(c.x(0), c.x(1));
}
Value* EmitMultiply(const OpContext& c) {
  if (IsPred(c.type())) return c.b.CreateAnd(c.x(0), c.x(1));
  return IsWide(c) ? c.b.CreateFMul(c.x(0), c.x(1)) : c.b.CreateMul(c.x(0), c.x(1));
}

/// The divisor, one number if all lanes have the same.
Value* DivisorOf(const OpContext& c) {
  Value* y = c.x(1);
  Value* same = y->getType()->isVectorTy() ? llvm::getSplatValue(y) : nullptr;
  return same != nullptr ? same : y;
}

/// Division by 0 gives all ones, of the smallest by -1 the smallest (ops-elementwise: integer division).
Value* EmitDivide(const OpContext& c) {
  if (IsWide(c)) return c.b.CreateFDiv(c.x(0), c.x(1));
  Value *x = c.x(0), *y = DivisorOf(c), *one = Int(y, 1);
  if (DividesAll(y)) return Quotient(c.b, x, y, IsSigned(c.type()));
  Value* zero = c.b.CreateICmpEQ(y, Int(y, 0));
  if (!IsSigned(c.type()))
    return c.b.CreateSelect(zero, Int(x, -1), Quotient(c.b, x, c.b.CreateSelect(zero, one, y), false));
  Value* minus = c.b.CreateICmpEQ(y, Int(y, -1));
  Value* safe = c.b.CreateSelect(c.b.CreateOr(zero, minus), one, y);
  Value* quotient = c.b.CreateSelect(minus, c.b.CreateNeg(x), Quotient(c.b, x, safe, true));
  return c.b.CreateSelect(zero, Int(x, -1), quotient);
}
/// By 0 the dividend, by -1 zero.
Value* EmitRemainder(const OpContext& c) {
  if (IsWide(c)) {
    Value* exact = CodeTargetOf(c.b).Remainder(c.b, c.x(0), c.x(1));
    return exact != nullptr ? exact : c.b.CreateFRem(c.x(0), c.x(1));  // C's fmod
  }
  Value *x = c.x(0), *y = DivisorOf(c), *one = Int(y, 1);
  if (DividesAll(y)) return Remainder(c.b, x, y, IsSigned(c.type()));
  Value* zero = c.b.CreateICmpEQ(y, Int(y, 0));
  if (!IsSigned(c.type()))
    return c.b.CreateSelect(zero, x, Remainder(c.b, x, c.b.CreateSelect(zero, one, y), false));
  Value* minus = c.b.CreateICmpEQ(y, Int(y, -1));
  Value* rest = Remainder(c.b, x, c.b.CreateSelect(c.b.CreateOr(zero, minus), one, y), true);
  return c.b.CreateSelect(zero, x, rest);
}

/// The upper half of the product.
Value* EmitMulHi(const OpContext& c) {
  const auto bits = static_cast<unsigned>(Info(c.type()).bits);
  Value* x = c.x(0);
  Type* twice = SameWidth(c.b.getIntNTy(2 * x->getType()->getScalarSizeInBits()), x->getType());
  auto widen = [&](Value* v) { return c.b.CreateIntCast(v, twice, IsSigned(c.type())); };
  Value* product = c.b.CreateMul(widen(x), widen(c.x(1)));
  return c.b.CreateTrunc(c.b.CreateAShr(product, ConstantInt::get(twice, bits)), x->getType());
}

Value* EmitAnd(const OpContext& c) { return c.b.CreateAnd(c.x(0), c.x(1)); }
Value* EmitOr(const OpContext& c) { return c.b.CreateOr(c.x(0), c.x(1)); }
Value* EmitXor(const OpContext& c) { return c.b.CreateXor(c.x(0), c.x(1)); }
Value* EmitNot(const OpContext& c) { return c.b.CreateNot(c.x()); }
Value* EmitNegate(const OpContext& c) { return IsWide(c) ? c.b.CreateFNeg(c.x()) : c.b.CreateNeg(c.x()); }

Value* EmitAbs(const OpContext& c) {
  if (IsWide(c)) return Call(c, llvm::Intrinsic::fabs, {c.x()});
  if (!IsSigned(c.type())) return c.x();
  return c.b.CreateSelect(c.b.CreateICmpSLT(c.x(), Int(c.x(), 0)), c.b.CreateNeg(c.x()), c.x());
}
Value* EmitSign(const OpContext& c) {
  Value* x = c.x();
  if (!IsWide(c)) {
    Value* positive = c.b.CreateZExt(c.b.CreateICmpSGT(x, Int(x, 0)), x->getType());
    return c.b.CreateOr(positive, c.b.CreateAShr(x, Int(x, Info(c.type()).bits - 1)));
  }
  // Zeros and NaNs stay.
  Value* one = Call(c, llvm::Intrinsic::copysign, {Fp(x, 1), x});
  return c.b.CreateSelect(c.b.CreateFCmpUEQ(x, Fp(x, 0)), x, one);
}

Value* EmitMaximum(const OpContext& c) {
  if (IsPred(c.type())) return EmitOr(c);
  if (IsWide(c)) return EmitExtreme(c.b, /*maximum=*/true, c.x(0), c.x(1));
  return Call(c, IsSigned(c.type()) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, {c.x(0), c.x(1)});
}
Value* EmitMinimum(const OpContext& c) {
  if (IsPred(c.type())) return EmitAnd(c);
  if (IsWide(c)) return EmitExtreme(c.b, /*maximum=*/false, c.x(0), c.x(1));
  return Call(c, IsSigned(c.type()) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, {c.x(0), c.x(1)});
}
/// Compare and clamp take subnormals of f32, f64 and bf16 as zeros of their sign (errata-ops).
Value* Flushed(const OpContext& c, Value* x) {
  if (!IsFloat(c.type()) || c.type() == ElementType::F16) return x;
  const double least = c.type() == ElementType::F64 ? 0x1p-1022 : 0x1p-126;
  Value* tiny = c.b.CreateFCmpOLT(Call(c, llvm::Intrinsic::fabs, {x}), Fp(x, least));
  return c.b.CreateSelect(tiny, Call(c, llvm::Intrinsic::copysign, {Fp(x, 0), x}), x);
}

/// min(max(low, x), high)
Value* EmitClamp(const OpContext& c) {
  if (IsFloat(c.type())) {
    Value* low = EmitExtreme(c.b, /*maximum=*/true, Flushed(c, c.x(0)), Flushed(c, c.x(1)));
    return EmitExtreme(c.b, /*maximum=*/false, low, Flushed(c, c.x(2)));
  }
  const Emitted first[] = {c.operands[0], c.operands[1]};
  Value* low = EmitMaximum({c.b, c.op, first, c.types.take_front(2)});
  const Emitted second[] = {{low, nullptr}, c.operands[2]};
  return EmitMinimum({c.b, c.op, second, c.types.take_front(2)});
}
Value* EmitSelect(const OpContext& c) {
  return ForEachPart(c.b, {c.x(1), c.x(2)},
                     [&](llvm::ArrayRef<Value*> part) { return c.b.CreateSelect(c.x(0), part[0], part[1]); });
}

/// A total order of floats as integers: -NaN < -inf < … < -0 < 0 < … < inf < NaN.
Value* TotalOrderKey(const OpContext& c, size_t i) {
  Value* stored = c.operands[i].stored;
  const auto bits = stored->getType()->getScalarSizeInBits();
  Type* type = SameWidth(c.b.getIntNTy(bits), stored->getType());
  // Codes of less than a byte keep their order at its upper end.
  if (const auto used = static_cast<unsigned>(Info(c.type()).bits); used < bits)
    stored = c.b.CreateShl(stored, ConstantInt::get(type, bits - used));
  Value* key = c.b.CreateBitCast(stored, type);
  if (Info(c.type()).special == FloatSpecial::Fnuz) {
    // -0 is NaN and comes first.
    Value* least = Int(key, -(1 << (bits - 1)));
    Value* negative = c.b.CreateSelect(c.b.CreateICmpEQ(key, least), least, c.b.CreateSub(least, key));
    return c.b.CreateSelect(c.b.CreateICmpSLT(key, Int(key, 0)), negative, key);
  }
  Value* sign = c.b.CreateAShr(key, ConstantInt::get(type, bits - 1));
  return c.b.CreateXor(key, c.b.CreateLShr(sign, ConstantInt::get(type, 1)));
}

struct Predicates {
  llvm::CmpInst::Predicate floating, is_signed, is_unsigned;
};
using P = llvm::CmpInst;
constexpr Predicates kPredicates[] = {
    // In the order of Direction: EQ, NE, GE, GT, LE, LT.
    {P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
    {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}, {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
    {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE}, {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
};

Value* EmitCompare(const OpContext& c) {
  const auto& attrs = c.op.attrs.Get<CompareAttrs>();
  const Predicates& row = kPredicates[static_cast<size_t>(attrs.direction)];
  if (IsFloat(c.type())) {
    if (attrs.type == CompareType::TotalOrder && Info(c.type()).special == FloatSpecial::E8M0)
      return c.b.CreateICmp(row.is_unsigned, c.operands[0].stored, c.operands[1].stored);
    if (attrs.type == CompareType::TotalOrder)
      return c.b.CreateICmp(row.is_signed, TotalOrderKey(c, 0), TotalOrderKey(c, 1));
    return c.b.CreateFCmp(row.floating, Flushed(c, c.x(0)), Flushed(c, c.x(1)));
  }
  return c.b.CreateICmp(IsSigned(c.type()) ? row.is_signed : row.is_unsigned, c.x(0), c.x(1));
}

/// The bits of an integer of less than 8 bits extended by zeros; others as they are.
Value* Unextended(const OpContext& c, Value* x) {
  const int bits = Info(c.type()).bits;
  return bits >= CHAR_BIT || !IsSigned(c.type()) ? x : c.b.CreateAnd(x, Int(x, (1 << bits) - 1));
}
Value* SignExtended(const OpContext& c, Value* x) {
  const int bits = Info(c.type()).bits;
  if (bits >= CHAR_BIT) return x;
  return c.b.CreateAShr(c.b.CreateShl(x, Int(x, CHAR_BIT - bits)), Int(x, CHAR_BIT - bits));
}

/// Shifts by the width or more leave nothing, or the sign.
Value* EmitShift(const OpContext& c) {
  Value *x = c.x(0), *by = c.x(1);
  const int bits = Info(c.type()).bits;
  if (c.op.kind == OpKind::ShiftRightLogical) x = Unextended(c, x);
  if (c.op.kind == OpKind::ShiftRightArithmetic) x = SignExtended(c, x);
  Value* in_range = c.b.CreateICmpULT(by, Int(by, bits));
  if (c.op.kind == OpKind::ShiftRightArithmetic)
    return c.b.CreateAShr(x, c.b.CreateSelect(in_range, by, Int(by, bits - 1)));
  Value* safe = c.b.CreateSelect(in_range, by, Int(by, 0));
  Value* shifted = c.op.kind == OpKind::ShiftLeft ? c.b.CreateShl(x, safe) : c.b.CreateLShr(x, safe);
  return c.b.CreateSelect(in_range, shifted, Int(x, 0));
}

Value* EmitClz(const OpContext& c) {
  Value* x = Unextended(c, c.x());
  Value* count = c.b.CreateIntrinsic(llvm::Intrinsic::ctlz, {x->getType()}, {x, c.b.getFalse()});
  const int bits = Info(c.type()).bits;
  return bits >= CHAR_BIT ? count : c.b.CreateSub(count, Int(count, CHAR_BIT - bits));
}
Value* EmitPopcnt(const OpContext& c) { return Call(c, llvm::Intrinsic::ctpop, {Unextended(c, c.x())}); }
Value* EmitFloor(const OpContext& c) { return Call(c, llvm::Intrinsic::floor, {c.x()}); }
Value* EmitCeil(const OpContext& c) { return Call(c, llvm::Intrinsic::ceil, {c.x()}); }
Value* EmitRoundEven(const OpContext& c) { return Call(c, llvm::Intrinsic::roundeven, {c.x()}); }
/// trunc(x), and one further from zero if that cuts a half or more.
Value* EmitRoundAway(const OpContext& c) {
  Value* x = c.x();
  Value* whole = Call(c, llvm::Intrinsic::trunc, {x});
  Value* rest = Call(c, llvm::Intrinsic::fabs, {c.b.CreateFSub(x, whole)});
  Value* one = Call(c, llvm::Intrinsic::copysign, {Fp(x, 1), x});
  Value* further = c.b.CreateFAdd(whole, one);
  Value* rounded = c.b.CreateSelect(c.b.CreateFCmpOGE(rest, Fp(x, 0.5)), further, whole);
  return Call(c, llvm::Intrinsic::copysign, {rounded, x});
}
/// Negative subnormals count as -0.
Value* EmitSqrt(const OpContext& c) {
  Value* x = c.x();
  const double least = c.type() == ElementType::F64 ? 0x1p-1022 : 0x1p-126;
  Value* tiny = c.b.CreateAnd(c.b.CreateFCmpOLT(x, Fp(x, 0)), c.b.CreateFCmpOGT(x, Fp(x, -least)));
  return Call(c, llvm::Intrinsic::sqrt, {c.b.CreateSelect(tiny, Fp(x, -0.0), x)});
}
Value* EmitRsqrt(const OpContext& c) {
  Value* x = c.x();
  return c.b.CreateFDiv(Fp(x, 1), Call(c, llvm::Intrinsic::sqrt, {x}));
}
Value* EmitIsFinite(const OpContext& c) {
  Value* x = c.x();
  return c.b.CreateFCmpONE(Call(c, llvm::Intrinsic::fabs, {x}), ConstantFP::getInfinity(x->getType()));
}
Value* EmitIdentity(const OpContext& c) { return c.x(); }

/// To the compute form of a float. What is rounded twice is rounded to odd first; integers reach bf16 and
/// f8e8m0fnu through f32 (errata-ops: conversions).
Value* ToFloat(const OpContext& c, Type* type) {
  const ElementType from = c.type(), to = c.op.type;
  Value* x = c.x();
  const bool through_f32 = Info(to).exponent_bits == kF32.exponent_bits;
  if (from == ElementType::F64 && to == ElementType::F8E8M0FNU) {
    Value* tiny = c.b.CreateFCmpOLT(Call(c, llvm::Intrinsic::fabs, {x}), Fp(x, kLeastNormal32));
    return RoundToOdd(c.b, c.b.CreateSelect(tiny, Fp(x, 0), x));
  }
  if (from == ElementType::F64 && !through_f32 && to != ElementType::F64) return RoundToOdd(c.b, x);
  if (IsFloat(from)) return c.b.CreateFPCast(x, type);
  if (!through_f32 && to != ElementType::F64 && Info(from).bits > 16) {
    constexpr int64_t kBeyond = 1 << 20;  // all types but these overflow long before, f32 has all below
    if (IsSigned(from)) {
      x = Call(c, llvm::Intrinsic::smin, {x, Int(x, kBeyond)});
      x = Call(c, llvm::Intrinsic::smax, {x, Int(x, -kBeyond)});
    } else {
      x = Call(c, llvm::Intrinsic::umin, {x, Int(x, kBeyond)});
    }
  }
  return IsSigned(from) ? c.b.CreateSIToFP(x, type) : c.b.CreateUIToFP(x, type);
}

/// A float to an integer, in vectors: LLVM's saturating conversions are scalars on many machines.
Value* ToInteger(const OpContext& c, Value* x, ElementType to, Type* type) {
  const int bits = Info(to).bits, value_bits = IsSigned(to) ? bits - 1 : bits;
  const double end = std::ldexp(1.0, value_bits), least = IsSigned(to) ? -end : 0;
  Value* low = c.b.CreateFCmpOLT(x, Fp(x, least));
  Value* high = c.b.CreateFCmpOGE(x, Fp(x, end));
  // NaN and what would be undefined.
  Value* outside = c.b.CreateOr(c.b.CreateFCmpUNO(x, x), c.b.CreateOr(low, high));
  x = c.b.CreateSelect(outside, Fp(x, 0), x);
  Type* words = bits < 32 ? SameWidth(c.b.getInt32Ty(), x->getType()) : type;
  Value* whole = IsSigned(to) || bits < 32 ? c.b.CreateFPToSI(x, words) : c.b.CreateFPToUI(x, words);
  const bool all = value_bits == std::numeric_limits<uint64_t>::digits;
  const uint64_t largest = (all ? 0 : uint64_t{1} << value_bits) - 1;
  whole = c.b.CreateSelect(high, ConstantInt::get(words, largest), whole);
  if (IsSigned(to))
    whole = c.b.CreateSelect(low, ConstantInt::get(words, ~largest, /*IsSigned=*/true), whole);
  return c.b.CreateTrunc(whole, type);
}

/// Numbers to numbers: out of range saturates, NaN gives 0 (errata-ops: conversions).
Value* EmitConvert(const OpContext& c) {
  const ElementType from = c.type(), to = c.op.type;
  Value* x = c.x();
  Type* type = SameWidth(ComputeType(c.b.getContext(), to), x->getType());
  if (IsPred(to)) {
    if (IsPred(from)) return x;
    if (!IsFloat(from)) return c.b.CreateICmpNE(x, Int(x, 0));
    // Subnormals count as zero, but for bf16.
    const double least = from == ElementType::BF16  ? kLeast32
                         : from == ElementType::F64 ? kLeastNormal64
                                                    : kLeastNormal32;
    return c.b.CreateFCmpUGE(Call(c, llvm::Intrinsic::fabs, {x}), Fp(x, least));
  }
  if (IsFloat(to)) return ToFloat(c, type);
  if (!IsFloat(from)) return c.b.CreateIntCast(x, type, IsSigned(from));
  constexpr double kLargestF4 = 6;  // of f4e2m1fn, which counts as an overflow
  if (from == ElementType::F4E2M1FN) {
    Value* largest = c.b.CreateFCmpOEQ(Call(c, llvm::Intrinsic::fabs, {x}), Fp(x, kLargestF4));
    x = c.b.CreateSelect(largest, c.b.CreateFMul(x, ConstantFP::getInfinity(x->getType())), x);
  }
  return ToInteger(c, x, to, type);
}

/// By squaring, in a loop of as many rounds as the largest exponent has bits. Negative exponents give 0 but
/// for 1 and -1 (ops-elementwise: integer power).
Value* EmitIntegerPower(const OpContext& c) {
  Value *x = c.x(0), *y = c.x(1), *one = Int(x, 1), *zero = Int(x, 0);
  llvm::BasicBlock* before = c.b.GetInsertBlock();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(c.b.getContext(), name, before->getParent());
  };
  llvm::BasicBlock *loop = block("power"), *done = block("powered");
  Value* negative = IsSigned(c.type()) ? c.b.CreateICmpSLT(y, zero) : nullptr;
  Value* exponent = negative == nullptr ? y : c.b.CreateSelect(negative, zero, y);
  c.b.CreateBr(loop);
  c.b.SetInsertPoint(loop);
  const auto carried = [&](Value* first) {
    llvm::PHINode* phi = c.b.CreatePHI(x->getType(), 2);
    phi->addIncoming(first, before);
    return phi;
  };
  llvm::PHINode *result = carried(one), *square = carried(x), *left = carried(exponent);
  Value* odd = c.b.CreateICmpNE(c.b.CreateAnd(left, one), zero);
  Value* product = c.b.CreateSelect(odd, c.b.CreateMul(result, square), result);
  Value* rest = c.b.CreateLShr(left, 1);
  result->addIncoming(product, loop);
  square->addIncoming(c.b.CreateMul(square, square), loop);
  left->addIncoming(rest, loop);
  Value* all = rest->getType()->isVectorTy() ? CodeTargetOf(c.b).AnyLane(c.b, rest) : rest;
  c.b.CreateCondBr(c.b.CreateIsNotNull(all), loop, done);
  c.b.SetInsertPoint(done);
  if (negative == nullptr) return product;
  Value* minus = Int(x, -1);
  Value* signs = c.b.CreateSelect(c.b.CreateIsNull(c.b.CreateAnd(y, one)), one, minus);
  Value* inverse = c.b.CreateSelect(c.b.CreateICmpEQ(x, minus), signs, zero);
  inverse = c.b.CreateSelect(c.b.CreateICmpEQ(x, one), one, inverse);
  return c.b.CreateSelect(negative, inverse, product);
}

/// Away from zero if the random bits are fewer than what is cut off, as a part of all that there are.
Value* EmitStochasticConvert(const OpContext& c) {
  const int target = Info(c.op.type).bits;
  Type* f64 = SameWidth(c.b.getDoubleTy(), c.x()->getType());
  Type* integers =
      SameWidth(target > Info(ElementType::S32).bits ? c.b.getInt64Ty() : c.b.getInt32Ty(), c.x()->getType());
  Value *x = c.b.CreateFPCast(c.x(), f64), *random = c.x(1);
  const auto max = static_cast<int64_t>((uint64_t{1} << (target - 1)) - 1);
  Value* inside = c.b.CreateAnd(c.b.CreateFCmpOLT(x, Fp(x, static_cast<double>(max))),
                                c.b.CreateFCmpOGT(x, Fp(x, -static_cast<double>(max) - 1)));
  Value* magnitude = Call(c, llvm::Intrinsic::fabs, {c.b.CreateSelect(inside, x, Fp(x, 0))});
  Value* whole = Call(c, llvm::Intrinsic::trunc, {magnitude});
  const auto bits = static_cast<int>(random->getType()->getScalarSizeInBits());
  Value* rest = c.b.CreateFMul(c.b.CreateFSub(magnitude, whole), Fp(x, std::ldexp(1.0, bits)));
  // Numbers of up to 32 bits compare as well in f64.
  Value* up = bits > 32
                  ? c.b.CreateICmpULT(random, c.b.CreateFPToUI(rest, random->getType()))
                  : c.b.CreateFCmpOLT(c.b.CreateUIToFP(random, f64), Call(c, llvm::Intrinsic::trunc, {rest}));
  Value* count = c.b.CreateAdd(c.b.CreateFPToSI(whole, integers), c.b.CreateZExt(up, integers));
  Value* negative = c.b.CreateFCmpOLT(x, Fp(x, 0));
  Value* rounded = c.b.CreateSelect(negative, c.b.CreateNeg(count), count);
  Value* limit = c.b.CreateSelect(negative, Int(count, -max - 1), Int(count, max));
  limit = c.b.CreateSelect(c.b.CreateFCmpUNO(x, x), Int(count, 0), limit);
  return c.b.CreateTrunc(c.b.CreateSelect(inside, rounded, limit),
                         SameWidth(ComputeType(c.b.getContext(), c.op.type), x->getType()));
}

struct Row {
  OpKind kind;
  EmitFn emit;
  bool integers, floats, preds;  // operand types it is for
};
constexpr Row kRows[] = {
    {OpKind::Add, EmitAdd, true, true, true},
    {OpKind::Subtract, EmitSubtract, true, true, false},
    {OpKind::Multiply, EmitMultiply, true, true, true},
    {OpKind::Divide, EmitDivide, true, true, false},
    {OpKind::Remainder, EmitRemainder, true, true, false},
    {OpKind::MulHi, EmitMulHi, true, false, false},
    {OpKind::And, EmitAnd, true, false, true},
    {OpKind::Or, EmitOr, true, false, true},
    {OpKind::Xor, EmitXor, true, false, true},
    {OpKind::Not, EmitNot, true, false, true},
    {OpKind::Negate, EmitNegate, true, true, false},
    {OpKind::Abs, EmitAbs, true, true, false},
    {OpKind::Sign, EmitSign, true, true, false},
    {OpKind::Maximum, EmitMaximum, true, true, true},
    {OpKind::Minimum, EmitMinimum, true, true, true},
    {OpKind::Clamp, EmitClamp, true, true, true},
    {OpKind::Compare, EmitCompare, true, true, true},
    {OpKind::ShiftLeft, EmitShift, true, false, false},
    {OpKind::ShiftRightArithmetic, EmitShift, true, false, false},
    {OpKind::ShiftRightLogical, EmitShift, true, false, false},
    {OpKind::Clz, EmitClz, true, false, false},
    {OpKind::PopulationCount, EmitPopcnt, true, false, false},
    {OpKind::Floor, EmitFloor, false, true, false},
    {OpKind::Ceil, EmitCeil, false, true, false},
    {OpKind::RoundNearestEven, EmitRoundEven, false, true, false},
    {OpKind::RoundNearestAfz, EmitRoundAway, false, true, false},
    {OpKind::Sqrt, EmitSqrt, false, true, false},
    {OpKind::Rsqrt, EmitRsqrt, false, true, false},
    {OpKind::IsFinite, EmitIsFinite, false, true, false},
    {OpKind::Real, EmitIdentity, false, true, false},
    {OpKind::Convert, EmitConvert, true, true, true},
    {OpKind::Power, EmitIntegerPower, true, false, false},
    {OpKind::StochasticConvert, EmitStochasticConvert, false, true, false},
};

const Row* FindRow(OpKind kind, ElementType type) {
  for (const Row& row : kRows)
    if (row.kind == kind)
      return (IsFloat(type) ? row.floats : IsPred(type) ? row.preds : row.integers) ? &row : nullptr;
  return nullptr;
}

Emitted EmitReducePrecision(const OpContext& c) {
  const auto& attrs = c.op.attrs.Get<ReducePrecisionAttrs>();
  Value* stored = c.operands[0].stored;
  Type* type = SameWidth(c.b.getIntNTy(stored->getType()->getScalarSizeInBits()), stored->getType());
  Value* codes = ReducePrecisionOf(c.b, c.type(), c.b.CreateBitCast(stored, type), attrs.exponent_bits,
                                   attrs.mantissa_bits);
  return FromStored(c.b, c.op.type, c.b.CreateBitCast(codes, stored->getType()));
}

Emitted EmitBitcast(const OpContext& c) {
  Value* stored = c.operands[0].stored;
  Type* type = SameWidth(StoredType(c.b.getContext(), c.op.type), stored->getType());
  return FromStored(c.b, c.op.type, c.b.CreateBitCast(stored, type));
}

}  // namespace

bool HasCode(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result) {
  if (!IsSupported(result) || !llvm::all_of(operands, IsSupported)) return false;
  const ElementType type = operands[0];
  if (kind == OpKind::BitcastConvert) return Info(result).bits >= 8 && Info(type).bits >= 8;
  if (kind == OpKind::Select) return true;
  if (IsComplex(result) || IsComplex(type)) return HasComplexCode(kind, type, result);
  // f8e8m0fnu computes in f32 with zeros of its own (ir/numeric/narrow_float.h, FlushToZero): no code yet but
  // for what moves, converts and compares it.
  if ((result == ElementType::F8E8M0FNU || type == ElementType::F8E8M0FNU) && kind != OpKind::Convert &&
      kind != OpKind::Compare && kind != OpKind::IsFinite)
    return false;
  if (kind == OpKind::ReducePrecision) return IsFloat(type) && result == type;
  if (kind == OpKind::StochasticConvert)
    return IsFloat(type) && IsUnsigned(operands[1]) && Info(operands[1]).bits >= 8 && IsSigned(result) &&
           Info(result).bits > 1;
  if (FindRow(kind, type) != nullptr) return true;
  return IsFloat(type) && FindMath(kind, type == ElementType::F64) != nullptr;
}

Emitted EmitOp(const OpContext& c) {
  if (c.op.kind == OpKind::BitcastConvert) return EmitBitcast(c);
  if (c.op.kind == OpKind::Select)
    // Moves bits as they are.
    return {EmitSelect(c), c.b.CreateSelect(c.x(0), c.operands[1].stored, c.operands[2].stored)};
  if (IsComplex(c.op.type) || IsComplex(c.type())) return EmitComplexOp(c);
  if (c.op.kind == OpKind::ReducePrecision) return EmitReducePrecision(c);
  if (const Row* row = FindRow(c.op.kind, c.type())) {
    Value* value = row->emit(c);
    const bool converts_to_bf16 = c.op.kind == OpKind::Convert && c.op.type == ElementType::BF16;
    if (converts_to_bf16 && IsByteFloat(c.type())) return ExactInBf16(c.b, c.type(), value);
    if (c.only_stored && c.op.type == ElementType::BF16)
      if (Value* stored = StoredAsBf16(c.b, value, converts_to_bf16))
        return FromStored(c.b, c.op.type, stored);
    if (converts_to_bf16) return ConvertedToBf16(c.b, value);
    const bool in_bf16 = c.op.type == ElementType::BF16 && c.type() == ElementType::BF16;
    return in_bf16 ? ComputedInBf16(c.b, value) : FromCompute(c.b, c.op.type, value);
  }
  llvm::SmallVector<Value*, 2> operands;
  for (const Emitted& operand : c.operands) operands.push_back(operand.compute);
  // Quotients of narrow types come close to the middle of two numbers, and pairs are too many to look at all
  // their powers.
  const bool narrow = c.type() == ElementType::F16 ||
                      (c.op.kind == OpKind::Atan2 && Info(c.type()).bits < 32) ||
                      (c.op.kind == OpKind::Power && c.type() == ElementType::BF16);
  if (narrow && FindMath(c.op.kind, true) != nullptr)
    return FromCompute(c.b, c.op.type, EmitMathFor(c.type(), c.op.kind, c.b, operands));
  if (c.op.kind == OpKind::Exp && c.op.bounded)
    return FromCompute(c.b, c.op.type, EmitBoundedExp(c.b, operands[0], c.subtracted));
  return FromCompute(c.b, c.op.type, FindMath(c.op.kind, c.type() == ElementType::F64)(c.b, operands));
}

}  // namespace hlo::codegen
