#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "ir/eval/lapack_library.h"

namespace hlo::lapack {
namespace {

template <Routine routine>
Function<routine, double>* Own() {
  return reinterpret_cast<Function<routine, double>*>(OwnRoutine<double>(routine));
}

/// Joins the halves of a tridiagonal matrix whose middle numbers are coupled by this one.
void CheckJoined(double coupling) {
  constexpr int kRows = 9, kFirst = 4, kRest = kRows - kFirst;
  std::vector<double> d(kRows), e(kRows - 1, 0.75), vectors(kRows * kRows), work(1000);
  std::vector<int> integers(1000), order(kRows);
  for (int i = 0; i < kRows; ++i) d[static_cast<size_t>(i)] = std::sin(2.0 * i);
  e[kFirst - 1] = coupling;
  const std::vector<double> diagonal = d;
  d[kFirst - 1] -= std::abs(coupling);
  d[kFirst] -= std::abs(coupling);
  const int work_size = static_cast<int>(work.size());
  int info = 0;
  Own<Routine::Stedc>()("I", &kFirst, d.data(), e.data(), vectors.data(), &kRows, work.data(), &work_size,
                        integers.data(), &work_size, &info);
  Own<Routine::Stedc>()("I", &kRest, d.data() + kFirst, e.data() + kFirst,
                        vectors.data() + kFirst * kRows + kFirst, &kRows, work.data(), &work_size,
                        integers.data(), &work_size, &info);
  Own<Routine::Laed1>()(&kRows, d.data(), vectors.data(), &kRows, order.data(), &coupling, &kFirst,
                        work.data(), integers.data(), &info);
  EXPECT_EQ(info, 0);
  for (int j = 0; j < kRows; ++j) {
    const auto column = static_cast<size_t>(order[static_cast<size_t>(j)] - 1);
    const double* v = &vectors[column * kRows];
    for (int i = 0; i < kRows; ++i) {
      const auto row = static_cast<size_t>(i);
      double sum = diagonal[row] * v[i];
      if (i > 0) sum += e[row - 1] * v[i - 1];
      if (i + 1 < kRows) sum += e[row] * v[i + 1];
      EXPECT_NEAR(sum, d[column] * v[i], 1e-12);
    }
    if (j > 0) {
      EXPECT_LE(d[static_cast<size_t>(order[static_cast<size_t>(j - 1)] - 1)], d[column]);
    }
  }
}

TEST(OwnLapack, HalvesOfTridiagonalMatricesAreJoined) {
  CheckJoined(0.5);
  CheckJoined(-0.5);
  CheckJoined(0);
}

}  // namespace
}  // namespace hlo::lapack
