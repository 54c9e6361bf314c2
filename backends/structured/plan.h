// Ops with loops of their own, prepared to run.
#pragma once
#include <functional>
#include <string>

#include "backends/products/common/isa.h"
#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo::structured {

/// An instruction prepared to run on arrays with static shapes in row-major storage, elements narrower than a
/// byte one per byte.
struct Plan {
  std::string how;  // for --explain-codegen
  /// The operands' arrays, then the result's (tuples: the arrays of their elements); those do not overlap.
  std::function<void(void* const* arrays)> run;
  /// The operand that the result may lie in the place of; -1: none.
  int64_t in_place = -1;
  /// `how` names the library that does the work.
  bool uses_library = false;
  /// Operations of a run that one thread does at once, writing results as a whole; 0: more than a step within
  /// a compiled loop may do.
  int64_t operations = 0;
};

/// What a plan may use, and what it returns where it has no way for the instruction: it
/// declines with the reason.
using Planner = Result<Plan>(const Instruction& inst, gemm::Isa isa);

/// The k first elements of rows: topk and its custom call.
Planner PlanTopK;
/// reduce-window whose windows are all prefixes, or all suffixes, of lines: cumulative sums and the like.
Planner PlanPrefixScan;
Planner PlanFft;
/// select-and-scatter by a comparison, with sums.
Planner PlanSelectAndScatter;
/// scatter of single elements or short rows by one operation, alone or as a fusion.
Planner PlanHistogram;
/// sort by one key.
Planner PlanSort;
/// rng-bit-generator.
Planner PlanRandomBits;
/// cholesky, of large matrices with a library.
Planner PlanCholesky;
/// triangular-solve; of complex numbers with a library.
Planner PlanTriangularSolve;
/// Calls of LAPACK's factorisations and solves (`lapack_spotrf_ffi` and the like).
Planner PlanLapackCall;

/// dot of many small matrices of F32 or F64 with transposed right factors.
Planner PlanLaneProduct;

/// Declines.
tl::unexpected<Diagnostic> Unsupported(const Instruction& inst, llvm::StringRef why);

/// The planner of an op, null if the folder has none for it.
Planner* PlannerFor(const Instruction& inst);

}  // namespace hlo::structured
