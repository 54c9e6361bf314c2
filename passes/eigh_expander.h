// eigh_expander: eigenvalues of Hermitian matrices by Jacobi rotations (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: custom-call "Eigh" with the configuration "lower,sort,max_iter,tol" becomes a loop over sweeps of
// parallel two-sided Jacobi rotations (Brent and Luk), and a sort of the eigenvalues if asked for. Left
// alone: calls whose shapes or configuration are not those of the target, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunEighExpander(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
