// Differences between two texts, line by line.
#pragma once
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// A unified diff without file names: `@@ -a,b +c,d @@` hunks with `context` unchanged lines around each
/// change, in colours if wanted. Empty if the texts are equal. The edit script is the shortest (Myers 1986)
/// as long as it has at most a few thousand edits, else everything between the first and the last
/// difference counts as replaced.
std::string LineDiff(llvm::StringRef before, llvm::StringRef after, int context = 2, bool color = false);

}  // namespace hlo
