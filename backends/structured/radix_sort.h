// Stable sorts by digits, of numbers and of entries that begin with one.
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "ir/support/parallel.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::structured {

/// From so many elements on digits have 11 bits instead of 8.
inline constexpr int64_t kLongForRadix = 2048;

/// A number of 64 bits and where it stands.
struct WideEntry {
  uint64_t number, index;
  bool operator<(const WideEntry& o) const {
    return number != o.number ? number < o.number : index < o.index;
  }
};
inline uint32_t NumberOf(uint32_t e) { return e; }
inline uint64_t NumberOf(uint64_t e) { return e; }
inline uint64_t NumberOf(const WideEntry& e) { return e.number; }

/// Calls body(begin, end) for pieces of n elements, one after the other or on all threads.
inline void InPieces(int64_t n, int64_t piece, bool shared, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (shared) return ParallelFor(0, n, piece, body);
  for (int64_t begin = 0; begin < n; begin += piece) body(begin, std::min(n, begin + piece));
}

/// Sorts by `Passes` digits from bit `Shift` on, stably; returns where the result is.
template <class E, int Shift, int DigitBits, int Passes>
E* SortDigitsAlone(E* from, E* to, int64_t n) {
  constexpr uint32_t kDigits = 1U << DigitBits;
  std::array<std::array<uint32_t, kDigits>, Passes> counts{};
  const auto digit = [](const E& e, int pass) {
    return static_cast<uint32_t>(NumberOf(e) >> (Shift + pass * DigitBits)) % kDigits;
  };
  for (int64_t i = 0; i < n; ++i) {
    const E e = from[i];
#pragma clang loop unroll(full)
    for (int pass = 0; pass < Passes; ++pass) ++counts[static_cast<size_t>(pass)][digit(e, pass)];
  }
  for (int pass = 0; pass < Passes; ++pass) {
    auto& count = counts[static_cast<size_t>(pass)];
    if (count[digit(from[0], pass)] == n) continue;
    uint32_t start = 0;
    for (uint32_t& c : count) start += std::exchange(c, start);
    for (int64_t i = 0; i < n; ++i) {
      const E e = from[i];
      to[count[digit(e, pass)]++] = e;
    }
    std::swap(from, to);
  }
  return from;
}

/// The same, by all threads if `shared`.
template <class E, int Shift, int DigitBits, int Passes>
E* SortDigits(E* from, E* to, int64_t n, bool shared) {
  if (!shared) return SortDigitsAlone<E, Shift, DigitBits, Passes>(from, to, n);
  constexpr uint32_t kDigits = 1U << DigitBits;
  using Counts = std::array<uint32_t, kDigits>;
  const auto digit = [](const E& e, int pass) {
    return static_cast<uint32_t>(NumberOf(e) >> (Shift + pass * DigitBits)) % kDigits;
  };
  // Each piece has places of its own among the elements with a digit.
  const int64_t pieces = ThreadCount(), piece = (n + pieces - 1) / pieces;
  std::vector<std::array<Counts, Passes>> counts(static_cast<size_t>(pieces));
  std::vector<Counts> places(static_cast<size_t>(pieces));
  const auto count_pass = [&](int pass) {
    InPieces(n, piece, /*shared=*/true, [&](int64_t begin, int64_t end) {
      auto& mine = counts[static_cast<size_t>(begin / piece)][static_cast<size_t>(pass)];
      const E* source = from;
      for (int64_t i = begin; i < end; ++i) ++mine[digit(source[i], pass)];
    });
  };
  for (int pass = 0; pass < Passes; ++pass) {
    // What is in a piece changes with every pass.
    count_pass(pass);
    uint32_t start = 0;
    bool sorted = false;
    for (uint32_t d = 0; d < kDigits; ++d) {
      const uint32_t before = start;
      for (size_t p = 0; p < places.size(); ++p) {
        places[p][d] = start;
        start += counts[p][static_cast<size_t>(pass)][d];
      }
      sorted |= start - before == n;
    }
    if (sorted) continue;
    InPieces(n, piece, /*shared=*/true, [&](int64_t begin, int64_t end) {
      Counts& place = places[static_cast<size_t>(begin / piece)];
      const E* source = from;
      E* target = to;
      for (int64_t i = begin; i < end; ++i) {
        const E e = source[i];
        target[place[digit(e, pass)]++] = e;
      }
    });
    std::swap(from, to);
  }
  return from;
}

/// Sorts n entries by the `bits` bits from Shift on, above which there are none, by all threads if `shared`;
/// both arrays are used, and the one that the result is in is returned.
template <class E, int Shift>
E* RadixSort(E* from, E* to, int64_t n, int bits, bool shared) {
  if (bits == 8) return SortDigits<E, Shift, 8, 1>(from, to, n, shared);
  if (bits == 16) return SortDigits<E, Shift, 8, 2>(from, to, n, shared);
  if constexpr (sizeof(E) > 4 && Shift == 0) return SortDigits<E, 0, 11, 6>(from, to, n, shared);
  return n < kLongForRadix ? SortDigits<E, Shift, 8, 4>(from, to, n, shared)
                           : SortDigits<E, Shift, 11, 3>(from, to, n, shared);
}

}  // namespace hlo::structured
