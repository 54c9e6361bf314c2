// Small matrices, many at a time.
#pragma once
#include <optional>

#include "backends/structured/plan.h"

namespace hlo::structured {

/// A plan of cholesky with a lane of vectors for each matrix of the batch; nothing where matrices are too
/// large, too few, or of other types than F32, F64, C64 and C128.
std::optional<Plan> PlanLaneCholesky(const Instruction& inst, gemm::Isa isa);

}  // namespace hlo::structured
