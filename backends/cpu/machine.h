// The machines that code is made for.
#pragma once
#include <string>
#include <vector>

#include "ir/support/result.h"

namespace hlo::cpu {

struct Machine {
  std::string cpu = "x86-64";  // LLVM's name
  std::string features;        // +avx2,…
  std::string triple = {};     // of another kind of machine; empty: that of this process
  [[nodiscard]] std::string Triple() const;
};
/// The machine this process runs on: features as CPUID reports them.
Machine HostMachine();

/// True if the machine is of this one's kind and has all of `features` (`+avx2,+fma`).
bool HasFeatures(const Machine& machine, llvm::StringRef features);

/// What code for the machine uses and not every x86-64 processor has, by LLVM's names; none elsewhere.
std::vector<llvm::StringRef> FeaturesNeeded(const Machine& machine);

/// The machine of --mcpu (`native` or empty: this one) with the features of --mattr added or taken away.
/// With `runs_here` it must have nothing that this one lacks. With a `triple` it is of another kind, on which
/// `native` is any. Errors: usage-option, unavailable-cpu.
Result<Machine> MachineFor(llvm::StringRef cpu, llvm::StringRef features, bool runs_here,
                           llvm::StringRef triple = "");

/// Other kinds of machines, in programs that hold code generators for them.
struct OtherTargets {
  void (*initialize)() = nullptr;  // makes them known to LLVM
  llvm::StringRef archive = {};  // the triple of the one for which there is an archive of loops; empty: none
};
/// Before anything is compiled.
void SetOtherTargets(const OtherTargets& targets);
/// Makes them known, if any are set.
void InitializeOtherTargets();
/// There is an archive of loops for machines of this kind; empty: of this one's.
bool HasArchive(llvm::StringRef triple);

}  // namespace hlo::cpu
