// Words, marks and colours of comparisons.
#include "tools/diff/compare/report.h"

namespace hlo {

namespace {

struct KindInfo {
  llvm::StringRef word;
  char mark;
  llvm::StringRef color;
};
// One row per DiffKind, in its order.
constexpr KindInfo kKinds[] = {
    {"unchanged", ' ', ""},       {"moved", '>', "\x1b[34m"}, {"changed", '~', "\x1b[33m"},
    {"removed", '-', "\x1b[31m"}, {"added", '+', "\x1b[32m"},
};
static_assert(std::size(kKinds) == kDiffKindCount);

}  // namespace

llvm::StringRef ToString(DiffKind kind) { return kKinds[static_cast<size_t>(kind)].word; }

char MarkOf(DiffKind kind) { return kKinds[static_cast<size_t>(kind)].mark; }

llvm::StringRef AnsiColorOf(DiffKind kind) { return kKinds[static_cast<size_t>(kind)].color; }

std::optional<DiffKind> ParseDiffKind(llvm::StringRef word) {
  for (size_t k = 0; k < std::size(kKinds); ++k)
    if (kKinds[k].word == word) return static_cast<DiffKind>(k);
  return std::nullopt;
}

llvm::StringRef ToString(MatchedBy by) {
  static constexpr llvm::StringLiteral kWords[] = {"nothing", "hint", "fingerprint", "operands",
                                                   "similarity"};
  return kWords[static_cast<size_t>(by)];
}

}  // namespace hlo
