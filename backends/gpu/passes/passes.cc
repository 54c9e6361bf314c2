#include "backends/gpu/passes/passes.h"

#include "backends/compile/passes.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

namespace hlo::gpu {
namespace {

constexpr PipelineInfo kPipelines[] = {
#define HLO_PIPELINE(name, summary, spec) {name, summary, spec},
#include "backends/gpu/passes/pipelines.def"
#undef HLO_PIPELINE
};
/// Programs that hold this backend know its pipelines, and the passes that it shares, from their start.
struct Registration : PassRegistration {
  Registration() : PassRegistration({}, kPipelines) { compile::RegisterPasses(); }
};
const Registration kRegistration;

}  // namespace

std::string PipelineFor(int optimization_level) { return "@gpu-O" + std::to_string(optimization_level); }

}  // namespace hlo::gpu
