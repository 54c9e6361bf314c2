// simplify-conditional: conditionals with one possible branch, cheap branches, or unneeded values (passes.md
// §4.6).
//
// Requires nothing. Preserves layouts, fusions and canonical dots.
// Changes: a conditional with one branch or a constant selector becomes that branch; one between two branches
// of cheap operations becomes both and a select; elements of operands that no branch reads and elements of
// results that nobody reads, or that all branches compute as another, go. Branches that others call are
// copied first. Left alone: control edges, sends and receives in branches, shardings.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSimplifyConditional(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
