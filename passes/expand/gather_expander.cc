// gather_expander: gathers as loops of dynamic slices (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a gather becomes a loop over its index vectors that collects slices.
// Left alone: batching dimensions, empty results, scalars as operands, dynamic shapes.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/batching_dims.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"
#include "passes/rewrite/index_matrix.h"

namespace hlo {
namespace {

bool CanExpand(const Instruction& inst) {
  return inst.kind() == OpKind::Gather && HasStaticShapes(inst) && inst.shape().ElementCount() != 0 &&
         inst.operand(0)->shape().rank() != 0;
}

/// The slice that index vector i asks for.
Expr SliceAt(const Expr& x, const Expr& indices, const Expr& i, const GatherAttrs& a) {
  const Expr zero(indices.make(), indices.make().ScalarInt(indices.type(), 0));
  llvm::SmallVector<Expr, 6> starts(a.slice_sizes.size(), zero);
  for (size_t k = 0; k < a.start_index_map.size(); ++k)
    starts[static_cast<size_t>(a.start_index_map[k])] =
        DynamicSliceOf(indices, {i, static_cast<int64_t>(k)}, {1, 1}).Reshape({});
  return DynamicSliceOf(x, starts, a.slice_sizes);
}

Instruction* Loop(Maker& make, Instruction* inst) {
  const auto& a = inst->attr<GatherAttrs>();
  const Expr x(make, inst->operand(0)),
      indices(make, IndexMatrix(make, inst->operand(1), a.index_vector_dim));
  const int64_t count = indices.dim(0);
  // Slices without collapsed dimensions, behind their number; then batch dimensions before offset dimensions.
  Dims row = {1}, place;
  for (const int64_t d : a.offset_dims) row.push_back(inst->shape().dim(d));
  for (int64_t d = 0; d < inst->shape().rank(); ++d)
    if (!llvm::is_contained(a.offset_dims, d)) place.push_back(d);
  place.append(a.offset_dims.begin(), a.offset_dims.end());
  Dims all(row);
  all[0] = count;
  const auto state = CountedLoop(
      make, "gather", count, {x, indices, FullOf(make, x.type(), all, 0)},
      [&](Maker&, const Expr& i, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
        llvm::SmallVector<Expr, 6> starts(row.size(), Expr(0));
        starts[0] = i;
        return {s[0], s[1], DynamicUpdateOf(s[2], SliceAt(s[0], s[1], i, a).Reshape(row), starts)};
      });
  const Expr collected = state[2].Reshape(Permuted(inst->shape().dims(), place));
  return TransposeUnlessIdentity(make, collected, InversePermutation(place));
}

Result<Instruction*> Expanded(Instruction* inst) {
  Maker make(inst);
  // Slices of nothing that a result has elements for.
  if (inst->operand(0)->shape().ElementCount() == 0 ||
      llvm::is_contained(inst->attr<GatherAttrs>().slice_sizes, 0))
    return make.Full(inst->shape(), 0);
  if (!HasBatchingDims(*inst)) return Loop(make, inst);
  Instruction* plain = WithoutBatchingDims(make, inst);
  Instruction* loop = Loop(make, plain);
  plain->parent()->Remove(plain);
  return loop;
}

Result<bool> RunGatherExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanExpand, Expanded);
}

}  // namespace

HLO_DEFINE_PASS(GatherExpander, NoPassOptions);

}  // namespace hlo
