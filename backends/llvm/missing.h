// Vector operations that a machine has no instruction for, as functions that code calls.
#pragma once

namespace llvm {
class Module;
}

namespace hlo::codegen {

/// What a machine computes on vectors with one instruction.
struct VectorInstructions {
  bool fma = true;       // x * y + z rounded once
  bool rounding = true;  // to integers
};

/// Has what is missing computed by functions of the module, one for each operation and width: LLVM would
/// write it out lane by lane, as calls of the C library that no vector register survives, wherever it is
/// used, and take twenty times as long for a kernel with transcendental functions. The bits are the same.
void CallMissing(llvm::Module& module, VectorInstructions has);

}  // namespace hlo::codegen
