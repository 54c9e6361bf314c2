// The table of formats.
#include "tools/diff/compare/report.h"

namespace hlo {

static constexpr int64_t kMostEntries = 50;
// Graphviz lays out a hundred nodes at once, three hundred in minutes.
static constexpr int64_t kMostDrawn = 20;

static constexpr DiffFormatInfo kFormats[] = {
    {"text", "txt", /*single=*/false, /*lines=*/true, kMostEntries, &WriteDiffText},
    {"summary", "", /*single=*/false, /*lines=*/true, kMostEntries, &WriteDiffSummary},
    {"side-by-side", "", /*single=*/false, /*lines=*/true, kMostEntries, &WriteDiffSideBySide},
    {"json", "json", /*single=*/false, /*lines=*/false, kMostEntries, &WriteDiffJson},
    {"dot", "dot", /*single=*/true, /*lines=*/false, kMostDrawn, &WriteDiffDot},
    {"html", "html", /*single=*/true, /*lines=*/false, kMostEntries, &WriteDiffHtml},
};

llvm::StringRef ToString(DiffVerdict verdict) {
  static constexpr llvm::StringLiteral kWords[] = {"not-run", "equal", "different", "vacuous"};
  return kWords[static_cast<size_t>(verdict)];
}

llvm::ArrayRef<DiffFormatInfo> AllDiffFormats() { return kFormats; }

const DiffFormatInfo* FindDiffFormat(llvm::StringRef word) {
  for (const DiffFormatInfo& format : kFormats)
    if (format.word == word) return &format;
  return nullptr;
}

}  // namespace hlo
