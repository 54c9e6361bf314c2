// Taking conditionals apart.
#pragma once
#include "ir/module.h"

namespace hlo {

/// The branch alone belongs to this conditional, once: a copy takes its place if it did not.
Computation* OwnBranch(Instruction* conditional, int64_t branch);
/// A conditional, and everything in its branches, may be computed whether or not it is selected: no side
/// effects, no control edges, no loops that may not end, no tokens or dynamic sizes in the result.
bool MayRunAllBranches(const Instruction& conditional);
/// Copies a branch before the conditional; its result.
Instruction* InlineBranch(Instruction* conditional, int64_t branch);
/// Copies all branches and selects between their results, element by element. Requires MayRunAllBranches().
Instruction* SelectBetweenBranches(Instruction* conditional);

}  // namespace hlo
