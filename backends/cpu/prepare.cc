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

/// Every level of a tuple is a place of its own in all that knows where values lie, and taking such a tuple
/// apart makes as many instructions with as many levels each: 4096 of them take four gigabytes.
constexpr int64_t kMostTupleLevels = 4096;

int64_t TupleLevels(const Shape& shape) {
  int64_t deepest = 0;
  std::vector<std::pair<const Shape*, int64_t>> stack = {{&shape, 0}};
  while (!stack.empty()) {
    const auto [at, levels] = stack.back();
    stack.pop_back();
    deepest = std::max(deepest, levels);
    if (!at->IsTuple()) continue;
    for (const Shape& element : at->tuple_shapes()) stack.emplace_back(&element, levels + 1);
  }
  return deepest;
}

Status CheckTupleLevels(const Module& module) {
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) {
      if (!inst->shape().IsTuple()) continue;
      if (const int64_t levels = TupleLevels(inst->shape()); levels > kMostTupleLevels)
        return Error("limit-nesting", inst->loc(),
                     "the tuple of {0} has {1} levels, for the CPU it may have {2}",
                     ("%" + inst->name()).str(), levels, kMostTupleLevels);
    }
  return {};
}

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
  HLO_CHECK_OK(CheckTupleLevels(module));
  HLO_CHECK_OK(compile::CheckKernels(module, CpuMachine()));
  HLO_CHECK_OK(CheckChains(module));
  return CheckWays(module, ProductTarget(machine));
}

Status Prepare(Module& module, const CpuOptions& options) {
  HLO_TRY(const Machine machine, MachineFor(options.cpu, options.features, /*runs_here=*/false));
  HLO_CHECK_OK(CheckPrepared(module, machine));
  std::vector<PipelineItem> pipeline = options.pipeline;
  if (pipeline.empty()) {
    HLO_TRY(pipeline, ParsePipeline(PipelineFor(options.optimization_level, options.self_contained)));
  }
  if (options.run_passes) return options.run_passes(module, pipeline);
  RewriteControls controls = options.controls;
  controls.cpu = options.cpu;
  controls.features = options.features;
  PassManager manager(controls, options.selection);
  HLO_TRY([[maybe_unused]] const bool changed, manager.Run(module, pipeline));
  return {};
}

}  // namespace hlo::cpu
