// triangular_solve_expander: triangular-solve by substitution or inverted blocks (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: triangular-solve becomes a loop over rows for many small matrices (more than 8 of fewer than 32
// rows), else the diagonal blocks of 128 rows are inverted together and the solution is formed block by
// block. Values outside the triangle are not read. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct TriangularSolveExpanderOptions {
  int64_t block_size = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunTriangularSolveExpander(Module& module, const TriangularSolveExpanderOptions& options,
                                        PassContext& context);

}  // namespace hlo
