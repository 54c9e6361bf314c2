// Products of concatenated factors.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// dot(x, concatenate(a, b)) of few rows becomes products with a and with b, concatenated or, along summed
/// dimensions, added: such products take as long as it takes to read the larger factor, which would be copied
/// first (keys and values of a decoding step). The order of sums changes, so sums of types narrower than F32
/// stay.
void SplitConcatenatedProducts(Module& module);

}  // namespace hlo::cpu
