// hlo-module-dce: removes what loops carry for nobody, looking at the module as a whole (passes.md §4.3).
//
// Requires nothing. Preserves layouts, fusions and canonical dots.
// Changes: elements of loop states that reach neither the entry's result nor a side effect are handed on as
// they are; then simplify-while-loops, tuple-simplifier and dce remove what that left over. Left alone: loops
// whose state is no tuple or whose body does not end with a tuple.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunHloModuleDce(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
