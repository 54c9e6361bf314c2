// layout-assignment: chooses the order of dimensions in memory for every array (passes.md §5.4).
//
// Requires a module whose layouts mean nothing yet. Establishes layouts; preserves the flat call graph and
// canonical dots.
// Changes: arrays get layouts; where a user needs another one than its operand has, a copy is put between.
// The entry's parameters and result keep the layouts of the header, values that go into or come out of called
// computations, custom calls, infeeds and transfers the written ones (where caller and computation disagree,
// those of the computation: layout_boundaries.h), bitcasts and their operands theirs. Everything else
// follows: wishes of users travel up through elementwise ops, transposes and reshapes, layouts travel down,
// and what is still free is row-major. Afterwards the module is valid with layouts taken into account. All of
// it is one rewrite.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunLayoutAssignment(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
