// What conversions between element types keep.
#pragma once
#include "ir/types.h"

namespace hlo {

/// Every value of `from`, infinities and NaN included, is a value of `to`. Numbers only: false for pred,
/// complex types, and conversions between integers and floats.
bool ConvertsExactly(ElementType from, ElementType to);

}  // namespace hlo
