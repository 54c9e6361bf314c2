// Reductions to one element as reductions of parts, so that several threads can work on them.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// reduce(x) -> scalar of many elements becomes reduce(reduce(reshape(x)) -> [parts]). The parts depend on
/// the shape only, never on threads. Only for combiners that are one associative operation and initial values
/// that may join twice.
void SplitFullReductions(Module& module);

}  // namespace hlo::cpu
