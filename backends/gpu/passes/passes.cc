#include "backends/gpu/passes/passes.h"

#include "backends/compile/passes.h"
#include "passes/pass_row.h"
#include "passes/pipeline.h"

namespace hlo::gpu {

#define HLO_PASS HLO_DECLARE_PASS
#include "backends/gpu/passes/passes.def"
#undef HLO_PASS

namespace {

constexpr PassInfo kPasses[] = {
#define HLO_PASS HLO_PASS_INFO
#include "backends/gpu/passes/passes.def"
#undef HLO_PASS
};
constexpr PipelineInfo kPipelines[] = {
#define HLO_PIPELINE(name, summary, spec) {name, summary, spec},
#include "backends/gpu/passes/pipelines.def"
#undef HLO_PIPELINE
};
/// Programs that hold this backend know its passes and pipelines, and the passes that it shares, from their
/// start.
struct Registration : PassRegistration {
  Registration() : PassRegistration(kPasses, kPipelines) { compile::RegisterPasses(); }
};
const Registration kRegistration;

}  // namespace

std::string PipelineFor(int optimization_level, const PipelineChoice& choice) {
  const std::string level = "O" + std::to_string(optimization_level);
  if (optimization_level == 0) return (choice.tf32 ? "tf32-products,@gpu-" : "@gpu-") + level;
  if (!choice.tf32 && !choice.library_convolutions) return "@gpu-" + level;
  const char* split = choice.library_convolutions
                          ? choice.tf32 ? ",@gpu-library-tf32-split" : ",@gpu-library-split"
                          : ",@gpu-split,tf32-products";
  return "@gpu-front-" + level + split + ",@gpu-code";
}

}  // namespace hlo::gpu
