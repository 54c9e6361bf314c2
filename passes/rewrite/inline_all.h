// Calls of a whole module replaced by what they call.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Replaces every call that `is_inlined` names (of instructions that apply one callee to their operands once)
/// by the body of its callee, in all computations but those that only such calls use, some of which may stay
/// behind. `on_inlined`: the computation and what stands for the call in it. `take`: asked before each; no
/// ends it.
void InlineAll(Module& module, llvm::function_ref<bool(const Instruction&)> is_inlined,
               llvm::function_ref<void(Computation&, Instruction*)> on_inlined = nullptr,
               llvm::function_ref<bool()> take = nullptr);

}  // namespace hlo
