// Steps that run compiled kernels.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// A kernel as it is called: what stays the same for all runs.
struct KernelCall {
  int32_t kernel = -1;                  // in Program::kernels
  llvm::SmallVector<Slice, 8> buffers;  // as the kernel numbers them
  size_t first_result = 0;              // buffers from here on are written
  /// Before the call bytes are copied from one slice to another, unless they lie in the same place.
  llvm::SmallVector<std::pair<Slice, Slice>, 1> copies;  // (from, to)
  int64_t extent = 1;                                    // of the parallel loop
  int64_t grain = 1;                                     // iterations per piece
};

std::unique_ptr<Step> MakeKernelStep(const Instruction& inst, Program& program, KernelCall call);

/// Lowers a fusion and adds its kernel to `kernels`. Errors: kernel-unsupported, saying why it has no kernel
/// yet.
Result<KernelCall> PlanKernel(const Instruction& fusion, KernelTable& kernels, llvm::ArrayRef<Value> operands,
                              const Value& result);

}  // namespace hlo::cpu
