// What rounding may do to the results of a module, made visible: the module with every rounding disturbed.
#pragma once
#include <memory>

#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// A copy of `module`, without fusions and schedule, in which every instruction that rounds is followed by a
/// multiplication with 1 + u (r + c): r is drawn for each element and c for the whole array, both uniform
/// between -1 and 1; u is one unit in the last place of the type. Of sums of n terms (products of matrices,
/// convolutions, reductions, transforms) results and operands also have sqrt(n) units of the type that sums
/// are kept in, f32 at least: another order may change so much. What moves or chooses values, or does not
/// depend on a float among the parameters, stays exact. Draws follow from ExecutionOptions::rng_seed. After
/// Parker, "Monte Carlo arithmetic" (1997). Errors: those of passes.
Result<std::unique_ptr<Module>> WithRoundingNoise(const Module& module);

/// One unit in the last place of a number near 1: 2^-mantissa; of complex types that of their parts; 0: not a
/// floating type.
double RoundingUnit(ElementType type);

}  // namespace hlo
