// Steps that run chains, block of rows by block of rows.
#pragma once
#include "backends/cpu/chains.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Makes a step ready whose fusion is `chain` and whose call is as PlanRowKernel() made it, with slices of
/// what of the kernel's operands lies outside of the chain.
std::unique_ptr<StepRunner> LoadChain(const Step& step, const Chain& chain, Program& program,
                                      ProductChoice& choice);

/// The slices of the kernel's operands; empty where the operand is the first product.
llvm::SmallVector<Slice, 8> KernelSlices(const Chain& chain, llvm::ArrayRef<Value> operands);

}  // namespace hlo::cpu
