// The pipelines of the GPU backend, and the passes of this folder.
#pragma once
#include <string>

namespace hlo::gpu {

/// What pipelines differ by but their level.
struct PipelineChoice {
  bool tf32 = false;                  // products of f32 may be those of tf32
  bool library_convolutions = false;  // a library does convolutions
};
/// The pipeline of a level, `@gpu-O2`, or the parts of another one.
std::string PipelineFor(int optimization_level, const PipelineChoice& choice = {});

}  // namespace hlo::gpu
