// Kernels that read the same.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// Makes one kernel with several results of kernels that do not depend on each other and go over the same
/// large operand in the same order: it is read once, and there is one call. After grouping and chains.
void JoinSiblings(Module& module);

}  // namespace hlo::cpu
