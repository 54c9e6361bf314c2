// The passes of this folder.
#pragma once

namespace hlo::compile {

/// Adds them to the table of passes, once: backends that use them do so before main.
void RegisterPasses();

}  // namespace hlo::compile
