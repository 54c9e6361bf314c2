#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "backends/products/common/kernels.h"
#include "backends/structured/kernels.h"

namespace hlo::structured {
namespace {

/// What the pivot of `rest` is (PivotOf in quicksort.inc), all numbers at whose places have been chosen by
/// `choose`.
template <class T, class Choose>
T PivotOf(const std::vector<size_t>& rest, const std::vector<T>& numbers, Choose choose) {
  constexpr size_t kLanes = 64 / sizeof(T);
  const uint64_t n = rest.size();
  std::array<std::array<T, 3>, kLanes> samples;
  uint64_t state = n;
  for (size_t k = 0; k < 3; ++k) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const uint64_t first = (state >> 32) * (n - kLanes) >> 32;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      choose(rest[first + lane]);
      samples[lane][k] = numbers[rest[first + lane]];
    }
  }
  std::array<T, kLanes> medians;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    std::sort(samples[lane].begin(), samples[lane].end());
    medians[lane] = samples[lane][1];
  }
  std::sort(medians.begin(), medians.end());
  return medians[kLanes / 2 - 1];
}

/// n numbers of which each pivot parts few: those it is chosen among are the smallest (or largest) that are
/// left.
template <class T>
std::vector<T> NumbersThatNoPivotDivides(size_t n, bool smallest) {
  constexpr size_t kFewNumbers = size_t{16} * 64 / sizeof(T);
  std::vector<T> numbers(n);
  std::vector<bool> chosen(n);
  T next = 0;
  const auto choose = [&](size_t i) {
    if (chosen[i]) return;
    chosen[i] = true;
    numbers[i] = smallest ? next : static_cast<T>(n) - next;
    ++next;
  };
  std::vector<size_t> rest(n);
  std::iota(rest.begin(), rest.end(), 0);
  while (rest.size() > kFewNumbers) {
    const T pivot = PivotOf(rest, numbers, choose);
    std::erase_if(rest, [&](size_t i) { return chosen[i] && (numbers[i] > pivot) != smallest; });
  }
  for (const size_t i : rest) choose(i);
  return numbers;
}

template <class T>
void ExpectSorted(const SortKernel<T>& kernel, std::vector<T> numbers) {
  std::vector<T> expected = numbers, scratch(numbers.size());
  std::sort(expected.begin(), expected.end());
  kernel.sort(numbers.data(), static_cast<int64_t>(numbers.size()), scratch.data());
  EXPECT_EQ(numbers, expected);
}

TEST(SortKernels, numbers_that_no_pivot_divides_are_sorted) {
  const KernelSet& kernels = structured::KernelsFor(gemm::HostIsa());
  if (kernels.sort_u32.sort == nullptr) GTEST_SKIP() << "no vectors can be compressed";
  for (const bool smallest : {true, false}) {
    ExpectSorted(kernels.sort_u32, NumbersThatNoPivotDivides<uint32_t>(4000, smallest));
    ExpectSorted(kernels.sort_u64, NumbersThatNoPivotDivides<uint64_t>(1000, smallest));
  }
}

}  // namespace
}  // namespace hlo::structured
