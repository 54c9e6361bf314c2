// Arrays in the order of their layouts; literals are row-major whatever their layout.
#pragma once
#include "ir/shape.h"

namespace hlo {

/// Copies the elements of an array of `shape` from row-major order to that of its layout, or back. Elements
/// are unpacked; tiles and padding are not made.
void CopyToPhysical(const uint8_t* row_major, const Shape& shape, uint8_t* physical);
void CopyFromPhysical(const uint8_t* physical, const Shape& shape, uint8_t* row_major);

}  // namespace hlo
