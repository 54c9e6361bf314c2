// Modules as object files for programs in C and C++, without this library.
#pragma once
#include <memory>

#include "backends/cpu/compile.h"

namespace hlo {

/// Functions of C as tools.md §2.4 wants them: no allocation, all memory from their callers.
struct AheadOfTime {
  std::string object;       // ELF; its symbols are the functions
  std::string header;       // C and C++
  std::string description;  // JSON, hlo.aot/1
  std::string weights;      // large constants, if they were to be a file
};

/// Makes one object of modules, a function of each.
class AheadOfTimeCompiler {
 public:
  /// `weights_file`: large constants are not part of the object.
  explicit AheadOfTimeCompiler(bool weights_file = false);
  ~AheadOfTimeCompiler();
  /// Adds a module. `symbol`: of its function; empty: the module's name, as far as C takes it, with `_`
  /// behind it where it means something else there (`main`, `exp`). Arrays are passed as they lie in a
  /// Literal: row-major, elements narrower than a byte one per byte, signs extended; the leaves of tuples one
  /// after the other. `versions` differ in their processors only: the function runs the code of the one that
  /// has most features among those whose features the processor has, and refuses to run if there is none. By
  /// their `host` it calls the archive of loops or nothing. All modules are for the same processors. Errors:
  /// unsupported-ahead-of-time, naming the first instruction that cannot be computed so; usage-option,
  /// usage-name; those of CompileForCpu.
  Status Add(const Module& module, llvm::ArrayRef<CpuOptions> versions, llvm::StringRef symbol = "");
  /// What was added, which is at least one module. Once.
  Result<AheadOfTime> Finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hlo
