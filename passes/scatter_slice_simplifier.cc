#include "passes/scatter_slice_simplifier.h"

#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Sizes of a scatter's windows in the dimensions of its operand; inserted ones are 1, batching ones 0.
Dims WindowSizes(const Instruction& scatter) {
  const auto& a = scatter.attr<ScatterAttrs>();
  const Shape& updates = scatter.operand(2)->shape();
  Dims sizes;
  size_t next = 0;
  for (int64_t d = 0; d < scatter.shape().rank(); ++d)
    if (llvm::is_contained(a.input_batching_dims, d))
      sizes.push_back(0);
    else
      sizes.push_back(
          llvm::is_contained(a.inserted_window_dims, d) ? 1 : updates.dim(a.update_window_dims[next++]));
  return sizes;
}

bool CutsScatter(const Instruction& inst) {
  if (inst.kind() != OpKind::Slice || inst.operand(0)->kind() != OpKind::Scatter) return false;
  const Instruction& scatter = *inst.operand(0);
  if (scatter.operand_count() != 3 || scatter.users().size() != 1 || scatter.IsRoot() ||
      !HasStaticShapes(scatter) || scatter.extras().sharding || inst.shape().ElementCount() == 0 ||
      !scatter.extras().control_predecessors.empty() || !scatter.extras().control_successors.empty())
    return false;
  const Dims windows = WindowSizes(scatter);
  for (int64_t d = 0; d < scatter.shape().rank(); ++d) {
    const SliceRange& range = inst.attr<SliceAttrs>().slice[static_cast<size_t>(d)];
    const bool whole = range.start == 0 && range.limit == scatter.shape().dim(d) && range.stride == 1;
    const bool front = range.start == 0 && range.stride == 1 && windows[static_cast<size_t>(d)] == 1;
    if (!whole && !front) return false;
  }
  return true;
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  const Instruction& scatter = *inst->operand(0);
  Instruction* front = make.Slice(scatter.operand(0), inst->attr<SliceAttrs>().slice);
  return RemakeWith(make, scatter, front->shape(), {front, scatter.operand(1), scatter.operand(2)});
}

}  // namespace

Result<bool> RunScatterSliceSimplifier(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CutsScatter, ReplacementFor);
}

HLO_DEFINE_PASS(ScatterSliceSimplifier, NoPassOptions);

}  // namespace hlo
