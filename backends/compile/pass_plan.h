// Which passes bring a module into the form that code is made of, for every backend that compiles.
#pragma once
#include <functional>
#include <vector>

#include "passes/pass_manager.h"

namespace hlo::compile {

struct PassPlan {
  int optimization_level = 2;          // -O0 … -O3
  PassSelection selection;             // of the pipeline
  RewriteControls controls;            // limits count what this compilation does
  std::vector<PipelineItem> pipeline;  // empty: that of the level
  /// Runs the pipeline instead of a pass manager made here.
  std::function<Status(Module&, llvm::ArrayRef<PipelineItem>)> run_passes;
  bool watched = false;  // the passes run in any case: nothing is taken from the cache
};

/// Runs what the plan says; `of_level`: the pipeline of its level, as ParsePipeline() takes it. Errors: those
/// of the passes.
Status RunPasses(Module& module, const PassPlan& plan, llvm::StringRef of_level);

}  // namespace hlo::compile
