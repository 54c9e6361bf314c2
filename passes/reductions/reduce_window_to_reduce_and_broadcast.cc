// ReduceWindowToReduceAndBroadcast: windows that all see a whole dimension are one reduction (passes.md
// §2.2).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a reduce-window each of whose windows covers a dimension from end to end, and is of size 1 in the
// other dimensions, becomes a reduce and a broadcast. Left alone: strides, dilations, variadic forms, dynamic
// shapes.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool IsUnit(const WindowDim& d) {
  return d.size == 1 && d.stride == 1 && d.pad_low == 0 && d.pad_high == 0 && d.base_dilation == 1;
}

/// Every window of this dimension reaches over all n elements.
bool SeesAll(const WindowDim& d, int64_t n) {
  return d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1 && !d.reversal && n > 0 &&
         d.pad_low >= 0 && d.pad_high >= 0 && d.size >= n + d.pad_low && d.size >= n + d.pad_high;
}

/// The dimensions that the windows cover; nothing if the others are not plain.
Dims CoveredDims(const Instruction& inst) {
  Dims covered;
  const Window& window = inst.attr<ReduceWindowAttrs>().window;
  for (size_t i = 0; i < window.dims.size(); ++i) {
    if (IsUnit(window.dims[i])) continue;
    if (!SeesAll(window.dims[i], inst.operand(0)->shape().dim(static_cast<int64_t>(i)))) return {};
    covered.push_back(static_cast<int64_t>(i));
  }
  return covered;
}

Result<bool> RunReduceWindowToReduceAndBroadcast(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::ReduceWindow && IsPlainReduction(inst) &&
               inst.shape().ElementCount() != 0 && !CoveredDims(inst).empty();
      },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        const Dims covered = CoveredDims(*inst);
        Dims kept;
        for (int64_t d = 0; d < inst->shape().rank(); ++d)
          if (!llvm::is_contained(covered, d)) kept.push_back(d);
        Instruction* sum = make.Reduce(inst->operand(0), inst->operand(1), covered, inst->callee());
        return BroadcastTo(make, sum, inst->shape().dims(), kept);
      });
}

}  // namespace

HLO_DEFINE_PASS(ReduceWindowToReduceAndBroadcast, NoPassOptions);

}  // namespace hlo
