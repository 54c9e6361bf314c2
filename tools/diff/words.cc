#include "tools/diff/module_diff.h"

namespace hlo {

llvm::StringRef ToString(DiffKind kind) {
  static constexpr llvm::StringLiteral kWords[] = {"unchanged", "moved", "changed", "removed", "added"};
  return kWords[static_cast<size_t>(kind)];
}

char MarkOf(DiffKind kind) { return " >~-+"[static_cast<size_t>(kind)]; }

llvm::StringRef ToString(MatchedBy by) {
  static constexpr llvm::StringLiteral kWords[] = {"nothing", "hint", "fingerprint", "operands",
                                                   "similarity"};
  return kWords[static_cast<size_t>(by)];
}

}  // namespace hlo
