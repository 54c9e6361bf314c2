// Where values of f8e8m0fnu count as zero.
#pragma once
#include "ir/op.h"

namespace hlo {

/// Operands and results of the op that are of type f8e8m0fnu flush, as on CPUs, which compute in F32: 2^-127,
/// a subnormal there, is 0, and 0 is NaN in the result (narrow_float.h, FlushToZero).
bool FlushesScales(OpKind kind);

}  // namespace hlo
