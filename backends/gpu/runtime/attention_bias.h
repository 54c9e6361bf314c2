// The kernel that makes what a library adds to the scores of an attention.
#pragma once
#include "backends/compile/machine.h"
#include "backends/gpu/libraries/attention_bias.h"

namespace hlo::gpu {

/// The array, before passes make kernels of what makes it, next to `at`.
Instruction* MakeBias(const AttentionBias& bias, Instruction* at);
/// That kernel, before `step`, and in no order yet; null where there is none for it.
Instruction* MakeBias(const AttentionBias& bias, Instruction* step, const compile::Machine& machine);

}  // namespace hlo::gpu
