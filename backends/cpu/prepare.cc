#include "backends/cpu/prepare.h"

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "backends/cpu/chains.h"
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/product_ways.h"

namespace hlo::cpu {
namespace {

/// Chains of the text are such that can be made.
Status CheckChains(const Module& module) {
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->InstructionsOf(OpKind::Fusion)) {
      const std::optional<compile::KernelConfig> config = compile::KernelConfigOf(*inst);
      if (!config || config->path != compile::KernelPath::Chain) continue;
      const auto refuse = [&](llvm::StringRef why) {
        return Error("unsupported-kernel", inst->loc(),
                     "%{0}: the path 'chain' of its kernel does not apply: {1}", inst->name(), why);
      };
      const std::optional<Chain> chain = ChainOf(*inst);
      if (!chain) return refuse("a chain is a dot, a kernel over its rows and perhaps a dot of these rows");
      HLO_CHECK_OK(compile::CheckKernel(*chain->middle, CpuMachine(), chain->rows.result_row));
      if (const Status tried =
              compile::TryRowKernel(*chain->middle, chain->rows, CpuMachine(), KernelTable());
          !tried)
        return refuse(tried.error().message);
    }
  return {};
}

}  // namespace

Status CheckPrepared(const Module& module, const Machine& machine) {
  HLO_CHECK_OK(compile::CheckKernels(module, CpuMachine()));
  HLO_CHECK_OK(CheckChains(module));
  return CheckWays(module, ProductTarget(machine));
}

Status Prepare(Module& module, const CpuOptions& options) {
  HLO_TRY(const Machine machine,
          MachineFor(options.cpu, options.features, /*runs_here=*/false, options.triple));
  HLO_CHECK_OK(CheckPrepared(module, machine));
  compile::PassPlan plan = options;
  plan.controls.cpu = options.cpu;
  plan.controls.features = options.features;
  return compile::RunPasses(module, plan, PipelineFor(options.optimization_level, options.host));
}

}  // namespace hlo::cpu
