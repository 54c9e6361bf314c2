// How far the starts of dynamic-slice and dynamic-update-slice reach.
#pragma once
#include "ir/types.h"

namespace hlo {

/// The largest start of a dynamic-update-slice counts modulo 2^bits of indices of this type; 64: as it is.
/// XLA computes it in the type of the indices, so in unsigned types of whole bytes it wraps. That of a
/// dynamic-slice never does.
constexpr int UpdateBoundBits(ElementType index) {
  return IsUnsigned(index) && Info(index).bits >= 8 ? Info(index).bits : 64;
}

}  // namespace hlo
