// move_copy_to_users: copies that change the layout move below their users (passes.md §5.5).
//
// Requires layouts to mean something. Preserves the flat call graph, fusions, layouts and canonical dots.
// Changes: an elementwise instruction, slice, pad, reverse, dynamic-slice or reduce-window whose arrays are
// all copies from one layout, read by nobody else, works on what is copied, and its result is copied. Slices
// take it from copies with other users, too. Left alone: layouts with properties, shardings, control edges on
// the copies, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunMoveCopyToUsers(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
