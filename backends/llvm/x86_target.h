// The instructions of X86 that emitted code names: of AVX2, of AVX-512, of its extension for bf16.
#pragma once
#include "backends/llvm/code_target.h"

namespace hlo::codegen {

/// The one with all that the machine has.
const CodeTarget& X86TargetFor(const llvm::MCSubtargetInfo& has);
/// `x86`, `x86-avx2`, `x86-avx512` or `x86-avx512-bf16`, each of which has what those before have; null for
/// other names.
const CodeTarget* FindX86Target(llvm::StringRef name);

}  // namespace hlo::codegen
