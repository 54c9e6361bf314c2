// gather_simplifier: gathers of one form (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a gather becomes one with indices [M,n], index_vector_dim 1, no collapsed dimensions and offset
// dimensions behind M, between transposes and reshapes; one of empty slices becomes zeros, one from a scalar
// a broadcast. Left alone: which dimensions are indexed, batching dimensions, dynamic shapes.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/index_matrix.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

Dims Counting(int64_t begin, int64_t end) {
  Dims dims;
  for (int64_t d = begin; d < end; ++d) dims.push_back(d);
  return dims;
}

bool ReadsNothing(const Instruction& inst) {
  return inst.shape().ElementCount() == 0 || inst.operand(0)->shape().ElementCount() == 0 ||
         llvm::is_contained(inst.attr<GatherAttrs>().slice_sizes, 0);
}

bool CanChange(const Instruction& inst) {
  if (inst.kind() != OpKind::Gather || !HasStaticShapes(inst)) return false;
  const auto& a = inst.attr<GatherAttrs>();
  if (!a.operand_batching_dims.empty()) return false;
  const bool simple = inst.operand(1)->shape().rank() == 2 && a.index_vector_dim == 1 &&
                      a.collapsed_slice_dims.empty() && a.offset_dims == Counting(1, inst.shape().rank()) &&
                      inst.operand(0)->shape().rank() > 0;
  return !simple || ReadsNothing(inst);
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  Instruction* x = inst->operand(0);
  if (ReadsNothing(*inst)) return make.Full(inst->shape(), 0);
  if (x->shape().rank() == 0) return make.Splat(inst->shape(), x);
  GatherAttrs a = inst->attr<GatherAttrs>();
  Instruction* indices = IndexMatrix(make, inst->operand(1), a.index_vector_dim);
  GatherAttrs b;
  b.offset_dims = Counting(1, x->shape().rank() + 1);
  b.start_index_map = a.start_index_map;
  b.index_vector_dim = 1;
  b.slice_sizes = a.slice_sizes;
  b.indices_are_sorted = a.indices_are_sorted;
  Instruction* y = make.Add(OpKind::Gather, {x, indices}, std::move(b));
  // [M, slice] as batch and offset dimensions.
  Dims place;
  for (int64_t d = 0; d < inst->shape().rank(); ++d)
    if (!llvm::is_contained(a.offset_dims, d)) place.push_back(d);
  place.append(a.offset_dims.begin(), a.offset_dims.end());
  y = make.Reshape(y, Permuted(inst->shape().dims(), place));
  return TransposeUnlessIdentity(make, y, InversePermutation(place));
}

Result<bool> RunGatherSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanChange, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(GatherSimplifier, NoPassOptions);

}  // namespace hlo
