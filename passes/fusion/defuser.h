// defuser: no fusions (passes.md §2.1).
//
// Requires nothing. Preserves layouts, canonical-dots.
// Changes: every fusion becomes the instructions of its body, with copies where bitcasts read what lies in
// another layout inside of it than outside.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDefuser(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
