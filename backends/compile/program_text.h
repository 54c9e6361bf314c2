// Programs as text and back. A file that holds a program begins with it; its module follows.
#pragma once
#include <deque>

#include "backends/compile/program.h"
#include "backends/compile/program_source.h"
#include "backends/kernel/kernel.h"
#include "ir/support/source.h"

namespace hlo::compile {

/// The version of the text; programs of others are refused.
inline constexpr int64_t kProgramVersion = 1;

/// A kernel of a program's table.
struct ProgramKernel {
  kernel::Kernel kernel;
  bool interpreted = false;  // instead of compiled
  std::string why;           // it is
  Loc loc;                   // of what was read
};
using ProgramKernels = std::deque<ProgramKernel>;

/// The same as Kernel IR.
struct KernelText {
  std::string text;
  bool interpreted = false;
  std::string why;
};
/// Writes all but the module.
void PrintProgram(llvm::raw_ostream& os, const Program& program, llvm::ArrayRef<KernelText> kernels);

/// Fills in `program`, whose module is there, and gives its kernels. Errors: program-text, program-version,
/// those of Kernel IR; what steps do with their buffers is for CheckProgram().
Result<ProgramKernels> ParseProgram(const ProgramSource& source, Program& program);

/// Whether steps fit their instructions and kernels and keep to their buffers, whatever they compute. Takes
/// the values of constants from the module. Of kernels it looks at the arrays alone. Errors: program-invalid.
Status CheckProgram(Program& program, const ProgramKernels& kernels);

/// No access of the kernel leaves its arrays, whatever they hold. Kernels whose addresses depend on values
/// are not shown to keep to them.
bool KeepsToArrays(const kernel::Kernel& kernel);

}  // namespace hlo::compile
