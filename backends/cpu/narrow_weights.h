// Products that read weights as they are stored.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// dot(x, convert(w)) of few rows and weights of BF16 or integers of at most 8 bits that are widened to F32
/// becomes dot(x, w): such products take as long as it takes to read the weights, which they widen on the
/// way. So do products of up to 256 rows with weights that are large when widened: they pack them anyway, and
/// nobody needs room for what is wide. Exact.
void ReadWeightsAsStored(Module& module);

}  // namespace hlo::cpu
