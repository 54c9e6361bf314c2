// Arithmetic (passes.md §3.1).
#include "passes/analysis/value_facts.h"
#include "passes/rules/arithmetic_rewrites.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

constexpr int kReordered = kRounding | kSignedZero | kRange;
constexpr int kAny = kReordered | kNan;

}  // namespace

llvm::ArrayRef<Rule> ArithmeticRules() {
  using namespace pattern;
  const Pattern a = A.If(IsNotConstant), b = B.If(IsNotConstant), bc = B.If(IsConstant),
                cc = C.If(IsConstant), dc = D.If(IsConstant), nn = A.If(IsNonNegative);
  const Pattern minus_zero = Pattern::All(-0.0), minus_one = Pattern::All(-1), minus_two = Pattern::All(-2),
                half = Pattern::All(0.5), two = Pattern::All(2), three = Pattern::All(3);
  const Pattern convert = Convert(P.If(IsBoolean));
  const auto reciprocal = Divide(One, A);
  static const std::vector<Rule> rules = {
      {"abs.1", Abs(nn), A},
      {"neg.1", Negate(Negate(A)), A},
      {"not.1", Not(Not(A)), A},
      {"add.1", Add(A, Zero), A, Changes(kSignedZero)},
      {"add.1b", Add(A, minus_zero), A, Exact, {RealNumbers}},
      {"add.2", Add(A, B), ConstantToRight},
      {"add.3", Add(Add(a, bc), cc), SumOfConstants, Changes(kReordered)},
      {"add.4", Add(Subtract(bc, a), cc), ConstantMinus, Changes(kReordered)},
      {"add.5", Add(A, Subtract(B, A)), B, FastMath(kAny)},
      {"add.6", Add(A, DynamicUpdateSlice().As(B).OneUse()), AddIntoUpdate, Changes(kSignedZero)},
      {"add.7",
       Add(Multiply(A, C).OneUse(), Multiply(B, C).OneUse()),
       Multiply(Add(A, B), C),
       Changes(kReordered),
       {IsExactFactor}},
      {"add.8",
       Add(Scatter().As(A).OneUse(), Scatter().As(B).OneUse()),
       MergeScatters,
       Changes(kReordered),
       {LayoutInsensitive}},
      {"add.9",
       Add(Scatter().As(A).OneUse(), Scatter().As(B).OneUse()),
       NestScatters,
       Changes(kReordered),
       {LayoutInsensitive}},
      {"add.10", Add(Scatter().As(A).OneUse(), B), AddToScattered, Changes(kReordered), {LayoutInsensitive}},
      {"sub.1", Subtract(A, A), Zero, FastMath(kNan)},
      {"sub.2", Subtract(A, Zero), A},
      {"sub.3", Subtract(a, bc), PlusNegated},
      {"sub.4", Subtract(A, Subtract(A, B)), B, FastMath(kAny)},
      {"sub.5", Subtract(A, Add(A, B)), Negate(B), FastMath(kAny)},
      {"sub.6", Subtract(Add(A, B), A), B, FastMath(kAny)},
      {"mul.1", Multiply(A, One), A, Exact, {RealNumbers}},
      {"mul.1b", Multiply(A, One), A, Changes(kSignedZero | kNan), {ComplexNumbers}},
      {"mul.2", Multiply(A, Zero), Zero, FastMath(kSignedZero | kNan)},
      {"mul.3", Multiply(Negate(A), Negate(B)), Multiply(A, B)},
      {"mul.4", Multiply(Abs(A), Abs(A)), Multiply(A, A)},
      {"mul.5", Multiply(A, convert), Select(P, A, Zero), Changes(kSignedZero | kNan)},
      {"mul.6", Multiply(Multiply(a, cc).OneUse(), Multiply(b, dc).OneUse()), ProductsOfConstants,
       Changes(kReordered)},
      {"mul.7", Multiply(Multiply(a, bc), cc), ProductOfConstants, Changes(kReordered)},
      {"mul.8", Multiply(Multiply(A, C.If(IsSplat)), Broadcast(b).As(D)), ScaleSmaller, Changes(kReordered)},
      {"mul.9", Multiply(Exp(A).OneUse(), Exp(B).OneUse()), Exp(Add(A, B)), Changes(kAny)},
      {"mul.10", Multiply(Sqrt(nn), Sqrt(nn)), A, Changes(kRounding | kRange)},
      {"mul.11", Multiply(Rsqrt(nn), Rsqrt(nn)), reciprocal, Changes(kRounding | kRange)},
      {"mul.12", Multiply(Add(Convolution().As(A).OneUse(), B).OneUse(), Broadcast(C).As(D).OneUse()),
       ScaleKernel, Changes(kReordered)},
      {"div.1", Divide(A, One), A, Exact, {RealNumbers}},
      {"div.1b", Divide(A, One), A, Changes(kAny), {ComplexNumbers}},
      {"div.2", Divide(A, bc), DivideByShift, Exact, {Integral}},
      {"div.3", Divide(Exp(A).OneUse(), Exp(B).OneUse()), Exp(Subtract(A, B)), Changes(kAny)},
      {"div.4", Divide(A, Exp(B).OneUse()), Multiply(A, Exp(Negate(B))), Changes(kAny)},
      {"div.5",
       Divide(A, Power(B, C).OneUse()),
       Multiply(A, Power(B, Negate(C))),
       Changes(kAny),
       {NotIntegral}},
      {"div.6", Divide(A, Sqrt(B).OneUse()), Multiply(A, Rsqrt(B)), Changes(kAny)},
      {"div.7", Divide(A, Rsqrt(B).OneUse()), Multiply(A, Sqrt(B)), Changes(kAny)},
      {"div.8b", Divide(A, bc), TimesExactReciprocal, Exact, {Floating}},
      {"div.8", Divide(a, bc), TimesReciprocal, Changes(kAny), {NotIntegral}},
      {"div.13", Divide(convert.As(A), Broadcast().As(B)), PredByScalar, Changes(kAny), {NotIntegral}},
      {"div.9", Divide(A, Broadcast(B.OneUse()).As(C)), TimesSmallReciprocal, Changes(kAny), {Floating}},
      {"div.10",
       Divide(Divide(A, B).OneUse(), Divide(C, D).OneUse()),
       Divide(Multiply(A, D), Multiply(B, C)),
       Changes(kAny),
       {NotIntegral}},
      {"div.11", Divide(Divide(A, B).OneUse(), C), Divide(A, Multiply(B, C)), Changes(kAny), {NotIntegral}},
      {"div.12", Divide(A, Divide(B, C).OneUse()), Divide(Multiply(A, C), B), Changes(kAny), {NotIntegral}},
      {"rem.1", Remainder(Remainder(A, B).As(C), B), C},
      {"rem.3", Remainder(Iota().As(A), B), A, Exact, {FitsRemainder}},
      {"rem.4", Remainder(Add(Iota().As(A), B), B), Remainder(A, B), Exact, {FitsRemainderOfSum}},
      {"rem.2", Remainder(A, bc), RemainderByMask, Exact, {Integral}},
      {"pow.1", Power(A, Zero), One, Exact, {RealNumbers}},
      {"pow.1b", Power(A, Zero), One, Changes(kAny), {ComplexNumbers}},
      {"pow.2", Power(A, One), A, Exact, {RealNumbers}},
      {"pow.2b", Power(A, One), A, Changes(kAny), {ComplexNumbers}},
      {"pow.3", Power(Exp(A).OneUse(), B), Exp(Multiply(A, B)), Changes(kAny), {RealNumbers}},
      {"pow.4", Power(A, two), Multiply(A, A), Changes(kAny)},
      {"pow.5", Power(A, three), Multiply(A, Multiply(A, A)), Changes(kAny)},
      {"pow.6", Power(A, minus_one), reciprocal, Changes(kAny), {NotIntegral}},
      {"pow.7", Power(nn, half), Sqrt(A), Changes(kRounding)},
      {"exp.1", Exp(Zero), One},
      {"log.1", Log(Exp(A)), A, Changes(kAny), {RealNumbers}},
      {"log.2", Log(Power(A, B).OneUse()), PowerOfLog, Changes(kAny), {RealNumbers}},
      {"log.3", Log(Sqrt(A).OneUse()), Multiply(Log(A), half), Changes(kAny)},
      {"log.4", Log(Rsqrt(A).OneUse()), Multiply(Log(A), Pattern::All(-0.5)), Changes(kAny)},
      {"sqrt.1", Sqrt(Multiply(A, A)), Abs(A), Changes(kAny), {RealNumbers}},
      {"rsqrt.1", Rsqrt(Power(nn, minus_two)), A, Changes(kAny)},
      {"rsqrt.2", Rsqrt(Divide(One, nn)), Sqrt(A), Changes(kAny)},
      {"cplx.1", Complex(Real(A), Imag(A)), A},
      {"cplx.2", Real(Complex(A, B)), A},
      {"cplx.3", Imag(Complex(A, B)), B},
      {"cplx.4", Real(A), A, Exact, {RealNumbers}},
      {"cplx.5", Imag(A), Zero, Exact, {RealNumbers}},
  };
  return rules;
}

}  // namespace hlo
