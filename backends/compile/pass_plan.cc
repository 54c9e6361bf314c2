#include "backends/compile/pass_plan.h"

namespace hlo::compile {

Status RunPasses(Module& module, const PassPlan& plan, llvm::StringRef of_level) {
  std::vector<PipelineItem> pipeline = plan.pipeline;
  if (pipeline.empty()) {
    HLO_TRY(pipeline, ParsePipeline(of_level));
  }
  if (plan.run_passes) return plan.run_passes(module, pipeline);
  RewriteControls controls = plan.controls;
  PassManager manager(controls, plan.selection);
  HLO_TRY([[maybe_unused]] const bool changed, manager.Run(module, pipeline));
  return {};
}

}  // namespace hlo::compile
