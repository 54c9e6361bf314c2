// LLVM's libraries without their start-up work.
#pragma once

namespace hlo::codegen {

/// Where the linker put aside what LLVM's libraries do before main (scripts/deferred_llvm.ld), does it now:
/// some 2000 options and tables that only code generation needs. Once, whoever calls; before anything of
/// LLVM's but Support, Object and TargetParser is used.
void RunDeferredInitializers();

}  // namespace hlo::codegen
