// Steps that compute dots and convolutions as sums of products.
#pragma once
#include "backends/cpu/machine.h"
#include "backends/cpu/program.h"
#include "backends/gemm/isa.h"

namespace hlo::cpu {

/// What the kernels of products may use on `machine`, which this process runs on.
gemm::Target ProductTarget(const Machine& machine);

/// A step for a dot or a convolution, or why there is none for it: types or attributes that only the general
/// loops of the evaluator know.
std::unique_ptr<Step> MakeProductStep(const Instruction& inst, Program& program, const gemm::Target& target,
                                      llvm::ArrayRef<Value> operands, const Value& result, std::string& why);

}  // namespace hlo::cpu
