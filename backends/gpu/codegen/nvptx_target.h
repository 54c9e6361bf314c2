// What NVPTX has instructions for that emitted code names, and how it runs blocks and threads.
#pragma once
#include "backends/llvm/code_target.h"

namespace hlo::gpu {

/// `nvptx`: what all of sm_80 and later have, in instructions of PTX that NVIDIA's assembler takes for any of
/// them. Known by its name from now on.
const codegen::CodeTarget& NvptxTarget();

}  // namespace hlo::gpu
