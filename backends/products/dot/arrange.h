// Problems brought into the form in which ways for products compute them.
#pragma once
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// A problem as a way computes it.
struct Arranged {
  Problem problem;
  bool exchanged = false;  // the factors, so that columns have become rows
};

/// As it comes: for windows.
Arranged AsItIs(const Problem& problem, const Target& target);
/// For packed factors: steps that are neighbours in memory side by side, and as columns what fills vectors.
Arranged ForTiles(const Problem& problem, const Target& target);
/// For few rows: exchanged if these are columns.
Arranged ForFewRows(const Problem& problem, const Target& target);

}  // namespace hlo::gemm
