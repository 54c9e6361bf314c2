// LLVM's passes over kernels, before NVPTX chooses instructions.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hlo::gpu {

/// Puts the bodies of the module's functions in the place of their calls, values into registers, arithmetic
/// of indices into the width that their ranges need. What is computed stays the same, bit for bit.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace hlo::gpu
