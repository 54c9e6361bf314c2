// Steps of little work that follow each other as one kernel, which one block of threads runs.
#pragma once
#include "backends/compile/program.h"
#include "backends/gpu/runtime/kernel_table.h"
#include "backends/kernel/target.h"

namespace hlo::gpu {

/// Makes one step of several that follow each other, small kernels, copies and loops of known length over
/// such, where one block may do all of them in turns: its parts are a sequence of what it does. Kernels of
/// steps are those that were added to `kernels`, to which others are added; `target` says how long their code
/// is.
void TakeTurns(compile::Sequence& sequence, KernelTable& kernels, const kernel::Target& target);

}  // namespace hlo::gpu
