// Minimum and maximum, logic, compares, selects, conversions (passes.md §3.2). The engine tries operands of
// commutative ops in both orders, so max.4, max.5, cmp.15, cmp.17 and their duals are max.3, cmp.14 and
// cmp.16.
#include "passes/analysis/value_facts.h"
#include "passes/rules/logic_rewrites.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

using namespace pattern;

std::vector<OpKind> IncreasingKinds() {
  std::vector<OpKind> kinds;
  for (const OpInfo& op : AllOps())
    if (op.Is(kIncreasing)) kinds.push_back(op.kind);
  return kinds;
}

std::vector<Rule> MinMaxRules() {
  const std::vector<OpKind> increasing = IncreasingKinds();
  const Pattern fa = Pattern::OneOf(increasing, {A}).OneUse().As(P);
  const Pattern fb = Pattern::OneOf(increasing, {B}).OneUse().As(Q);
  const Pattern id = Pattern::OneOf({OpKind::PartitionId, OpKind::ReplicaId}).As(A);
  return {
      {"max.1", Maximum(A, A), A},
      {"min.1", Minimum(A, A), A},
      {"max.2", Maximum(A, B.If(IsTypeMinimum)), A, Exact, {MinMaxPropagateNan}},
      {"min.2", Minimum(A, B.If(IsTypeMaximum)), A, Exact, {MinMaxPropagateNan}},
      {"max.3", Maximum(Maximum(A, B).As(C), B), C},
      {"min.3", Minimum(Minimum(A, B).As(C), B), C},
      // A clamp counts subnormal numbers as zeros.
      {"max.6", Maximum(B, Minimum(A, C)), ClampBetween, Changes(kRange)},
      {"min.6", Minimum(C, Maximum(A, B)), ClampBetween, Changes(kRange)},
      {"max.7", Maximum(B, Clamp(B, A, C).As(D)), D, Exact, {BoundedClamp}},
      {"max.7b", Maximum(Broadcast(B), Clamp(B, A, C).As(D)), D, Exact, {BoundedClamp}},
      {"max.8", Maximum(fa, fb), MaximumInside, Changes(kRounding)},
      {"clamp.1", Clamp(A, Clamp(A, X, B).As(C), B), C},
      {"clamp.2", Clamp(Zero, id, B), A, Exact, {CoversDeviceIds}},
  };
}

std::vector<Rule> LogicAndCompareRules() {
  const Pattern nn = A.If(IsNonNegative), p = Pattern::Op(OpKind::Compare).As(P).OneUse();
  const Pattern q = Pattern::Op(OpKind::Compare).As(Q).OneUse(), ones = B.If(IsAllOnes);
  const auto less = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsLess); };
  const auto greater = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsGreater); };
  const auto at_most = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsLessOrEqual); };
  const auto at_least = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsGreaterOrEqual); };
  const auto equal = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsEqual); };
  const auto differ = [](const Pattern& x, const Pattern& y) { return Compare(x, y).If(IsNotEqual); };
  return {
      {"and.1", And(A, ones), A},
      {"and.2", And(A, Zero), Zero},
      {"and.3", And(p, q), SmallerBound},
      {"or.1", Or(A, ones), B},
      {"or.2", Or(A, Zero), A},
      {"xor.1", Xor(A, A), Zero},
      {"xor.2", Xor(A, Zero), A},
      {"cmp.1", less(A, Zero), Zero, Exact, {UnsignedOperands}},
      {"cmp.2", at_least(A, Zero), One, Exact, {UnsignedOperands}},
      {"cmp.3", greater(Zero, A), Zero, Exact, {UnsignedOperands}},
      {"cmp.4", at_most(Zero, A), One, Exact, {UnsignedOperands}},
      {"cmp.5", less(nn, Zero), Zero},
      {"cmp.6", at_least(nn, Zero), One, Changes(kNan)},
      {"cmp.7", greater(Zero, nn), Zero},
      {"cmp.8", at_most(Zero, nn), One, Changes(kNan)},
      {"cmp.9", less(A, A), Zero},
      {"cmp.9b", greater(A, A), Zero},
      {"cmp.9c", differ(A, A), Zero, Exact, {OrderedOperands}},
      {"cmp.10", equal(A, A), One, Exact, {OrderedOperands}},
      {"cmp.10b", at_least(A, A), One, Exact, {OrderedOperands}},
      {"cmp.10c", at_most(A, A), One, Exact, {OrderedOperands}},
      {"cmp.11", differ(A, Zero), A, Exact, {PredOperands}},
      {"cmp.11b", differ(Zero, A), A, Exact, {PredOperands}},
      {"cmp.12", equal(A, One), A, Exact, {PredOperands}},
      {"cmp.12b", equal(One, A), A, Exact, {PredOperands}},
      {"cmp.13", differ(Select(P, One, Zero), Zero), P},
      {"cmp.14", greater(Maximum(A, B), A), FlippedCompare},
      {"cmp.16", greater(A, Minimum(A, B)), CompareWithMinimum},
  };
}

std::vector<Rule> SelectRules() {
  const Pattern two = Compare(A, B);
  return {
      {"sel.1", Select(P, A, A), A},
      {"sel.2", Select(One, A, B), A},
      {"sel.3", Select(Zero, A, B), B},
      {"sel.4", Select(Not(P), A, B), Select(P, B, A)},
      {"sel.5", Select(P, One, Zero), P, Exact, {PredRoot}},
      {"sel.6", Select(P, Zero, One), Not(P), Exact, {PredRoot}},
      {"sel.7", Select(two.If(IsGreater), A, B), Or(A, B), Exact, {PredRoot}},
      {"sel.7b", Select(two.If(IsGreaterOrEqual), A, B), Or(A, B), Exact, {PredRoot}},
      {"sel.8", Select(two.If(IsLess), A, B), And(A, B), Exact, {PredRoot}},
      {"sel.8b", Select(two.If(IsLessOrEqual), A, B), And(A, B), Exact, {PredRoot}},
      {"sel.9", Select(two.If(IsEqual), A, B), B, Exact, {PredRoot}},
      {"sel.10", Select(two.If(IsNotEqual), A, B), A, Exact, {PredRoot}},
      {"sel.11", Select(P, A, B), SelectIntoUpdate, Exact, {StaticShapes}},
  };
}

std::vector<Rule> ConversionRules() {
  const std::vector<OpKind> narrowing = {OpKind::Add, OpKind::Subtract, OpKind::Multiply, OpKind::Divide,
                                         OpKind::Remainder};
  const Pattern wide = Pattern::OneOf(narrowing, {Convert(A).OneUse(), Convert(B).OneUse()}).OneUse().As(C);
  return {
      {"conv.1", Convert(A), A},
      {"conv.2", Convert(Convert(A).As(B)), A, Exact, {WidensExactly}},
      {"conv.3", Convert(Constant().As(A).OneUse()), ConvertConstant, Exact, {FoldsConverts}},
      {"conv.4", Convert(wide), OperateNarrow},
      {"bcv.3", BitcastConvert(A), A},
      {"bcv.1", BitcastConvert(BitcastConvert(A).As(B)), BitcastConvertOnce, Exact, {StaticShapes}},
      {"bcv.2", BitcastConvert(Concatenate().As(A)), ConcatenateUnconverted, Exact, {StaticShapes}},
      {"bcv.5", BitcastConvert(Broadcast(A).As(B)), BroadcastConverted},
      {"bcv.4", BitcastConvert(A), BitcastInstead, Exact, {LayoutSensitive}},
      {"rp.1", ReducePrecision(A), A, Exact, {KeepsOwnPrecision}},
  };
}

}  // namespace

llvm::ArrayRef<Rule> LogicRules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all = MinMaxRules();
    for (std::vector<Rule> more : {LogicAndCompareRules(), SelectRules(), ConversionRules()})
      all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return all;
  }();
  return rules;
}

}  // namespace hlo
