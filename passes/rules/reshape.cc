// Broadcast, reshape, transpose, copy, bitcast, reverse (passes.md §3.4).
#include "passes/rules/reshape_rewrites.h"
#include "passes/rules/rules.h"

namespace hlo {
namespace {

std::vector<OpKind> ElementwiseKinds(int16_t operands = 0) {
  std::vector<OpKind> kinds;
  for (const OpInfo& op : AllOps())
    if (op.Is(kElementwise) && op.kind != OpKind::Copy && op.kind != OpKind::Map &&
        (operands == 0 || op.max_operands == operands))
      kinds.push_back(op.kind);
  return kinds;
}

bool SinkBroadcastEnabled(const Match& m) { return Options(m).enable_sink_broadcast; }
bool DegenerateBroadcastEnabled(const Match& m) { return Options(m).enable_broadcast_degenerate_dimension; }
bool HoistTransposeEnabled(const Match& m) { return Options(m).enable_hoist_transpose_of_reshape; }
bool SliceConcatenateEnabled(const Match& m) {
  return Options(m).rewrite_reshape_transpose_as_slice_concatenate;
}
bool FoldIntoScatterEnabled(const Match& m) { return Options(m).enable_fold_transpose_into_scatter; }
bool RandomNeedNotRepeat(const Match& m) { return !m.context.policy().deterministic; }

bool IsIdentityTranspose(const Match& m) { return IsIdentityPermutation(Dimensions(*m.root)); }
bool SameShape(const Match& m) { return m.root->operand(0)->shape() == m.shape(); }
bool ReversesOnlySizeOne(const Match& m) {
  return llvm::all_of(Dimensions(*m.root), [&](int64_t d) { return m.shape().dim(d) <= 1; });
}
/// Or a tuple as it is.
bool SameMemoryOrTuple(const Match& m) { return m.shape().IsTuple() ? SameShape(m) : SameMemory(m); }
bool SameMemoryTwice(const Match& m) {
  const Shape& inner = m.root->operand(0)->operand(0)->shape();
  return SameMemory(m) && inner.has_layout() &&
         inner.layout().memory_space == m.shape().layout().memory_space;
}

std::vector<Rule> StaticRules() {
  using namespace pattern;
  const Pattern splat = Broadcast(A.If(IsScalarValue));
  return {
      // Broadcasts.
      {"bc.1", Broadcast(A), BroadcastToReshape},
      {"bc.2", Broadcast(A), BroadcastToTranspose},
      {"bc.3", Broadcast(Reshape(A)), BroadcastOfInsertedOnes},
      {"bc.4",
       Pattern::OneOf(ElementwiseKinds()).If(AllOperandsBroadcast),
       SinkBroadcasts,
       Exact,
       {SinkBroadcastEnabled}},
      {"bc.5",
       Pattern::OneOf({OpKind::Reshape, OpKind::Reverse, OpKind::Transpose, OpKind::Slice, OpKind::Sort},
                      {splat}),
       MoveSplat},
      {"bc.5b", DynamicSlice(), MoveSplat},
      {"bc.6", Broadcast(Iota()), BroadcastOfIota},
      {"bc.7", Broadcast(Broadcast(A)), BroadcastOfBroadcast},
      {"bc.8", Broadcast(A), BroadcastWithoutOnes, Exact, {LayoutInsensitive, DegenerateBroadcastEnabled}},
      // Reshapes.
      {"rs.1", Reshape(A), EmptyConstant},
      {"rs.3", Reshape(Reshape(A)), ReshapeOfReshape},
      {"rs.4", Reshape(Rng().OneUse()), RngOfRootShape, Exact, {RandomNeedNotRepeat}},
      {"rs.5", Pattern::OneOf({OpKind::Reshape, OpKind::Transpose, OpKind::Bitcast}), CancelRearrangements},
      {"rs.6",
       Reshape(Transpose(Reshape(A))),
       HoistTransposeOfReshape,
       Exact,
       {LayoutInsensitive, HoistTransposeEnabled}},
      {"rs.8", Reshape(Broadcast(A)), ReshapeOfBroadcast},
      {"rs.9", Reshape(Iota()), ReshapeOfIota},
      {"rs.10",
       Reshape(DynamicUpdateSlice().OneUse()),
       ReshapeOfDynamicUpdateSlice,
       Exact,
       {LayoutInsensitive}},
      {"rs.11", Reshape(A), ChainToBitcast, Exact, {LayoutSensitive}},
      {"rs.7", Reshape(Copy(A).OneUse()), ReshapeOfCopy, Exact, {LayoutSensitive, SameMemoryTwice}},
      // Transposes.
      {"tr.1", Transpose(A), A, Exact, {IsIdentityTranspose}},
      {"tr.2", Transpose(Transpose(A)), TransposeOfTranspose},
      {"tr.3", Transpose(Dot(A, B).OneUse()), TransposeOfDot, Changes(kRounding | kNan), {LayoutInsensitive}},
      {"tr.4", Transpose(A), TransposeToReshape, Exact, {LayoutInsensitive}},
      {"tr.5", Transpose(Rng().OneUse()), RngOfRootShape, Exact, {RandomNeedNotRepeat}},
      {"tr.6", Transpose(A), TransposeToBitcast, Exact, {LayoutSensitive}},
      {"tr.7",
       Reshape(Transpose(Reshape(A))),
       SpaceToDepth,
       Exact,
       {LayoutInsensitive, SliceConcatenateEnabled}},
      {"tr.8", Transpose(Broadcast(A)), TransposeOfBroadcast},
      {"tr.9",
       Transpose(Scatter(A, B, C).OneUse()),
       TransposeOfScatter,
       Exact,
       {LayoutInsensitive, FoldIntoScatterEnabled}},
      // Copies that change layouts.
      {"copy.3", Copy(A), ChainToBitcast, Exact, {LayoutSensitive, SameMemory}},
      {"copy.4", Copy(Reshape(A).OneUse()), CopyOfBitcastReshape, Exact, {LayoutSensitive, SameMemoryTwice}},
      {"copy.5", Copy(Bitcast()), CopyOfBitcastOfCopy, Exact, {LayoutSensitive}},
      {"copy.6", Copy(Reshape(A).OneUse()), CopyOfReshape, Exact, {LayoutSensitive, SameMemoryTwice}},
      {"bit.1", Bitcast(Pattern::OneOf(ElementwiseKinds(1), {Bitcast(A)}).OneUse()), BitcastOfUnaryOfBitcast},
      {"bit.4", Bitcast(Broadcast(A)), BitcastOfBroadcast},
      // Reverses.
      {"rev.1", Reverse(A), A, Exact, {ReversesOnlySizeOne}},
      {"rev.2", Reverse(Reverse(A)), ReverseOfReverse, Exact, {LayoutInsensitive}},
      {"rev.3",
       Reverse(Pattern::OneOf(ElementwiseKinds(2)).OneUse()),
       ReverseOfBinaryWithSplat,
       Exact,
       {LayoutInsensitive}},
      {"rev.4", Reverse(Reshape(A)), ReverseOfInsertedOnes, Exact, {LayoutInsensitive}},
  };
}

}  // namespace

llvm::ArrayRef<Rule> ReshapeRules() {
  using namespace pattern;
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all = {
        {"rs.2", Reshape(A), A},
        {"copy.1", Copy(Copy(A)), Copy(A), Exact, {SameMemoryTwice}},
        {"copy.2", Copy(A), A, Exact, {SameMemoryOrTuple}},
        {"bit.2", Bitcast(Bitcast(A)), BitcastOfBitcast},
        {"bit.3", Bitcast(A), A, Exact, {SameShape}},
    };
    llvm::append_range(all, WithGuard(StaticRules(), StaticShapes));
    return all;
  }();
  return rules;
}

}  // namespace hlo
