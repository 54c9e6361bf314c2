// Factorisations as LAPACK's calls want them, of row-major matrices.
#pragma once
#include "backends/structured/plan.h"

namespace hlo::structured {

/// `batch` matrices, one after the other.
struct Matrices {
  ElementType type;
  int64_t batch, rows, columns;
};

/// Plans on arrays (a, factor, info): the Cholesky factor in one triangle, the other one as it was; info is 0
/// or the 1-based row of the first pivot that is not positive. Declines, at `inst`.
Result<Plan> PlanCholeskyFactor(const Instruction& inst, const Matrices& matrices, bool lower);
/// On arrays (a, factors, pivots, info): a = P L U; row i was exchanged with row pivots[i], 1-based; info is
/// 0 or the 1-based place of the first pivot of zero. Declines, at `inst`.
Result<Plan> PlanLuFactors(const Instruction& inst, const Matrices& matrices, gemm::Isa isa);

/// On arrays (a, packed, tau): a = Q R, with R above the diagonal and the reflectors of Q below it.
Result<Plan> PlanQrFactors(const Instruction& inst, const Matrices& matrices, gemm::Isa isa);
/// On arrays (packed, tau, q): the first columns of the product of `count` reflectors.
Result<Plan> PlanReflectors(const Instruction& inst, const Matrices& matrices, int64_t count, gemm::Isa isa);

}  // namespace hlo::structured
