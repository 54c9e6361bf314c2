// What the passes of this folder share.
#pragma once
#include "backends/products/common/isa.h"
#include "ir/instruction.h"
#include "passes/pass.h"

namespace hlo::cpu {

/// What kernels of products may use on the machine that is compiled for.
gemm::Target TargetOf(const PassContext& context);

/// Two operands, arrays of static shapes.
bool IsPlainConvolution(const Instruction& inst);

}  // namespace hlo::cpu
