// Steps that run compiled kernels.
#pragma once
#include "backends/cpu/program.h"
#include "backends/kernel/outer_loops.h"

namespace hlo::cpu {

/// Of a fusion: which rows it reads and writes. Rows are what of an array lies at one place of all dimensions
/// but the last ones.
struct FusedRows {
  int64_t count;                  // in all
  int64_t input;                  // the operand that is read by rows
  int64_t input_row, result_row;  // their lengths, in elements
  int64_t unit;                   // so many belong together: blocks of rows begin at its multiples too
};

std::unique_ptr<StepRunner> LoadKernel(const Step& step, Program& program);

/// Lowers a fusion and adds its kernel to `kernels`. Declines fusions without one, saying why.
Result<KernelCall> PlanKernel(const Instruction& fusion, KernelTable& kernels, llvm::ArrayRef<Value> operands,
                              const Value& result);
/// The same for a fusion that makes each row of its result of the same row of one operand, and of nothing
/// else of that: a range of its iterations is a range of rows, and no other elements of the two arrays are
/// touched. `operands` are without those of that operand and of the result, whose slices stay empty. Without
/// `kernels` it is only tried. `aligned`: rows of the result lie one after the other in an array that begins
/// at a multiple of kAlignment. Declines.
Result<KernelCall> PlanRowKernel(const Instruction& fusion, const FusedRows& rows, KernelTable* kernels,
                                 llvm::ArrayRef<Slice> operands, bool aligned = false);

}  // namespace hlo::cpu
