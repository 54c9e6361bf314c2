// Products taken out of kernels for a library.
#pragma once
#include "backends/compile/machine.h"
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

/// Of a module that the pipeline of a level left: large products that the library does become kernels apart
/// from what it does not do to them (ProductApart), where that is a kernel of its own. `expected` is asked
/// before anything is changed, and only then: whether there is a library. Errors: kernel-schedule.
Status SplitProducts(Module& module, const compile::Machine& machine, llvm::function_ref<bool()> expected);

}  // namespace hlo::gpu
