// Reductions (passes.md §3.6).
#include "passes/analysis/reducers.h"
#include "passes/rules/reduction_rewrites.h"

namespace hlo {
namespace {

bool SupportsNonCanonicalDots(const Match& m) {
  return Options(m).supports_non_canonical_dots && Options(m).enable_dot_strength_reduction;
}
bool RaisesThroughDot(const Match& m) { return Options(m).raise_slice_and_reduce_through_dot; }
bool SimplifiesReshapes(const Match& m) { return Options(m).enable_reduce_of_reshape; }
bool ReplacesWindows(const Match& m) { return Options(m).enable_window_reduce_to_reduce_replacement; }
bool IsScalarWindow(const Match& m) { return m.shape().IsScalar(); }
bool IsArrayWindow(const Match& m) { return !m.shape().IsScalar(); }

constexpr int kReassociates = kRounding | kSignedZero | kNan | kRange;

}  // namespace

llvm::ArrayRef<Rule> ReductionRules() {
  using namespace pattern;
  const Guard LI = LayoutInsensitive;  // NOLINT(readability-identifier-naming): a word of rules
  const Pattern plain = Reduce().If(IsPlainReduction), window = ReduceWindow().If(IsPlainReduction);
  auto reduce_of = [](const Pattern& x) { return Reduce(x.As(B), Q).If(IsPlainReduction); };
  static const Rule rules[] = {
      {"red.1", Reduce(), ReductionOfNothing},
      {"red.2", Reduce(), UnwrapSingleReduction},
      {"red.3", plain, ReduceOfSizeOne, Changes(kSignedZero | kNan), {LI, ReducesSizeOneToIdentity}},
      {"red.3b", plain, ReduceOfSizeOneFolded, Exact, {LI}},
      {"red.4", Reduce(Negate(A), Zero.As(Q)).If(IsSum), ReduceOfNegate, Changes(kSignedZero | kNan), {LI}},
      {"red.5", Reduce(), ReduceOfKnownPattern, Exact, {LI}},
      {"red.6",
       Reduce(Dot(A, C).As(B), Zero.As(Q)).If(IsSum),
       ReduceOfDotFree,
       Changes(kReassociates),
       {LI, RaisesThroughDot}},
      {"red.7", reduce_of(Transpose(A)), ReduceOfTranspose, Exact, {LI, KeepsReducedOrder}},
      {"red.7b", reduce_of(Transpose(A)), ReduceOfTranspose, Changes(kReassociates), {LI, HasReducerOp}},
      {"red.8", reduce_of(Reduce(A, P).OneUse()), ReduceOfReduce, Changes(kReassociates), {LI}},
      {"red.9", reduce_of(Reshape(A)), ReduceOfMergingReshape, Exact, {LI, SimplifiesReshapes}},
      {"red.10", reduce_of(Reshape(A)), ReduceOfOtherReshape, Exact, {LI}},
      {"red.11", reduce_of(Concatenate().OneUse()), ReduceOfConcatenate, Changes(kReassociates), {LI}},
      {"red.12",
       Reduce(Dot(A, C).As(B).OneUse(), Zero.As(Q)).If(IsSum),
       ReduceOfDotBatch,
       Changes(kReassociates),
       {LI, SupportsNonCanonicalDots}},
      {"red.13", Reduce(A, Q).If(IsPlainReduction), ReduceBesideArgReduce, Changes(kSignedZero | kNan), {LI}},
      {"red.15", plain, ReduceOfScalarSplat, Exact, {LI}},
      {"red.16", reduce_of(Broadcast(A)), ReduceOfBroadcastDims, Exact, {LI}},
      {"red.17", Reduce(Broadcast(A).As(B), Q).If(IsSum), SumOfAddedDims, Changes(kReassociates), {LI}},

      {"rw.1", ReduceWindow(), ReductionOfNothing},
      {"rw.2",
       window,
       WindowOfSizeOne,
       Changes(kSignedZero | kNan),
       {WindowStartsFromIdentity, IsScalarWindow}},
      {"rw.2b", window, WindowOfSizeOneFolded, Exact, {IsScalarWindow}},
      {"rw.3", ReduceWindow(), UnwrapSingleReduction},
      {"rw.4", ReduceWindow(A, Zero).If(IsSum), PrefixSumOfConstant, Changes(kReassociates), {LI}},
      {"rw.5",
       window,
       WindowOfSizeOne,
       Changes(kSignedZero | kNan),
       {LI, WindowStartsFromIdentity, IsArrayWindow}},
      {"rw.5b", window, WindowOfSizeOneFolded, Exact, {LI, IsArrayWindow}},
      {"rw.6", window, WindowOfWholeDims, Changes(kRounding | kRange | kNan), {LI, ReplacesWindows}},
      {"rw.7",
       ReduceWindow(Pad(A, P), Q).If(IsPlainReduction),
       WindowOfPad,
       Changes(kSignedZero | kNan),
       {LI}},
      {"rw.7b",
       ReduceWindow(Convert(Pad(A, P)), Q).If(IsPlainReduction),
       WindowOfConvertedPad,
       Changes(kSignedZero | kNan),
       {LI}},
      {"rw.8", window, WindowOfSingleElement, Changes(kSignedZero | kNan), {LI, WindowStartsFromIdentity}},
  };
  return rules;
}

}  // namespace hlo
