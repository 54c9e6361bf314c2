// Concatenate, slices, pad, gather, scatter, sort (passes.md §3.5).
#include "passes/rules/rules.h"
#include "passes/rules/slice_rewrites.h"

namespace hlo {
namespace {

bool WindowToReduceEnabled(const Match& m) { return Options(m).enable_window_reduce_to_reduce_replacement; }
bool NegativePaddingEnabled(const Match& m) { return Options(m).enable_negative_padding_replacement; }
bool RaiseThroughDotEnabled(const Match& m) { return Options(m).raise_slice_and_reduce_through_dot; }
bool ConstantSlicesEnabled(const Match& m) { return !Options(m).disable_dynamic_slice_to_slice_conversion; }

bool WholeUpdate(const Match& m) { return SameDims(m.root->operand(1)->shape(), m.shape()); }
bool EmptyUpdate(const Match& m) { return m.root->operand(1)->shape().ElementCount() == 0; }
bool WholeSlice(const Match& m) { return SameDims(m.root->operand(0)->shape(), m.shape()); }
bool NoPadding(const Match& m) {
  return llvm::all_of(m.root->attr<PadAttrs>().padding,
                      [](const PaddingDim& p) { return p == PaddingDim(); });
}

Instruction* Operand0(Match& m) { return m.root->operand(0); }
Instruction* Operand1(Match& m) { return m.root->operand(1); }

std::vector<Rule> StaticRules() {
  using namespace pattern;
  const Pattern slice = Slice(A).If(IsUnstrided);
  return {
      {"cat.1", Concatenate(A), ConcatenateOne},
      {"cat.2", Concatenate(), ConcatenateWithoutEmpty},
      {"cat.3", Concatenate(), FlattenConcatenate, Exact, {LayoutInsensitive}},
      {"cat.4", Concatenate(), JoinAdjacentSlices, Exact, {LayoutInsensitive}},
      {"cat.7", Concatenate(), ConcatenateSplats},
      {"cat.5", Concatenate(A, B), ConcatenateWithSplat, Exact, {LayoutInsensitive}},
      {"cat.6", Concatenate(), ConcatenateCopies, Exact, {LayoutInsensitive}},
      {"sl.1", Slice(A), A, Exact, {WholeSlice}},
      {"sl.2", Slice(Pad(A, B)), SliceOfPadding},
      {"sl.3", Slice(Pad(A, B)), SliceInsidePad},
      {"sl.5", Slice(slice).If(IsUnstrided), SliceOfSlice},
      {"sl.6", Slice(Broadcast(A)), SliceOfBroadcast},
      {"sl.9",
       Slice(Dot(A, B).OneUse()),
       SliceOfDot,
       Changes(kRounding | kNan),
       {LayoutInsensitive, RaiseThroughDotEnabled}},
      {"sl.10", Slice(Concatenate()).If(IsUnstrided), SliceOfConcatenate},
      {"sl.12",
       Slice(ReduceWindow(A, B).OneUse()),
       SliceOfPrefixSums,
       Changes(kRounding),
       {WindowToReduceEnabled}},
      {"sl.13", Slice(Reshape(A)).If(IsUnstrided), SliceOfReshape, Exact, {LayoutInsensitive}},
      {"sl.14", Slice(Reverse(A)), SliceOfReverse},
      {"sl.15", Slice(A), SliceWithoutStride},
      {"ds.1", DynamicSlice(), Operand0, Exact, {WholeSlice}},
      {"ds.3", DynamicSlice(), ZeroFullSizeIndices},
      {"ds.4", DynamicSlice(), DynamicSliceOfBroadcast},
      {"ds.5", DynamicSlice(), DynamicSliceOfReshape, Exact, {LayoutInsensitive}},
      {"ds.6", DynamicSlice(), DynamicSliceOfTranspose, Exact, {LayoutInsensitive}},
      {"ds.7", DynamicSlice(), DynamicSliceToSlice, Exact, {ConstantSlicesEnabled}},
      {"ds.8", DynamicSlice(), DynamicSliceOfIota},
      {"ds.9", DynamicSlice(), DynamicSliceOfDynamicSlice},
      {"dus.1", DynamicUpdateSlice(), UpdateOfSplat},
      {"dus.2", DynamicUpdateSlice(), Operand1, Exact, {WholeUpdate}},
      {"dus.3", DynamicUpdateSlice(), ZeroFullSizeIndices},
      {"dus.4", DynamicUpdateSlice(), Operand0, Exact, {EmptyUpdate}},
      {"dus.5", DynamicUpdateSlice(), UpdateOfUpdatedSlice},
      {"pad.1", Pad(A, B), PadOfNothing},
      {"pad.2", Pad(A, B), PadWithoutHoles},
      {"pad.3", Pad(A, B), A, Exact, {NoPadding}},
      {"pad.4", Pad(Broadcast(A).OneUse(), B), PadOfBroadcast},
      {"pad.5", Pad(A, B), PadWithoutNegative, Exact, {NegativePaddingEnabled}},
      {"gat.1", Gather(A, B), GatherFromNothing},
      {"gat.2", Gather(A, B), GatherFromOneElement},
      {"gat.3", Gather(A, B), GatherToSelects},
      {"gat.4", Gather(Pad(A, B), C), GatherOfPad},
      {"gat.5", Gather(Reshape(Pad(A, B)), C), GatherOfReshapedPad},
      {"scat.1", Scatter(), ScatterOfNothing},
      {"scat.2", Scatter(A, B, C), ScatterOfWholeWindow},
      {"scat.2b", Scatter(A, B, C), ScatterOfOneWindow},
      {"sort.1", Sort(), SortOfNothing},
  };
}

}  // namespace

llvm::ArrayRef<Rule> SliceRules() {
  static const std::vector<Rule> rules = WithGuard(StaticRules(), StaticShapes);
  return rules;
}

}  // namespace hlo
