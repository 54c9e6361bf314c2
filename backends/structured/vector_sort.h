// Sorts of numbers by the kernels that compress vectors, by one thread or all.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "backends/structured/kernels.h"
#include "ir/support/buffer.h"
#include "ir/support/parallel.h"

namespace hlo::structured {

/// Numbers that divide n ones, which `make` writes to x, into `parts` of about the same size: `parts` - 1,
/// sorted.
template <class E, class Make>
std::vector<E> Splitters(const SortKernel<E>& kernel, const E* x, int64_t n, int64_t parts, Make make) {
  constexpr int64_t kSamples = 64;  // for each part
  std::vector<E> samples, scratch(static_cast<size_t>(kSamples * parts)), splitters;
  // A linear congruential sequence (Knuth, MMIX).
  constexpr uint64_t kFactor = 6364136223846793005, kSummand = 1442695040888963407;
  constexpr int kHalf = 32;
  uint64_t state = 1;
  for (int64_t k = 0; k < kSamples * parts; ++k) {
    state = state * kFactor + kSummand;
    const auto at = static_cast<int64_t>((state >> kHalf) * static_cast<uint64_t>(n) >> kHalf);
    make(at, at + 1);
    samples.push_back(x[at]);
  }
  kernel.sort(samples.data(), kSamples * parts, scratch.data());
  for (int64_t part = 1; part < parts; ++part)
    splitters.push_back(samples[static_cast<size_t>(kSamples * part)]);
  return splitters;
}

/// Sorts n < 2^32 numbers by all threads: make(begin, end) writes them to x piece by piece, the result is in
/// `to`, and done(begin, end) is called for pieces of it.
template <class E, class Make, class Done>
void SortShared(const SortKernel<E>& kernel, E* x, int64_t n, E* to, Make make, Done done) {
  constexpr int64_t kPart = 1 << 15, kMostParts = 64, kLeastPiece = 1 << 13, kMostPiece = 1 << 16,
                    kTasksPerThread = 4;
  const auto tasks = kTasksPerThread * ThreadCount();
  const auto parts = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max(tasks, std::min(n / kPart, kMostParts)))));
  const std::vector<E> splitters = Splitters(kernel, x, n, parts, make);
  const int64_t piece = std::clamp(n / tasks, kLeastPiece, kMostPiece), pieces = (n + piece - 1) / piece;
  // Each piece is brought into parts, which are collected and sorted.
  std::vector<int64_t> sizes(static_cast<size_t>(pieces * parts));
  ParallelFor(0, n, piece, [&](int64_t begin, int64_t end) {
    const auto scratch = MakeBuffer<E>(static_cast<size_t>(piece));
    make(begin, end);
    kernel.split(x + begin, end - begin, scratch.get(), splitters.data(), parts,
                 &sizes[static_cast<size_t>(begin / piece * parts)]);
  });
  std::vector<int64_t> starts(static_cast<size_t>(parts + 1));
  std::vector<int64_t> places(sizes.size());  // in x, of the parts of pieces
  for (int64_t p = 0; p < pieces; ++p) {
    int64_t place = p * piece;
    for (int64_t part = 0; part < parts; ++part) {
      const auto at = static_cast<size_t>(p * parts + part);
      places[at] = place;
      place += sizes[at];
      starts[static_cast<size_t>(part + 1)] += sizes[at];
    }
  }
  for (size_t part = 0; part < static_cast<size_t>(parts); ++part) starts[part + 1] += starts[part];
  ParallelFor(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      E *first = to + starts[static_cast<size_t>(part)], *at = first;
      for (int64_t p = 0; p < pieces; ++p) {
        const auto k = static_cast<size_t>(p * parts + part);
        at = std::copy_n(x + places[k], sizes[k], at);
      }
      const auto scratch = MakeBuffer<E>(static_cast<size_t>(at - first));
      kernel.sort(first, at - first, scratch.get());
      done(first - to, at - to);
    }
  });
}

}  // namespace hlo::structured
