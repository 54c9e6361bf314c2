// copy-insertion: copies that let values share the buffers they must share (passes.md §5.5).
//
// Requires nothing. Preserves everything. Establishes copies. A shared computation is copied for each call
// first, as flatten-call-graph does; new instructions of a scheduled module are scheduled before their first
// user.
// Changes: afterwards values that must lie in one buffer – loop elements from before, during and after the
// loop, results of branches, operands that are overwritten in place, parameters aliased to results – are
// never in use at the same time, constants and parameters that are not aliased are never overwritten, and the
// results of the program are distinct buffers, none of them a constant or a parameter it is not aliased to.
//
// Copies are first added wherever they might be needed, with control edges from copies of loop parameters to
// copies of loop results; then every copy whose source and result can be one buffer goes, those of the input
// too, as long as it changes no layout; without a schedule also what is dead. Tuples stay: who reads the
// value in place of a tuple's element uses it longer than the copies allow. Without a schedule that must hold
// in every legal order, with one in that. Left alone: copies between layouts, of tuples, and with frontend
// attributes.
#pragma once
#include "passes/pass.h"

namespace hlo {

/// For passes that have made copies superfluous, too.
Result<bool> RunCopyInsertion(Module& module, const NoPassOptions&, PassContext& context);

}  // namespace hlo
