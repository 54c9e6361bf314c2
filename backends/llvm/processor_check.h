// Code that asks the processor what it can do, and calls nobody for that.
#pragma once
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace hlo::codegen {

/// Features of x86-64, by LLVM's names, that a code generator uses unasked and that not every such processor
/// has.
std::vector<llvm::StringRef> FeaturesToCheck();

/// Adds `i32 hlo.version()` to a module for x86-64: which of `versions` is the first whose features, of
/// FeaturesToCheck(), processor and system have; as many as there are versions: none. It asks once (CPUID,
/// XGETBV) and may be called by several threads at once.
llvm::Function* EmitProcessorCheck(llvm::Module& module,
                                   llvm::ArrayRef<std::vector<llvm::StringRef>> versions);

}  // namespace hlo::codegen
