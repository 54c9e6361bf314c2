// kernel-schedules: kernels say how their loops are run, so that what runs is what is printed: a schedule is
// text that is read as it was written, or changed by hand.
//
// Requires row-major. Preserves everything. No value changes.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "backends/compile/machine.h"
#include "ir/findings.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"

namespace hlo::compile {
namespace {

/// A kernel as whoever makes code of it plans it.
struct Planned {
  Instruction* fusion;
  std::optional<int64_t> row;  // KernelPlans::Plan()
};

std::vector<Planned> KernelsOf(const Module& module, PassContext& context) {
  const Machine& machine = MachineOf(context);
  std::vector<Planned> kernels;
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (Instruction* inst : computation->InstructionsOf(OpKind::Fusion)) {
      const auto rows = machine.kernel_of_rows != nullptr ? machine.kernel_of_rows(*inst) : std::nullopt;
      if (rows)
        kernels.push_back({rows->fusion, rows->row});
      else if (const auto config = KernelConfigOf(*inst); config && config->path == KernelPath::SideBySide)
        for (Instruction* part : inst->callee()->InstructionsOf(OpKind::Fusion))
          kernels.push_back({part, {}});
      else if (config)
        kernels.push_back({inst, {}});
    }
  }
  return kernels;
}

class Scheduler {
 public:
  Scheduler(Module& module, PassContext& context)
      : context_(context), plans_(KernelPlans::Of(module, MachineOf(context))) {}

  /// Folds that keep their order are told to; plans of kernels that compute them, too, have to be made anew.
  Result<bool> MarkFolds(llvm::ArrayRef<Planned> kernels) {
    bool marked = false;
    for (const Planned& kernel : kernels) {
      const auto plan = PlanOf(kernel);
      if (!plan) continue;
      for (const Instruction* fold : (*plan)->in_order) {
        if (FoldsInOrder(*fold)) continue;
        if (!context_.TakeRewrite()) return false;
        const_cast<Instruction*>(fold)->MutableExtras().backend_config = kernel::kInOrder;
        marked = true;
      }
    }
    return marked;
  }

  void Write(llvm::ArrayRef<Planned> kernels) {
    for (const Planned& kernel : kernels) {
      if (KernelConfigOf(*kernel.fusion)->schedule) continue;
      const auto plan = PlanOf(kernel);
      if (!plan || !context_.TakeRewrite()) continue;
      SetKernelConfig(kernel.fusion, {KernelPath::Loops, (*plan)->schedule});
    }
  }

 private:
  /// A schedule that its kernel does not fit any more is chosen anew: those of the text were looked at
  /// before.
  Result<KernelPlanPtr> PlanOf(const Planned& kernel) {
    auto plan = plans_.Plan(*kernel.fusion, kernel.row);
    if (plan || IsDeclined(plan.error()) || !KernelConfigOf(*kernel.fusion)->schedule) return plan;
    if (!context_.TakeRewrite()) return plan;
    Diagnostic remark =
        MakeError("kernel-schedule", kernel.fusion->loc(),
                  "%{0} was changed, so that its schedule does not fit and is chosen anew: {1}",
                  kernel.fusion->name(), plan.error().message);
    remark.severity = Severity::Remark;
    context_.Report(std::move(remark));
    SetKernelConfig(kernel.fusion, {KernelPath::Loops});
    return plans_.Plan(*kernel.fusion, kernel.row);
  }

  PassContext& context_;
  KernelPlans& plans_;
};

Result<bool> RunKernelSchedules(Module& module, const NoPassOptions&, PassContext& context) {
  const std::vector<Planned> kernels = KernelsOf(module, context);
  for (bool marked = true; marked;) {
    SetFindings(module, nullptr);
    HLO_TRY(marked, Scheduler(module, context).MarkFolds(kernels));
  }
  Scheduler(module, context).Write(kernels);
  return context.rewrites() > 0;
}

}  // namespace

HLO_DEFINE_PASS(KernelSchedules, NoPassOptions);

}  // namespace hlo::compile
