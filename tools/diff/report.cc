// The table of formats.
#include "tools/diff/report.h"

namespace hlo {

static constexpr DiffFormatInfo kFormats[] = {
    {"text", "txt", /*single=*/false, /*lines=*/true, &WriteDiffText},
    {"summary", "", /*single=*/false, /*lines=*/true, &WriteDiffSummary},
    {"side-by-side", "", /*single=*/false, /*lines=*/true, &WriteDiffSideBySide},
    {"json", "json", /*single=*/false, /*lines=*/false, &WriteDiffJson},
    {"dot", "dot", /*single=*/true, /*lines=*/false, &WriteDiffDot},
    {"html", "html", /*single=*/true, /*lines=*/false, &WriteDiffHtml},
};

llvm::StringRef ToString(DiffVerdict verdict) {
  static constexpr llvm::StringLiteral kWords[] = {"not-run", "equal", "different"};
  return kWords[static_cast<size_t>(verdict)];
}

llvm::ArrayRef<DiffFormatInfo> AllDiffFormats() { return kFormats; }

const DiffFormatInfo* FindDiffFormat(llvm::StringRef word) {
  for (const DiffFormatInfo& format : kFormats)
    if (format.word == word) return &format;
  return nullptr;
}

}  // namespace hlo
