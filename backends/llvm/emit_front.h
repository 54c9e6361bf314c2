// The functions of an object as programs of C call them, over what the object has for each machine.
#pragma once
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace hlo::codegen {

/// What programs call, and for which machines there is code behind it.
struct Front {
  struct Function {
    std::string symbol;
    bool has_archive = false, has_weights = false;
  };
  std::vector<Function> functions;
  /// Of each version, of FeaturesToCheck(): the first version whose features the processor has is called.
  std::vector<std::vector<llvm::StringRef>> features;
  /// Whether the processor is asked: not where there is one version, which needs nothing.
  [[nodiscard]] bool asks() const { return features.size() > 1 || !features.front().empty(); }
};

/// Names of what EmitEntryPoint() makes for a version of a function.
std::string BodySymbol(llvm::StringRef symbol, size_t version);
std::string ProgramSymbol(llvm::StringRef symbol, size_t version);

/// Adds `int SYMBOL(void* const* args, void* const* results, void* temp)` to a module that holds, for each
/// function and version, what EmitEntryPoint() makes; with an archive also
/// `int SYMBOL_start(int threads, ...)`, `size_t SYMBOL_temp_bytes(void)`, `void SYMBOL_end(void)` and, with
/// weights, `int SYMBOL_map_weights(const char*)` and `int SYMBOL_verify_weights()`, all of which hand on to
/// the archive (backends/cpu/runtime/program.h). On processors that have none of the versions they return
/// EntryPoint::kOtherMachine or no bytes. Nothing else of the module is seen from outside then.
void EmitFront(llvm::Module& module, const Front& front);

}  // namespace hlo::codegen
