// Reductions in forms that several threads and wide registers like better.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// reduce(x) -> scalar of many elements becomes reduce(reduce(reshape(x)) -> parts). The parts depend on
/// the shape only, never on threads. Only for combiners that are one associative operation and initial values
/// that may join twice. So do sums across large arrays, over some of the first rows.
void SplitFullReductions(Module& module);

/// Sums of floats narrower than f32 are added in f32 and rounded once.
void WidenSums(Module& module);

}  // namespace hlo::cpu
