// Reducers of pairs that hand on what they compare, as those of argmax.
#pragma once
#include "ir/computation.h"

namespace hlo {

/// Whether pairs that lie behind each other may be folded in groups, each beginning with the initial values,
/// whose first is not zero, and what the groups give after that: the result has the same bits, NaN and signs
/// of zeros with them. Found out by trying all there is: the computation consists of comparisons of its
/// parameters by order and of choices between them, so that only that order counts.
bool MayGroupPairs(const Computation& reducer);

}  // namespace hlo
