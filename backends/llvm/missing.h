// Vector operations that a machine has no instruction for, as functions that code calls.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hlo::codegen {

/// Has what the machine has no vector instruction for computed by functions of the module, one for each
/// operation and width: fused multiplication and addition, rounding to integers, loads and stores under a
/// mask. LLVM would write them out lane by lane wherever they are used, with a call or a branch for each
/// lane; kernels become twenty times as large by that. What is computed is the same, bit for bit.
void CallMissing(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace hlo::codegen
