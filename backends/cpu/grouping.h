// Groups of instructions that become kernels.
#pragma once
#include "ir/module.h"

namespace hlo::cpu {

/// Makes fusions of all instructions that have kernels, in computations that run on whole values. An
/// instruction goes where its users are if computing it there, perhaps several times, costs less than writing
/// it to memory and reading it again; rows with reductions become one kernel with what is made of the
/// results.
void GroupIntoKernels(Module& module);

/// Makes fusions of what GroupIntoKernels() left and has loops, too: products of any size, long windows.
void MakeLoneKernels(Module& module);

}  // namespace hlo::cpu
