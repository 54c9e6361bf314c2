// The table of formats.
#include "tools/diff/report.h"

namespace hlo {

static constexpr DiffFormatInfo kFormats[] = {
    {"text", "txt", /*single=*/false, &WriteDiffText},
    {"summary", "", /*single=*/false, &WriteDiffSummary},
    {"json", "json", /*single=*/false, &WriteDiffJson},
};

llvm::ArrayRef<DiffFormatInfo> AllDiffFormats() { return kFormats; }

const DiffFormatInfo* FindDiffFormat(llvm::StringRef word) {
  for (const DiffFormatInfo& format : kFormats)
    if (format.word == word) return &format;
  return nullptr;
}

}  // namespace hlo
