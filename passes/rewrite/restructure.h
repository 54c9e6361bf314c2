// Values that get other parts.
#pragma once
#include "ir/instruction.h"

namespace hlo {

/// Gives the instruction a shape with other parts. Its origin, which is said part by part, no longer fits.
inline void SetStructure(Instruction& inst, Shape shape) {
  inst.set_shape(std::move(shape));
  if (inst.has_extras() && inst.extras().origin) inst.MutableExtras().origin = nullptr;
}

}  // namespace hlo
