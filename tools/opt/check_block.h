// Generated FileCheck blocks in test files.
#pragma once
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Precedes every generated block; the block is the CHECK lines that follow it directly.
inline constexpr llvm::StringRef kCheckBanner = "// Generated checks (scripts/update_tests.py):";

/// True for `// CHECK…:` lines.
bool IsCheckLine(llvm::StringRef line);

/// CHECK lines, one per non-empty line of `output`: the first as CHECK, the others as CHECK-NEXT (CHECK
/// after an empty line). Instruction and computation names become FileCheck variables, so that the checks
/// hold under renaming.
std::string GenerateChecks(llvm::StringRef output);

/// `text` with the block behind its banner replaced by the checks of `output`; nothing without banner.
std::optional<std::string> ReplaceCheckBlock(llvm::StringRef text, llvm::StringRef output);

}  // namespace hlo
