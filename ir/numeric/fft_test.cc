// Fourier transforms against their definition, for lengths of every kind.
#include "ir/numeric/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace hlo {
namespace {

using C128 = std::complex<double>;

/// Deterministic values in [-1, 1).
std::vector<C128> Samples(size_t n) {
  std::vector<C128> x(n);
  uint64_t state = 12345 + n;
  const auto next = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63;
  };
  for (C128& v : x) v = {next(), next()};
  return x;
}

std::vector<C128> ByDefinition(const std::vector<C128>& x) {
  const size_t n = x.size();
  std::vector<C128> out(n);
  for (size_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (size_t j = 0; j < n; ++j) {
      const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) /
                                static_cast<long double>(n);
      sum += std::complex<long double>(x[j]) * std::polar(1.0L, angle);
    }
    out[k] = C128(static_cast<double>(sum.real()), static_cast<double>(sum.imag()));
  }
  return out;
}

double Distance(const std::vector<C128>& a, const std::vector<C128>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

// Radices 2 to 13, their products, larger primes directly (53, 97) and by convolution (101, 211, 509).
constexpr size_t kLengths[] = {1,  2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12, 13, 14,
                               15, 16,  18,  20,  24,  30,  32,  35,  49,  53,  64,  77, 91, 96,
                               97, 101, 106, 121, 128, 143, 180, 202, 211, 240, 256, 509};

TEST(Fft, ComplexMatchesTheDefinition) {
  for (const size_t n : kLengths) {
    const std::vector<C128> x = Samples(n);
    const int64_t length = static_cast<int64_t>(n);
    std::vector<C128> forward(n);
    std::vector<C128> back(n);
    Fft(false, 1, {&length, 1}, x.data(), forward.data());
    Fft(true, 1, {&length, 1}, forward.data(), back.data());
    EXPECT_LT(Distance(forward, ByDefinition(x)), 1e-15 * static_cast<double>(n) + 1e-15) << n;
    EXPECT_LT(Distance(back, x), 2e-15) << n;
  }
}

TEST(Fft, RealMatchesComplex) {
  for (const size_t n : kLengths) {
    std::vector<C128> x = Samples(n);
    std::vector<double> real(n);
    for (size_t i = 0; i < n; ++i) real[i] = x[i].real(), x[i] = real[i];
    const int64_t length = static_cast<int64_t>(n);
    std::vector<C128> half(n / 2 + 1);
    RealFft(1, {&length, 1}, real.data(), half.data());
    std::vector<C128> expected = ByDefinition(x);
    expected.resize(half.size());
    EXPECT_LT(Distance(half, expected), 1e-15 * static_cast<double>(n) + 1e-15) << n;
    // Imaginary parts of DC and Nyquist must not matter.
    half[0] += C128(0, 3);
    if (n % 2 == 0) half[n / 2] += C128(0, -5);
    std::vector<double> back(n);
    InverseRealFft(1, {&length, 1}, half.data(), back.data());
    for (size_t i = 0; i < n; ++i) ASSERT_NEAR(back[i], real[i], 2e-15) << n;
  }
}

TEST(Fft, SeveralAxesAndBatches) {
  constexpr int64_t lengths[] = {3, 4, 5};
  const std::vector<C128> x = Samples(120);
  std::vector<C128> out(120);
  Fft(false, 2, lengths, x.data(), out.data());
  // One coefficient of the second batch entry, summed directly.
  std::complex<long double> sum = 0;
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 4; ++b)
      for (size_t c = 0; c < 5; ++c) {
        const long double turns = 2.0L * a / 3 + 3.0L * b / 4 + 4.0L * c / 5;
        sum += std::complex<long double>(x[60 + (a * 4 + b) * 5 + c]) *
               std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turns);
      }
  const C128 got = out[60 + (2 * 4 + 3) * 5 + 4];
  EXPECT_NEAR(got.real(), static_cast<double>(sum.real()), 1e-14);
  EXPECT_NEAR(got.imag(), static_cast<double>(sum.imag()), 1e-14);

  std::vector<double> real(120);
  for (size_t i = 0; i < 120; ++i) real[i] = x[i].real();
  std::vector<C128> half(72);
  RealFft(2, lengths, real.data(), half.data());
  std::vector<double> back(120);
  InverseRealFft(2, lengths, half.data(), back.data());
  for (size_t i = 0; i < 120; ++i) ASSERT_NEAR(back[i], real[i], 1e-15);
}

TEST(Fft, EmptyAndFloat) {
  constexpr int64_t empty[] = {4, 0};
  Fft<float>(false, 3, empty, nullptr, nullptr);
  RealFft<double>(3, empty, nullptr, nullptr);
  InverseRealFft<double>(3, empty, nullptr, nullptr);
  constexpr int64_t four[] = {4};
  const std::complex<float> x[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
  std::complex<float> y[4];
  Fft(false, 1, four, x, y);
  EXPECT_EQ(y[0], std::complex<float>(10, 0));
  EXPECT_EQ(y[1], std::complex<float>(-2, 2));
  EXPECT_EQ(y[2], std::complex<float>(-2, 0));
  EXPECT_EQ(y[3], std::complex<float>(-2, -2));
}

}  // namespace
}  // namespace hlo
