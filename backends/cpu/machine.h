// The machines that code is made for.
#pragma once
#include <string>

#include "ir/support/result.h"

namespace hlo::cpu {

struct Machine {
  std::string cpu = "x86-64";  // LLVM's name
  std::string features;        // +avx2,…
};
/// The machine this process runs on: features as CPUID reports them.
Machine HostMachine();

/// True if the machine has all of `features` (`+avx2,+fma`).
bool HasFeatures(const Machine& machine, llvm::StringRef features);

/// The machine of --mcpu (`native` or empty: this one) with the features of --mattr added or taken away.
/// With `runs_here` it must have nothing that this one lacks. Errors: usage-option, unavailable-cpu.
Result<Machine> MachineFor(llvm::StringRef cpu, llvm::StringRef features, bool runs_here);

}  // namespace hlo::cpu
