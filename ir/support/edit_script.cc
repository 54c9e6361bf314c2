#include "ir/support/edit_script.h"

#include <algorithm>
#include <cstdint>

namespace hlo {
namespace {

/// Furthest places in the first sequence, by diagonal -d … d.
class Furthest {
 public:
  explicit Furthest(int64_t d) : d_(d), places_(static_cast<size_t>(2 * d + 1)) {}
  int64_t& At(int64_t k) { return places_[static_cast<size_t>(k + d_)]; }

 private:
  int64_t d_;
  std::vector<int64_t> places_;
};

/// Whether the way to diagonal `k` with `d` edits ends with an insertion.
bool EndsWithInsertion(Furthest& before, int64_t d, int64_t k) {
  return k == -d || (k != d && before.At(k - 1) < before.At(k + 1));
}

/// The script between what is equal at both ends.
std::optional<std::vector<Edit>> Middle(int64_t n, int64_t m, int64_t most,
                                        llvm::function_ref<bool(int64_t, int64_t)> same) {
  std::vector<Furthest> trace;  // by number of edits; one diagonal more on either side, to be read from
  bool found = false;
  for (int64_t d = 0; d <= std::min(n + m, most) && !found; ++d) {
    Furthest& now = trace.emplace_back(d + 1);
    for (int64_t k = -d; k <= d && !found; k += 2) {
      int64_t x = 0;
      if (d > 0) {
        Furthest& before = trace[static_cast<size_t>(d - 1)];
        x = EndsWithInsertion(before, d, k) ? before.At(k + 1) : before.At(k - 1) + 1;
      }
      while (x < n && x - k < m && same(x, x - k)) ++x;
      now.At(k) = x;
      found = k == n - m && x >= n;
    }
  }
  if (!found) return std::nullopt;
  std::vector<Edit> script;
  int64_t x = n, y = m;
  for (auto d = static_cast<int64_t>(trace.size()) - 1; d > 0; --d) {
    Furthest& before = trace[static_cast<size_t>(d - 1)];
    const int64_t k = x - y;
    const bool inserted = EndsWithInsertion(before, d, k);
    const int64_t from = inserted ? before.At(k + 1) : before.At(k - 1);
    for (const int64_t start = inserted ? from : from + 1; x > start; --x) script.push_back(Edit::Keep);
    script.push_back(inserted ? Edit::Insert : Edit::Remove);
    x = from;
    y = from - (inserted ? k + 1 : k - 1);
  }
  script.insert(script.end(), static_cast<size_t>(x), Edit::Keep);
  std::reverse(script.begin(), script.end());
  return script;
}

}  // namespace

std::optional<std::vector<Edit>> ShortestEditScript(size_t n, size_t m, size_t most,
                                                    llvm::function_ref<bool(size_t, size_t)> same) {
  // What is equal at both ends needs no search.
  size_t head = 0, tail = 0;
  while (head < n && head < m && same(head, head)) ++head;
  while (tail < n - head && tail < m - head && same(n - 1 - tail, m - 1 - tail)) ++tail;
  const auto length = [&](size_t all) { return static_cast<int64_t>(all - head - tail); };
  auto middle = Middle(length(n), length(m), static_cast<int64_t>(most), [&](int64_t i, int64_t j) {
    return same(head + static_cast<size_t>(i), head + static_cast<size_t>(j));
  });
  if (!middle) return std::nullopt;
  std::vector<Edit> script(head, Edit::Keep);
  script.insert(script.end(), middle->begin(), middle->end());
  script.insert(script.end(), tail, Edit::Keep);
  return script;
}

std::vector<std::pair<size_t, size_t>> KeptPairs(size_t n, size_t m, size_t most,
                                                 llvm::function_ref<bool(size_t, size_t)> same) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto script = ShortestEditScript(n, m, most, same);
  if (!script) return pairs;
  size_t i = 0, j = 0;
  for (const Edit edit : *script) {
    if (edit == Edit::Keep) pairs.emplace_back(i, j);
    i += edit != Edit::Insert;
    j += edit != Edit::Remove;
  }
  return pairs;
}

}  // namespace hlo
