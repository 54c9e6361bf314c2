// How steps call kernels, once it is known where their arrays lie.
#pragma once
#include "backends/compile/machine.h"
#include "backends/compile/program.h"
#include "backends/kernel/kernel.h"

namespace hlo::compile {

/// What a backend does with kernels.
class KernelSink {
 public:
  virtual ~KernelSink() = default;
  /// Takes a kernel and gives its number. Declines where there is no code for an operation.
  virtual Result<int32_t> Add(kernel::Kernel kernel) = 0;
  /// Declines what Add() would.
  [[nodiscard]] virtual Status Check(const kernel::Kernel& kernel) const = 0;
  /// Pieces of the outermost loops begin at multiples of so many iterations.
  [[nodiscard]] virtual int64_t Grain(const kernel::Kernel& kernel) const = 0;
};

/// Of a fusion: which rows it reads and writes. Rows are what of an array lies at one place of all dimensions
/// but the last ones.
struct FusedRows {
  int64_t count;                  // in all
  int64_t input;                  // the operand that is read by rows
  int64_t input_row, result_row;  // their lengths, in elements
  int64_t unit;                   // so many belong together: blocks of rows begin at its multiples too
};

/// Lowers a fusion and adds its kernel to `kernels`. Declines fusions without one, saying why.
Result<KernelCall> PlanKernel(const Instruction& fusion, const Machine& machine, KernelSink& kernels,
                              llvm::ArrayRef<Value> operands, const Value& result);
/// The same for a fusion that makes each row of its result of the same row of one operand, and of nothing
/// else of that: a range of its iterations is a range of rows, and no other elements of the two arrays are
/// touched. `operands` are without those of that operand and of the result, whose slices stay empty.
/// `aligned`: rows of the result lie one after the other in an array that begins at a multiple of kAlignment.
/// Declines.
Result<KernelCall> PlanRowKernel(const Instruction& fusion, const FusedRows& rows, const Machine& machine,
                                 KernelSink& kernels, llvm::ArrayRef<Slice> operands, bool aligned);
/// Whether it has such a kernel; if not, why.
Status TryRowKernel(const Instruction& fusion, const FusedRows& rows, const Machine& machine,
                    const KernelSink& kernels);

}  // namespace hlo::compile
