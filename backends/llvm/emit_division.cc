// Division of vectors by one number: to the last bit what the division instruction gives, in a third of its
// time.
#include <cmath>

#include "backends/llvm/floats.h"
#include "backends/llvm/kernel_emitter.h"
#include "backends/llvm/math.h"
#include "llvm/IR/MDBuilder.h"

namespace hlo::codegen {

using llvm::Value;

namespace {

/// Where the remainder of a quotient is exact and nothing overflows: exponents of dividends and divisors.
struct SafeRange {
  int64_t dividend_low, dividend_high, divisor_low, divisor_high;
};
constexpr SafeRange kSafe32 = {-100, 100, -24, 24}, kSafe64 = {-960, 960, -50, 50};
/// Where reciprocal and quotient are normal; what overflows does so as the quotient would.
constexpr SafeRange kSafeBf16 = {-95, 129, -126, 31};
/// The same where quotients may be subnormal. Those of bf16 are in the middle of two such numbers or at least
/// 2^-142 away from it: an error of 2^-150 of f32 in their reciprocal's product moves none across, and a
/// quotient that is in the middle, a multiple of 2^-134, is what its product is rounded to.
constexpr SafeRange kSafeSubnormalBf16 = {-133, 129, -126, 126};
/// Bits one of which is set in what is as large as that dividend_low, be it infinite or NaN.
constexpr int64_t kFromDividendLow = 0x70000000;

/// Whether the magnitude of x lies in [2^low, 2^high).
Value* IsWithin(Math& m, Value* x, int64_t low, int64_t high) {
  llvm::IRBuilderBase& b = m.b;
  const auto power = [&](int64_t exponent) { return m.I((exponent + m.bias()) << m.mantissa_bits()); };
  const int64_t unsigned_bits = m.f64() ? INT64_MAX : INT32_MAX;
  Value* above = b.CreateSub(b.CreateAnd(m.Bits(x), m.I(unsigned_bits)), power(low));
  return b.CreateICmpULT(above, b.CreateSub(power(high), power(low)));
}

/// x / y of f32, without instructions that take or give subnormals unless y is one: 53 bits are enough for
/// the rounding of a quotient to 24 or fewer.
Value* DivideThrough64(Math& m, Value* x, Value* y) {
  llvm::IRBuilderBase& b = m.b;
  Math wide = m.Wide();
  constexpr double kSmallest = kLeast32, kNormal = kLeastNormal32;
  Value* magnitude = b.CreateAnd(m.Bits(x), m.I(INT32_MAX));
  Value* small = b.CreateICmpULT(magnitude, m.Bits(m.C(kNormal)));
  Value* units = b.CreateSIToFP(magnitude, SameWidth(b.getDoubleTy(), x->getType()));
  Value* scaled = wide.Mul(units, wide.Select(m.Negative(x), wide.C(-kSmallest), wide.C(kSmallest)));
  Value* dividend = wide.Select(small, scaled, m.Widen(m.Select(small, m.C(1), x)));
  Value* quotient = wide.Div(dividend, m.Widen(y));
  Value* tiny = wide.Less(wide.Abs(quotient), kNormal);
  Value* many = m.Narrow(wide.Select(tiny, wide.C(1), quotient));
  Value* few = wide.Mul(wide.Abs(wide.Select(tiny, quotient, wide.C(0))), 1 / kSmallest);
  Value* few_bits = b.CreateFPToSI(wide.Call(llvm::Intrinsic::roundeven, {few}), m.IntType());
  Value* sign = b.CreateAnd(b.CreateXor(m.Bits(x), m.Bits(y)), m.I(INT32_MIN));
  return m.Select(tiny, m.FromBits(b.CreateOr(few_bits, sign)), many);
}

/// Calls the function of the module that is DivideThrough64() of this type: it is seldom wanted, and large.
Value* CallDivideThrough64(llvm::IRBuilderBase& b, Value* x, Value* y) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto* type = llvm::cast<llvm::FixedVectorType>(x->getType());
  const std::string name = "divide.f32x" + std::to_string(type->getNumElements());
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                      llvm::Function::InternalLinkage, name, module);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::Cold);
    llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module.getContext(), "", function));
    Math m(inside, type);
    inside.CreateRet(DivideThrough64(m, function->getArg(0), function->getArg(1)));
  }
  return b.CreateCall(function, {x, y});
}

/// The same of all lanes, zeros among them, where lanes are values of their own: the smallest magnitude is
/// found in fewer instructions than each is looked at, if zeros are the largest.
Value* AllWithin(Math& m, const SafeRange& safe, Value* x, bool bounded) {
  llvm::IRBuilderBase& b = m.b;
  Value* least = m.C(std::ldexp(1.0, static_cast<int>(safe.dividend_low)));
  const auto magnitude = [&](Value* of) { return b.CreateSub(b.CreateShl(m.Bits(of), m.I(1)), m.I(1)); };
  Value* smallest = b.CreateIntMinReduce(magnitude(x));
  Value* some = b.CreateICmpULT(smallest, b.CreateExtractElement(magnitude(least), uint64_t{0}));
  // What is at most 1 is no larger, and NaN divides as any number does.
  if (bounded) return b.CreateNot(some);
  Value* most = m.C(std::ldexp(1.0, static_cast<int>(safe.dividend_high)));
  return b.CreateNot(b.CreateOr(some, CodeTargetOf(b).AnyLane(b, b.CreateFCmpUGE(m.Abs(x), most))));
}

/// Whether no quotient is subnormal but for zeros, which sums and maxima leave in many lanes.
Value* AllSafe(Math& m, ElementType type, const SafeRange& safe, Value* x, Value* quotient, bool bounded) {
  llvm::IRBuilderBase& b = m.b;
  if (m.has_subnormals()) return type == ElementType::BF16 ? b.getTrue() : AllWithin(m, safe, x, bounded);
  if (type != ElementType::BF16)
    return b.CreateAndReduce(
        b.CreateOr(IsWithin(m, x, safe.dividend_low, safe.dividend_high), b.CreateICmpEQ(m.Bits(x), m.I(0))));
  if (Value* any = AnySubnormal(b, quotient)) return b.CreateNot(any);
  Value* small = b.CreateICmpEQ(b.CreateAnd(m.Bits(x), m.I(kFromDividendLow)), m.I(0));
  Value* not_zero = b.CreateICmpNE(b.CreateAnd(m.Bits(x), m.I(INT32_MAX)), m.I(0));
  return b.CreateNot(b.CreateOrReduce(b.CreateAnd(small, not_zero)));
}

}  // namespace

Emitted DivideByInvariant(llvm::IRBuilderBase& b, ElementType type, Value* x, Value* divisor,
                          const DivisionFacts& facts) {
  Math m(b, x->getType());
  Math scalar(b, divisor->getType());
  const bool bf16 = type == ElementType::BF16;
  const SafeRange& safe = m.f64()              ? kSafe64
                          : !bf16              ? kSafe32
                          : m.has_subnormals() ? kSafeSubnormalBf16
                                               : kSafeBf16;
  const unsigned width = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  // With the reciprocal rounded to nearest, and a quotient that is off by no more than a unit in the last
  // place, one correction by the exact remainder rounds correctly (Markstein). For f32 the first quotient is
  // good enough: all pairs were looked at whose quotients are so near a tie that it could matter. Quotients
  // of numbers of 8 bits are no nearer to the middle of two such numbers than 2^-17 of themselves, and never
  // there: its 9 bits times 8 are more than 8. They need no correction.
  const auto divisors = [&] { return b.CreateVectorSplat(width, divisor); };
  Value* reciprocal = b.CreateVectorSplat(width, scalar.Div(scalar.C(1), divisor));
  Value* quotient = m.Mul(x, reciprocal);
  for (int i = 0; i < (m.f64() ? 2 : bf16 ? 0 : 1); ++i)
    quotient = m.Fma(m.Fma(m.Neg(quotient), divisors(), x), reciprocal, quotient);
  // Usual quotients are not subnormal.
  const auto form = [&](Value* value, bool usual) {
    if (!bf16 || !facts.only_stored) return value;
    return usual ? NormalToBf16(b, value) : ComputedInBf16(b, value).stored;
  };
  Value* result = form(quotient, true);
  Value* usual = b.CreateAnd(IsWithin(scalar, divisor, safe.divisor_low, safe.divisor_high),
                             AllSafe(m, type, safe, x, quotient, facts.bounded));
  llvm::BasicBlock* from = b.GetInsertBlock();
  auto* rare = llvm::BasicBlock::Create(b.getContext(), "rare", from->getParent());
  auto* next = llvm::BasicBlock::Create(b.getContext(), "next", from->getParent());
  b.CreateCondBr(usual, next, rare, llvm::MDBuilder(b.getContext()).createLikelyBranchWeights());
  b.SetInsertPoint(rare);
  Value* divided = m.f64() || facts.any_speed ? m.Div(x, divisors()) : CallDivideThrough64(b, x, divisors());
  divided = form(divided, false);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  llvm::PHINode* phi = b.CreatePHI(result->getType(), 2);
  phi->addIncoming(result, from);
  phi->addIncoming(divided, rare);
  if (!bf16) return FromCompute(b, type, phi);
  return facts.only_stored ? FromStored(b, type, phi) : ComputedInBf16(b, phi);
}

}  // namespace hlo::codegen
