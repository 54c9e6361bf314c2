// Which way a product takes and why, in words.
#pragma once
#include "backends/products/ways.h"

namespace hlo::gemm {

/// Indented lines: the way taken with what it costs and what others would, those that can but do not suit,
/// those that cannot, with the reasons.
std::string ExplainWays(const Problem& problem, const Target& target, const Way& taken, bool forced);

}  // namespace hlo::gemm
