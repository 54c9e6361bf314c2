// Which scatters have loops of their own.
#pragma once
#include "ir/instruction.h"

namespace hlo::structured {

/// Whether PlanHistogram takes the scatter, if indices and updates are arrays and not computed on the way.
bool FillsBins(const Instruction& scatter);
/// Whether its updates, of which all elements are one constant, need not be an array.
bool MayBeUniform(const Instruction& scatter);

}  // namespace hlo::structured
