// Code of this machine from LLVM IR, quickly made.
#pragma once
#include <string>

#include "ir/support/result.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace hlo::gpu {

/// Sets triple and data layout of a module that is about to be filled. Errors: compile-kernels.
Status PrepareForHost(llvm::Module& module);

/// An object file with the module's functions, whose variables in memory have become values; `quick`: made in
/// a third of the time, and slower to run. Errors: compile-kernels.
Result<std::string> MakeHostObject(llvm::Module& module, bool quick);

}  // namespace hlo::gpu
