// What libraries do, taken out of kernels that do more.
#pragma once
#include "backends/compile/machine.h"
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

/// Of a module that the pipeline of a level left: the kernels of an attention that a library does become a
/// call, which it does as a whole (AttentionFrom), and large products and convolutions that a library does
/// become kernels apart from what it does not do to them (ProductApart, ConvolutionApart), where that is a
/// kernel of its own, and filters are put in order for it (OrderFilter). `expected` is asked before anything
/// is changed, and only then: whether there is that library. Errors: kernel-schedule.
Status SplitForLibraries(Module& module, const compile::Machine& machine,
                         llvm::function_ref<bool(llvm::StringRef library)> expected);

}  // namespace hlo::gpu
