// Triangular systems, whoever asks for their solution.
#pragma once
#include <optional>

#include "backends/structured/plan.h"

namespace hlo::structured {

/// op(a) x = b with b of m x n elements, or (not `left`) x op(a) = b with n x m; a is m x m. All in row-major
/// order, matrix after matrix.
struct TriangularSystem {
  ElementType type;
  int64_t batch, m, n;
  bool left, lower, unit;
  TransposeA op;
  /// Unit-triangular systems in double precision shall have the bits of the evaluator's triangular-solve.
  bool exact_units;
};

/// Plans on arrays (a, b, x). Declines, at `inst`, where there is no way or the evaluator's
/// is to be taken.
Result<Plan> PlanSystem(const Instruction& inst, const TriangularSystem& system, gemm::Isa isa);
/// Of these ways the one with a lane of vectors for each system of the batch; nothing where systems are too
/// large, too few, or of other types than F32, F64, C64 and C128.
std::optional<Plan> PlanLaneSolve(const TriangularSystem& system, gemm::Isa isa);
/// That of complex numbers, with a library.
Result<Plan> PlanComplexSystem(const Instruction& inst, const TriangularSystem& system);

}  // namespace hlo::structured
