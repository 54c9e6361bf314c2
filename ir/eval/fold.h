// Folding the members' values of a collective with its reducer.
#pragma once
#include <vector>

#include "ir/eval/eval.h"

namespace hlo {

/// Elementwise f(…f(f(m0, m1), m2)…) over the members in rank order, for each of their values.
/// Narrow floats are folded step by step in F32 where the reducer is a single add or multiply and
/// rounded once (ops-structured §12.3), otherwise in the element type. Members without values are skipped.
Result<std::vector<Literal>> FoldMembers(EvalContext& context, const Computation& reducer,
                                         const std::vector<std::vector<Literal>>& members);

}  // namespace hlo
