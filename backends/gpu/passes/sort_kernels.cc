// sort-kernels: makes a kernel of every sort whose rows a block of threads sorts.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. Rows are those of arrays [rows, elements], as
// sort-by-exchanges leaves them.
#include "backends/compile/kernel_config.h"
#include "backends/compile/machine.h"
#include "backends/kernel/lower.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

bool HasNoOrder(const Instruction& inst) {
  return inst.extras().control_predecessors.empty() && inst.extras().control_successors.empty();
}

bool IsOfRows(const Instruction& sort, const compile::Machine& machine) {
  const Shape& shape = sort.operand(0)->shape();
  return HasStaticShapes(sort) && HasNoOrder(sort) && shape.rank() == 2 && shape.ElementCount() > 0 &&
         sort.attr<SortAttrs>().dimensions[0] == 1 && shape.dim(1) > 1 &&
         shape.dim(1) <= kernel::LongestSortedRow(sort, machine.kernels);
}

Result<bool> RunSortKernels(Module& module, const NoPassOptions&, PassContext& context) {
  const compile::Machine& machine = compile::MachineOf(context);
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (Instruction* inst : computation->PostOrder()) {
      if (inst->kind() != OpKind::Sort || !IsOfRows(*inst, machine)) continue;
      if (!context.TakeRewrite()) return changed;
      compile::SinkConstants(compile::WrapInKernel(inst));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SortKernels, NoPassOptions);

}  // namespace hlo::gpu
