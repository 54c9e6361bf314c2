// Steps that run the loops of backends/structured.
#pragma once
#include "backends/cpu/program.h"
#include "backends/products/common/isa.h"

namespace hlo::cpu {

/// A step for an op that has loops of its own, or why there is none for it (empty: its kind has none at all).
std::unique_ptr<Step> MakeStructuredStep(const Instruction& inst, Program& program, gemm::Isa isa,
                                         llvm::ArrayRef<Value> operands, const Value& result,
                                         std::string& why);

}  // namespace hlo::cpu
