// The kernels of a program, and which of them are compiled.
#pragma once
#include <deque>

#include "backends/compile/kernel_calls.h"
#include "backends/compile/program_text.h"
#include "backends/cpu/jit.h"
#include "backends/tile/program.h"

namespace hlo::cpu {

/// A kernel that steps run, by code or by interpretation.
struct KernelEntry {
  kernel::Kernel kernel;                   // until code is made of it
  std::unique_ptr<tile::Program> program;  // the kernel is interpreted
  KernelFn function;                       // it is compiled
  int32_t compiled = -1;                   // its number in the Jit
  std::string why;                         // for --explain-codegen
  std::string text;                        // of `kernel`, if the table keeps texts

  void Run(void* const* buffers, int64_t begin, int64_t end) const {
    if (program != nullptr) return program->Run(buffers, begin, end);
    function(buffers, begin, end);
  }
};

class KernelTable final : public compile::KernelSink {
 public:
  /// What is declined is the same for kernels that are interpreted, as the alternatives give other bits.
  Result<int32_t> Add(kernel::Kernel kernel) override;
  [[nodiscard]] Status Check(const kernel::Kernel& kernel) const override;
  [[nodiscard]] int64_t Grain(const kernel::Kernel& kernel) const override;
  /// Adds one that a program's text has. Declines, also where it cannot be interpreted as it says.
  Status Add(compile::ProgramKernel kernel);
  /// The texts of kernels stay when code is made of them, for PrintProgram().
  void KeepTexts() { keeps_texts_ = true; }
  [[nodiscard]] KernelEntry& At(int32_t number) { return entries_[static_cast<size_t>(number)]; }
  [[nodiscard]] const KernelEntry& At(int32_t number) const { return entries_[static_cast<size_t>(number)]; }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  /// Gives all kernels to `jit` that are not interpreted, unless `check` has an error for one. The number of
  /// the first of which no code can be made is in `broken` with an error.
  Status Compile(Jit& jit, llvm::function_ref<Status(int32_t)> check, int32_t& broken);
  /// Adds a kernel that was compiled as `compiled`, or, of a table before it was compiled, one that is
  /// interpreted: its text. False if it is none.
  bool Restore(int32_t compiled, llvm::StringRef text, std::string why);
  /// Takes the functions of those that are compiled, after Jit::Compile() or Jit::Restore().
  void Link(const Jit& jit);

 private:
  std::deque<KernelEntry> entries_;
  bool keeps_texts_ = false;
};

}  // namespace hlo::cpu
