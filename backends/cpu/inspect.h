// What the CPU backend makes of a module, to look at: nothing is run.
#pragma once
#include "backends/cpu/compile.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// The header is what CompileAheadOfTime() makes, not GenerateCode(). A program is its steps and its module.
enum class CodeForm : uint8_t { KernelIr, LlvmBefore, LlvmAfter, Assembly, Object, Header, Program };

/// Chooses kernels by `k0` or by the name of an instruction they compute.
using KernelFilter = llvm::function_ref<bool(llvm::StringRef name)>;

/// The kernels of a module in one form, each of a text headed by the instructions that it computes. Objects
/// hold bytes. `lines`: with the lines of the module's text as debug information. Errors: those of
/// CompileForCpu.
Result<std::string> GenerateCode(const Module& module, const CpuOptions& options, CodeForm form,
                                 KernelFilter wanted, bool lines = false);
/// One line per step in the order of execution: the instruction, the way it is computed, and why not faster.
/// Then one for each other instruction of the module: the steps that compute it, or why there are none.
Result<std::string> ExplainCode(const Module& module, const CpuOptions& options, KernelFilter wanted);

}  // namespace hlo
