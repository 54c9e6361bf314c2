// What the options about dumps ask for.
#pragma once
#include "tools/opt/options.h"

namespace hlo {

/// Dumps with no folder if none are wanted. `command_line`: what was given, for dumps of it. Errors:
/// usage-option; unavailable-feature for forms that cannot be written.
Result<DumpOptions> MakeDumpOptions(const OptOptions& options, const CommandLine& command_line);

}  // namespace hlo
