// What nothing needs (passes.md §4.3).
#pragma once
#include "passes/rewrite/context.h"

namespace hlo {

struct DeadCodeOptions {
  bool waiting_collectives = false;  // collectives that nobody reads go although they wait for others
  bool call_parameters = false;      // parameters that no computation reads go from calls too
};

/// Removes it, as pass dce says, asking for leave before each change; true if there was any.
Result<bool> RemoveDeadCode(Module& module, PassContext& context, const DeadCodeOptions& options = {});

}  // namespace hlo
