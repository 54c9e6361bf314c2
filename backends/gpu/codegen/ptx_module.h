// Kernels of blocks and threads as PTX.
#pragma once
#include <memory>
#include <string>

#include "backends/gpu/target/target.h"
#include "backends/kernel/kernel.h"
#include "llvm/ADT/SmallBitVector.h"

namespace llvm {
class Function;
}

namespace hlo::gpu {

/// LLVM IR as it was emitted, and as it is before instructions are chosen; PTX.
enum class PtxForm : uint8_t { LlvmBefore, LlvmAfter, Ptx };

/// A module of PTX, of one kernel after the other. LLVM's NVPTX is initialised by the first one.
class PtxModule {
 public:
  /// Errors: compile-kernels, if LLVM has no such machine.
  static Result<PtxModule> Create(const Target& target);
  PtxModule(PtxModule&&) noexcept;
  PtxModule& operator=(PtxModule&&) noexcept;
  ~PtxModule();

  /// Adds the kernel under its name, which SymbolFor() made. Declines types and opcodes without emission,
  /// and what the target cannot run: nothing of the kernel is in the module then. `overlap`: by buffer,
  /// whether the array may share bytes with others of these.
  Status Add(const kernel::Kernel& kernel, const llvm::SmallBitVector& overlap = {});
  /// All kernels, once. Errors: compile-kernels.
  Result<std::string> Print(PtxForm form);

 private:
  struct State;
  explicit PtxModule(std::unique_ptr<State> state);
  void Forget(llvm::Function& function);
  static void LetOverlap(llvm::Function& function, const kernel::Kernel& kernel,
                         const llvm::SmallBitVector& overlap);
  std::unique_ptr<State> state_;
};

/// How many modules this process has made PTX of.
int64_t PtxModulesMade();

/// A name that PTX takes: letters, digits, `_` and `$`, of `name` where it has others.
std::string SymbolFor(llvm::StringRef name);

}  // namespace hlo::gpu
