// What passes and analyses of compiling backends know of the machine that code is made for.
#pragma once
#include "backends/kernel/target.h"

namespace hlo::compile {

struct Machine {
  kernel::Target kernels;
};

/// Tells the passes of this folder of a machine; a constant of each backend.
struct MachineRegistration {
  explicit MachineRegistration(const Machine& (*machine)());
};
/// That of the backend which the program holds.
const Machine& TargetMachine();

}  // namespace hlo::compile
