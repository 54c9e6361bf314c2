// The pipelines of the GPU backend, and the passes of this folder.
#pragma once
#include <string>

namespace hlo::gpu {

/// Name of the pipeline of a level, `@gpu-O2`.
std::string PipelineFor(int optimization_level);

}  // namespace hlo::gpu
