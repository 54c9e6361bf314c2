// Convolutions that oneDNN computes faster than the loops of backends/gemm.
#pragma once
#include "backends/cpu/program.h"
#include "backends/gemm/isa.h"

namespace hlo::cpu {

/// A step that runs a convolution with oneDNN where that is installed and likely to be faster
/// (MEASUREMENTS.md), else `own`, which also computes what the library cannot: infinite weights beside
/// padding.
std::unique_ptr<Step> PreferLibrary(const Instruction& convolution, Program& program,
                                    const gemm::Target& target, llvm::ArrayRef<Value> operands,
                                    const Value& result, std::unique_ptr<Step> own);

}  // namespace hlo::cpu
