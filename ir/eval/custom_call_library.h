// Custom-call targets in libraries of the user's (ops-structured §10.2); custom_call_api.h is what these see.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// A function in a library.
struct LibraryFunction {
  void* address = nullptr;
  const std::string* file = nullptr;  // as the user named it
};

/// Loaded libraries. They stay loaded until the process ends: threads of theirs may outlive a run.
class CustomCallLibraries {
 public:
  /// Loads files, or (names without a slash that are no file here) what the system's search finds. Error
  /// unavailable-library with the loader's message.
  static Result<std::shared_ptr<const CustomCallLibraries>> Load(llvm::ArrayRef<std::string> names);
  /// The symbol of the target's name in the first library that defines it; what a library merely links to
  /// does not count, so that no target can mean a function of the C library. No address if there is none.
  [[nodiscard]] LibraryFunction Find(llvm::StringRef target) const;
  [[nodiscard]] llvm::ArrayRef<std::string> names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<void*> handles_;
};

/// Whether `inst` can call a function of a library: its version of the calling convention and its shapes.
/// Errors unsupported-custom-call, unsupported-shape.
Status CheckLibraryCall(const Instruction& inst);
/// A warning for each target of the module that is built in and, in vain, defined by a library.
std::vector<Diagnostic> ShadowedFunctions(const Module& module, const CustomCallLibraries& libraries);
/// Calls it. `inst` has passed CheckLibraryCall; operands are unpacked. Error runtime-custom-call if the
/// function says that it has failed.
Result<Literal> CallLibrary(const LibraryFunction& function, const Instruction& inst,
                            llvm::ArrayRef<Literal> operands);

}  // namespace hlo
