// The kernels of a program for the CPU: compiled ones, and those that are interpreted in tiles.
#pragma once
#include "backends/compile/kernel_table.h"
#include "backends/cpu/compile.h"
#include "backends/cpu/jit.h"
#include "backends/tile/program.h"

namespace hlo::cpu {

/// A kernel that steps run, by code or by interpretation.
struct KernelEntry : compile::TableKernel {
  std::unique_ptr<tile::Program> program;  // it is interpreted
  KernelFn function;                       // it is compiled

  void Run(void* const* buffers, int64_t begin, int64_t end) const {
    if (interpreted) return program->Run(buffers, begin, end);
    function(buffers, begin, end);
  }
};

class KernelTable final : public compile::KernelTable<KernelEntry> {
 public:
  using compile::KernelTable<KernelEntry>::Add;
  /// What is declined is the same for kernels that are interpreted, as the alternatives give other bits.
  [[nodiscard]] Status Check(const kernel::Kernel& kernel) const override;
  [[nodiscard]] int64_t Grain(const kernel::Kernel& kernel) const override;
  /// Adds one that a program's text has. Declines, also where it cannot be interpreted as it says.
  Status Add(compile::ProgramKernel kernel);
  /// Chooses those that are interpreted, before any is compiled (compile::ChooseTiers). Errors:
  /// unsupported-op, for a kernel that must be interpreted and cannot be.
  Status ChooseTiers(const compile::Program& program, const CpuOptions& options);
  /// Adds a kernel that was compiled as `compiled`, or, of a table before it was compiled, one that is
  /// interpreted: its text. False if it is none.
  bool Restore(int32_t compiled, llvm::StringRef text, std::string why);
  /// Takes the functions of those that are compiled, after Jit::Compile() or Jit::Restore().
  void Link(const Jit& jit);

 private:
  static Status Interpret(KernelEntry& entry);
};

}  // namespace hlo::cpu
