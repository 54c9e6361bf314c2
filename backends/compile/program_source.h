// Where in a text the steps of a program stand.
#pragma once
#include <optional>

#include "ir/support/source.h"

namespace hlo::compile {

/// The part of a source that print_program.cc wrote; the module of the program stands behind it.
struct ProgramSource {
  SourcePtr source;  // null: there is none
  size_t begin = 0, end = 0;
  [[nodiscard]] bool exists() const { return source != nullptr; }
};

/// Where the module begins in a text that begins with a program, its end if there is none; nothing for other
/// texts.
std::optional<size_t> FindModuleOfProgram(llvm::StringRef text);

}  // namespace hlo::compile
