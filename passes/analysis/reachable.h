// Looking through called computations.
#pragma once
#include "ir/module.h"

namespace hlo {

/// Some instruction of the computation, or of those it calls, passes `test`; each is visited once.
bool AnyInstruction(const Computation& computation, llvm::function_ref<bool(const Instruction&)> test);

}  // namespace hlo
