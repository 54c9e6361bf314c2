// sort-kernels: makes a kernel of every sort whose rows a block of threads sorts.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. Rows are those of arrays [rows, elements], as
// sort-by-exchanges leaves them. What a kernel made element by element for the sort alone is made as the rows
// are read.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_ops.h"
#include "backends/compile/machine.h"
#include "backends/kernel/lower.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/fuse.h"

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

/// A kernel whose elements cost no more where they are read: each is made once, and of neighbours neighbours.
bool IsMadeByElement(const Instruction& inst, const compile::Machine& machine) {
  if (inst.kind() != OpKind::Fusion || inst.users().size() != 1 || inst.IsRoot() || !HasNoOrder(inst) ||
      !inst.shape().IsArray() || !compile::KernelConfigOf(inst))
    return false;
  return llvm::all_of(inst.callee()->instructions(), [&](const Instruction* at) {
    return at->info().category == OpCategory::Source ||
           (compile::HasKernel(*at, machine) && !compile::IsFold(*at) && !compile::HasOwnNest(*at) &&
            !compile::MovesMinorDimension(*at, machine));
  });
}

/// The sort's kernel, `fusion`, makes its operands where it can.
void TakeIn(Instruction* fusion, const compile::Machine& machine) {
  const std::vector<Instruction*> operands(fusion->operands().begin(), fusion->operands().end());
  for (Instruction* operand : operands) {
    if (!IsMadeByElement(*operand, machine)) continue;
    InlineCall(FuseProducer(fusion, operand));
    RemoveIfDead(operand);
  }
}

Result<bool> RunSortKernels(Module& module, const NoPassOptions&, PassContext& context) {
  const compile::Machine& machine = compile::MachineOf(context);
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (Instruction* inst : computation->PostOrder()) {
      if (inst->kind() != OpKind::Sort || !IsOfRows(*inst, machine)) continue;
      if (!context.TakeRewrite()) return changed;
      Instruction* const fusion = compile::WrapInKernel(inst);
      TakeIn(fusion, machine);
      compile::SinkConstants(fusion);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SortKernels, NoPassOptions);

}  // namespace hlo::gpu
