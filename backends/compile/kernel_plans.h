// Kernels of fusions with fast loops, before it is known where their arrays lie. What the pass
// kernel-schedules found out is kept with the module for whoever makes code of it.
#pragma once
#include <map>
#include <memory>

#include "backends/compile/machine.h"
#include "backends/kernel/lower.h"
#include "backends/kernel/outer_loops.h"
#include "ir/module.h"

namespace hlo::compile {

struct KernelPlan {
  kernel::LoweredKernel lowered;
  llvm::SmallVector<int64_t, 8> moved;  // by buffer: what went in front, as kernel::TrimBuffers()
  uint64_t defined = 0;                 // bit i: buffer i is written as a whole and not read
  /// Of a kernel of rows: the loops that its caller runs.
  llvm::SmallVector<kernel::OuterLoop, 2> outer;
  std::string schedule;    // that was applied, as the fusion says or as was best
  kernel::Folds in_order;  // folds that keep their order though nothing says so
};
using KernelPlanPtr = std::shared_ptr<const KernelPlan>;

/// Lowers a fusion and schedules its loops. `row`: elements of its result's rows, if a caller goes from row
/// to row. Declines fusions without kernel; errors: kernel-schedule, for a schedule of the fusion that does
/// not fit.
Result<KernelPlanPtr> PlanLoops(const Instruction& fusion, const Machine& machine,
                                std::optional<int64_t> row = {});

/// Whether the fusion's kernel, by the schedule that stands in it, may write its result, or the element
/// `output` of that, over an operand (kernel::MayWriteOver); nothing: where it reads that element by element.
/// For machines of blocks and threads.
std::optional<bool> MayWriteOver(const Instruction& fusion, int64_t operand, int64_t output,
                                 const Machine& machine);

/// What a kernel may be run by on machines of blocks and threads.
struct KernelAlternatives {
  std::string kernel;  // its loops before any schedule, as text without a name
  /// The best guess first, then others.
  std::vector<std::string> schedules;
};
/// Declines fusions without kernel.
Result<KernelAlternatives> AlternativesOf(const Instruction& fusion, const Machine& machine);

/// The plans of a module as it is, equal ones made once.
class KernelPlans {
 public:
  explicit KernelPlans(const Machine& machine) : machine_(machine) {}
  /// Those that are kept with the module (ir/findings.h).
  static KernelPlans& Of(Module& module, const Machine& machine);
  /// As PlanLoops().
  Result<KernelPlanPtr> Plan(const Instruction& fusion, std::optional<int64_t> row = {});

 private:
  Result<KernelPlanPtr> Make(const Instruction& fusion, std::optional<int64_t> row);
  const Machine& machine_;
  struct Planned {
    const Instruction* fusion;
    std::optional<int64_t> row;
    KernelPlanPtr plan;
  };
  std::map<std::pair<const Instruction*, std::optional<int64_t>>, KernelPlanPtr> plans_;
  std::map<uint64_t, std::vector<Planned>> alike_;  // by a hash of what they compute
};

/// Whether the kernels of the text can be made as their configurations say, those within chains aside.
/// Errors: unsupported-kernel, kernel-schedule, at the fusion.
Status CheckKernels(const Module& module, const Machine& machine);
/// The same of one, planned as PlanLoops() does.
Status CheckKernel(const Instruction& fusion, const Machine& machine, std::optional<int64_t> row = {});

}  // namespace hlo::compile
