// Which conversions between element types lose nothing.
#pragma once
#include "ir/types.h"

namespace hlo {

/// Every value of `from` is a value of `to`, NaN and infinities included (payloads of NaN may go).
[[nodiscard]] bool IsLosslessConversion(ElementType from, ElementType to);

}  // namespace hlo
