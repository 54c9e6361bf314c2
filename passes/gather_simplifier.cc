#include "passes/gather_simplifier.h"

#include "passes/analysis/reshape_facts.h"
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

bool CanChange(const Instruction& inst) {
  if (inst.kind() != OpKind::Gather || !HasStaticShapes(inst)) return false;
  const auto& a = inst.attr<GatherAttrs>();
  if (!a.operand_batching_dims.empty()) return false;
  const bool simple = inst.operand(1)->shape().rank() == 2 && a.index_vector_dim == 1 &&
                      a.collapsed_slice_dims.empty() && IsIdentityPermutation(a.start_index_map) &&
                      a.offset_dims == Counting(1, inst.shape().rank()) &&
                      inst.operand(0)->shape().rank() > 0;
  return !simple || inst.shape().ElementCount() == 0 || inst.operand(0)->shape().ElementCount() == 0;
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  Instruction* x = inst->operand(0);
  if (inst->shape().ElementCount() == 0 || x->shape().ElementCount() == 0) return make.Full(inst->shape(), 0);
  if (x->shape().rank() == 0) return make.Splat(inst->shape(), x);
  GatherAttrs a = inst->attr<GatherAttrs>();
  Instruction* indices = IndexMatrix(make, inst->operand(1), a.index_vector_dim);
  // The operand with the indexed dimensions first.
  const Dims order = MovedToFront(a.start_index_map, x->shape().rank());
  GatherAttrs b;
  b.offset_dims = Counting(1, x->shape().rank() + 1);
  b.start_index_map = Counting(0, static_cast<int64_t>(a.start_index_map.size()));
  b.index_vector_dim = 1;
  b.slice_sizes = Permuted(a.slice_sizes, order);
  b.indices_are_sorted = a.indices_are_sorted && IsIdentityPermutation(a.start_index_map);
  Instruction* y = make.Add(OpKind::Gather, {TransposeUnlessIdentity(make, x, order), indices}, std::move(b));
  // [M, slice] with the slice in the order of the operand, then batch and offset dimensions.
  Dims back = {0}, sizes, place;
  for (const int64_t d : InversePermutation(order)) back.push_back(d + 1);
  y = TransposeUnlessIdentity(make, y, back);
  Dims batch;
  for (int64_t d = 0; d < inst->shape().rank(); ++d)
    if (!llvm::is_contained(a.offset_dims, d)) batch.push_back(d);
  place = batch;
  place.append(a.offset_dims.begin(), a.offset_dims.end());
  y = make.Reshape(y, Permuted(inst->shape().dims(), place));
  return TransposeUnlessIdentity(make, y, InversePermutation(place));
}

}  // namespace

Result<bool> RunGatherSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanChange, ReplacementFor);
}

HLO_DEFINE_PASS(GatherSimplifier, NoPassOptions);

}  // namespace hlo
