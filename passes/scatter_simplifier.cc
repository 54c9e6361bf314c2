#include "passes/scatter_simplifier.h"

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
  if (inst.kind() != OpKind::Scatter || !HasStaticShapes(inst)) return false;
  const auto& a = inst.attr<ScatterAttrs>();
  const Instruction* indices = inst.operand(inst.operand_count() / 2);
  const Instruction* update = inst.operands().back();
  if (inst.operand(0)->shape().ElementCount() == 0) return false;
  if (!a.input_batching_dims.empty() || update->shape().ElementCount() == 0) return false;
  return indices->shape().rank() != 2 || a.index_vector_dim != 1 || !a.inserted_window_dims.empty() ||
         !IsIdentityPermutation(a.scatter_dims_to_operand_dims) ||
         a.update_window_dims != Counting(1, update->shape().rank());
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  const auto& a = inst->attr<ScatterAttrs>();
  const int64_t count = inst->operand_count() / 2, rank = inst->operand(0)->shape().rank();
  const Dims order = MovedToFront(a.scatter_dims_to_operand_dims, rank);
  llvm::SmallVector<Instruction*, 6> operands;
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(TransposeUnlessIdentity(make, inst->operand(i), order));
  operands.push_back(IndexMatrix(make, inst->operand(count), a.index_vector_dim));
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(UpdateMatrix(make, inst->operand(count + 1 + i), a, order));
  ScatterAttrs b;
  b.update_window_dims = Counting(1, rank + 1);
  b.scatter_dims_to_operand_dims = Counting(0, static_cast<int64_t>(a.scatter_dims_to_operand_dims.size()));
  b.index_vector_dim = 1;
  b.indices_are_sorted = a.indices_are_sorted && IsIdentityPermutation(a.scatter_dims_to_operand_dims);
  b.unique_indices = a.unique_indices;
  Instruction* y = make.Add(OpKind::Scatter, operands, std::move(b), inst->callees());
  const Dims back = InversePermutation(order);
  if (y->shape().IsArray()) return TransposeUnlessIdentity(make, y, back);
  if (IsIdentityPermutation(back)) return y;
  llvm::SmallVector<Instruction*, 2> results;
  for (int64_t i = 0; i < count; ++i) results.push_back(TransposeUnlessIdentity(make, make.Gte(y, i), back));
  return make.Tuple(results);
}

}  // namespace

Result<bool> RunScatterSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanChange, ReplacementFor);
}

HLO_DEFINE_PASS(ScatterSimplifier, NoPassOptions);

}  // namespace hlo
