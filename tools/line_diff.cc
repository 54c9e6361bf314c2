#include "tools/line_diff.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr int kMaxEdits = 3000;

enum class Edit : char { Keep = ' ', Remove = '-', Insert = '+' };

std::vector<StringRef> Lines(StringRef text) {
  std::vector<StringRef> lines;
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    lines.push_back(line);
    text = rest;
  }
  return lines;
}

/// The edits that turn `a` into `b`, by Myers' greedy algorithm.
std::vector<Edit> ShortestScript(llvm::ArrayRef<StringRef> a, llvm::ArrayRef<StringRef> b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMaxEdits);
  std::vector<std::vector<int>> trace;  // furthest x by diagonal, per number of edits
  std::vector<int> furthest(2 * static_cast<size_t>(most) + 3, 0);
  auto at = [&](std::vector<int>& v, int k) -> int& { return v[static_cast<size_t>(int64_t{k} + most + 1)]; };
  int edits = 0;
  bool found = false;
  for (; edits <= most && !found; ++edits) {
    trace.push_back(furthest);
    for (int k = -edits; k <= edits && !found; k += 2) {
      const bool down = k == -edits || (k != edits && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      at(furthest, k) = x;
      found = x >= n && x - k >= m;
    }
  }
  std::vector<Edit> script;
  if (!found) {
    script.assign(a.size(), Edit::Remove);
    script.insert(script.end(), b.size(), Edit::Insert);
    return script;
  }
  int x = n, y = m;
  for (int d = edits - 1; d >= 0; --d) {
    std::vector<int>& v = trace[static_cast<size_t>(d)];
    const int k = x - y;
    const bool down = k == -d || (k != d && at(v, k - 1) < at(v, k + 1));
    const int from_x = d == 0 ? 0 : down ? at(v, k + 1) : at(v, k - 1);
    const int from_y = d == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
    const int start_x = d == 0 ? 0 : down ? from_x : from_x + 1;
    for (; x > start_x; --x, --y) script.push_back(Edit::Keep);
    if (d > 0) script.push_back(down ? Edit::Insert : Edit::Remove);
    x = from_x;
    y = from_y;
  }
  std::reverse(script.begin(), script.end());
  return script;
}

}  // namespace

std::string LineDiff(StringRef before, StringRef after, int context, bool color) {
  const std::vector<StringRef> a = Lines(before), b = Lines(after);
  // What is equal at both ends needs no search.
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Edit> script(head, Edit::Keep);
  const std::vector<Edit> middle = ShortestScript(llvm::ArrayRef(a).slice(head, a.size() - head - tail),
                                                  llvm::ArrayRef(b).slice(head, b.size() - head - tail));
  script.insert(script.end(), middle.begin(), middle.end());
  script.insert(script.end(), tail, Edit::Keep);

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
