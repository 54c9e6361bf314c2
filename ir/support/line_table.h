// Line numbers of many positions.
#pragma once
#include <vector>

#include "ir/support/source.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo {

/// Finds lines of texts, each of which is read once.
class LineTable {
 public:
  /// One-based; 0 for what is not in a text.
  int64_t Line(const Loc& loc) {
    if (!loc.valid()) return 0;
    std::vector<uint32_t>& starts = starts_[loc.source];
    if (starts.empty()) {
      starts.push_back(0);
      const llvm::StringRef text = loc.source->text();
      for (size_t at = text.find('\n'); at != llvm::StringRef::npos; at = text.find('\n', at + 1))
        starts.push_back(static_cast<uint32_t>(at + 1));
    }
    return llvm::upper_bound(starts, loc.begin) - starts.begin();
  }

 private:
  llvm::DenseMap<const SourceBuffer*, std::vector<uint32_t>> starts_;
};

}  // namespace hlo
