// The frame of passes that replace single instructions by code that computes the same (passes.md §1.1).
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/rewrite/context.h"

namespace hlo {

/// What an expander looks for.
using ExpandTest = llvm::function_ref<bool(const Instruction& inst)>;
/// Makes the replacement; null: nothing was made, or everything is rewired already.
using ExpandFn = llvm::function_ref<Result<Instruction*>(Instruction* inst)>;

/// Finds all matches first, callees before callers, then asks for leave and replaces each: uses, root and
/// control edges go to the replacement (what the original waits for, its loops, calls and effects wait for),
/// layouts of the original hold, operands that became dead go. The original goes even if it has side effects.
/// `with_fusions`: bodies of fusions too.
Result<bool> ExpandMatches(Module& module, PassContext& context, ExpandTest matches, ExpandFn expand,
                           bool with_fusions = false);

/// The instruction and its operands have no dynamic dimension and no unknown size.
bool HasStaticShapes(const Instruction& inst);

}  // namespace hlo
