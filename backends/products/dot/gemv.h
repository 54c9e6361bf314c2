// Products of few rows: bound by reading the right factor once, as it lies in memory.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// Right factors of this type need no copy in F32: BF16, and integers of a byte or less.
bool IsWidenedWhenRead(ElementType type);

/// `problem` has few rows and a right factor that can be read as it is.
Fit FitThin(const Problem& problem, const Target& target);
/// The same for every target.
bool IsThin(const Problem& problem);

/// Computes a thin problem.
void RunThin(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs, void* out);

}  // namespace hlo::gemm
