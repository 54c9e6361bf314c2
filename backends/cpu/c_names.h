// What functions of C may be called.
#pragma once
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace hlo::cpu {

/// As far as C takes the name: other characters become `_`.
std::string CIdentifier(llvm::StringRef name);
/// Why no function of an object can have this name, which follows "'while' "; empty: it can.
std::string ObstacleToName(llvm::StringRef name);
/// For a module's name: with `_` behind it where nothing can be called so.
std::string FunctionName(llvm::StringRef module);

/// `f_X` in capitals, as macros are.
std::string MacroName(llvm::StringRef symbol, llvm::StringRef what);
/// All names that the header and the object may have of a function, its own first.
std::vector<std::string> NamesOf(llvm::StringRef symbol, size_t arguments, size_t results);

}  // namespace hlo::cpu
