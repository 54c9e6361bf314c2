// A routine as a function of an LLVM module.
#pragma once
#include "backends/kernel/routine.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace hlo::codegen {

/// Adds `void NAME(ptr slots, ptr context, ptr host)` to `module`. `slots` points to one pointer per slot,
/// `host` to a kernel::RoutineHost. Loops call `i64 poll(ptr context)` now and then; if that returns other
/// than 0 the function returns at once, with the slots in no particular state. `kernel_name` names the
/// functions of kernels, which `module` has.
llvm::Function* EmitRoutine(const kernel::Routine& routine, llvm::StringRef name, llvm::Module& module,
                            llvm::function_ref<std::string(int32_t kernel)> kernel_name);

/// Puts the bodies of small kernels in the place of their calls, and scalars into registers. To be called
/// when `routine` and the kernels have the attributes of their target.
void OptimizeRoutine(llvm::Function& routine, const llvm::TargetMachine& target);

}  // namespace hlo::codegen
