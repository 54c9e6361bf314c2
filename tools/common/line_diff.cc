#include "tools/common/line_diff.h"

#include <algorithm>
#include <vector>

#include "ir/support/edit_script.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kMaxEdits = 3000;

std::vector<StringRef> Lines(StringRef text) {
  std::vector<StringRef> lines;
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    lines.push_back(line);
    text = rest;
  }
  return lines;
}

/// Everything between what is equal at both ends replaced.
std::vector<Edit> Replacement(llvm::ArrayRef<StringRef> a, llvm::ArrayRef<StringRef> b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Edit> script(head, Edit::Keep);
  script.insert(script.end(), a.size() - head - tail, Edit::Remove);
  script.insert(script.end(), b.size() - head - tail, Edit::Insert);
  script.insert(script.end(), tail, Edit::Keep);
  return script;
}

}  // namespace

std::string LineDiff(StringRef before, StringRef after, int context, bool color) {
  const std::vector<StringRef> a = Lines(before), b = Lines(after);
  auto shortest =
      ShortestEditScript(a.size(), b.size(), kMaxEdits, [&](size_t i, size_t j) { return a[i] == b[j]; });
  const std::vector<Edit> script = shortest ? std::move(*shortest) : Replacement(a, b);

  std::string out;
  const auto around = static_cast<size_t>(context);
  size_t x = 0, y = 0, i = 0;
  auto advance = [&](size_t to) {
    for (; i < to; ++i) {
      x += script[i] != Edit::Insert;
      y += script[i] != Edit::Remove;
    }
  };
  while (true) {
    const auto change = std::find_if(script.begin() + static_cast<ptrdiff_t>(i), script.end(),
                                     [](Edit e) { return e != Edit::Keep; });
    if (change == script.end()) break;
    const auto first = static_cast<size_t>(change - script.begin());
    size_t last = first;  // one past the hunk's last change
    for (size_t j = first; j < script.size() && j < last + 2 * around + 1; ++j)
      if (script[j] != Edit::Keep) last = j + 1;
    const size_t begin = std::max(i, first - std::min(first, around));
    const size_t end = std::min(script.size(), last + around);
    advance(begin);
    size_t removed = 0, added = 0;
    for (size_t j = begin; j < end; ++j) {
      removed += script[j] != Edit::Insert;
      added += script[j] != Edit::Remove;
    }
    const char* const off = color ? "\033[0m" : "";
    out += llvm::formatv("{0}@@ -{1},{2} +{3},{4} @@{5}\n", color ? "\033[36m" : "", x + 1, removed, y + 1,
                         added, off);
    while (i < end) {
      const Edit edit = script[i];
      const char* const on = !color || edit == Edit::Keep ? ""
                             : edit == Edit::Insert       ? "\033[32m"
                                                          : "\033[31m";
      out += on;
      out += static_cast<char>(edit);
      out += edit == Edit::Insert ? b[y] : a[x];
      out += *on ? off : "";
      out += '\n';
      advance(i + 1);
    }
  }
  return out;
}

}  // namespace hlo
