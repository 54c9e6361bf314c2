// scatter_simplifier: scatters of one form (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a scatter becomes one with indices [M,n] and updates [M,window…] without inserted dimensions,
// behind transposes and reshapes. Left alone: which dimensions are indexed, batching dimensions, dynamic
// shapes, scatters without elements.
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

bool CanChange(const Instruction& inst) {
  if (inst.kind() != OpKind::Scatter || !HasStaticShapes(inst)) return false;
  const auto& a = inst.attr<ScatterAttrs>();
  const Instruction* indices = inst.operand(inst.operand_count() / 2);
  const Instruction* update = inst.operands().back();
  if (inst.operand(0)->shape().ElementCount() == 0) return false;
  if (!a.input_batching_dims.empty() || update->shape().ElementCount() == 0) return false;
  return indices->shape().rank() != 2 || a.index_vector_dim != 1 || !a.inserted_window_dims.empty() ||
         a.update_window_dims != Counting(1, update->shape().rank());
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  const auto& a = inst->attr<ScatterAttrs>();
  const int64_t count = inst->operand_count() / 2, rank = inst->operand(0)->shape().rank();
  llvm::SmallVector<Instruction*, 6> operands(inst->operands().take_front(static_cast<size_t>(count)));
  operands.push_back(IndexMatrix(make, inst->operand(count), a.index_vector_dim));
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(UpdateMatrix(make, inst->operand(count + 1 + i), a, rank));
  ScatterAttrs b;
  b.update_window_dims = Counting(1, rank + 1);
  b.scatter_dims_to_operand_dims = a.scatter_dims_to_operand_dims;
  b.index_vector_dim = 1;
  b.indices_are_sorted = a.indices_are_sorted;
  b.unique_indices = a.unique_indices;
  return make.Add(OpKind::Scatter, operands, std::move(b), inst->callees());
}

Result<bool> RunScatterSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanChange, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(ScatterSimplifier, NoPassOptions);

}  // namespace hlo
