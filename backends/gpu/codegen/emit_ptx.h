// PTX of a module of LLVM IR that is optimised.
#pragma once
#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class raw_pwrite_stream;
class TargetMachine;
}  // namespace llvm

namespace hlo::gpu {

/// LLVM's names of passes over IR that its code generator would run and that are left out.
llvm::ArrayRef<llvm::StringLiteral> PassesLeftOut();

/// Writes the module's PTX. How many passes were left out; an error where the machine emits no text.
Result<size_t> EmitPtx(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& os);

}  // namespace hlo::gpu
