// Constants, tuples, control, custom calls, collectives (passes.md §3.3).
#include "passes/rules/structure_rewrites.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

constexpr int kSums = kRounding | kRange | kSignedZero | kNan;  // n·x for x + … + x

bool ConditionalSimplificationEnabled(const Match& m) { return Options(m).enable_conditional_simplification; }

}  // namespace

llvm::ArrayRef<Rule> StructureRules() {
  using namespace pattern;
  const Pattern splat = A.If(IsSplat), on_pred = Convert(A.If(IsBoolean));
  static const std::vector<Rule> rules = {
      {"const.1", Constant(), TupleOfConstants, Exact, {RootIsTuple}},
      {"const.2", Constant(), ConstantToSplat},
      {"const.3", Constant(), ConstantToIota},
      {"const.4", Constant(), ConstantToScaledIota},
      {"gte.1", GetTupleElement(Pattern(Tuple()).As(A)), ElementOfTuple},
      {"iota.1", Iota(), IotaToZero},
      {"map.1", Map(), MapToOperand, Exact, {NoSideEffect}},
      {"map.2", Map(), MapToConstant, Exact, {NoSideEffect}},
      {"map.3", Map(), MapToOp, Exact, {NoSideEffect}},
      {"optb.1", OptimizationBarrier(Pattern(Tuple()).As(A)), DropBarredElements},
      {"cond.1", Conditional(on_pred, B, C), ConditionalOnPred, Exact, {ConditionalSimplificationEnabled}},
      {"cc.1", CustomCall(), UndoPadding, Exact, {NoSideEffect}},
      {"cc.2", CustomCall(), ConstrainLayout, Exact, {LayoutSensitive, NoSideEffect}},
      {"coll.1", AllGather(splat), SplatOfShape, Exact, {StaticShapes, NoSideEffect}},
      {"coll.2", AllToAll(splat), SplatOfShape, Exact, {StaticShapes, NoSideEffect}},
      {"coll.3", AllReduce(splat), ExtremeOfSplat, Exact, {StaticShapes, NoSideEffect}},
      {"coll.3b", AllReduce(splat), SumOfSplat, Changes(kSums), {StaticShapes, NoSideEffect}},
      {"coll.4", ReduceScatter(splat), ExtremeOfSplat, Exact, {StaticShapes, NoSideEffect}},
      {"coll.4b", ReduceScatter(splat), SumOfSplat, Changes(kSums), {StaticShapes, NoSideEffect}},
  };
  return rules;
}

}  // namespace hlo
