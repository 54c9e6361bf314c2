#include "backends/structured/lane_fft.h"

#include <cmath>
#include <numbers>

#include "ir/numeric/fft_plan.h"

namespace hlo::structured {
namespace {

std::pair<double, double> Multiply(std::pair<double, double> a, std::pair<double, double> b) {
  return {a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
}

/// From an angle of at most an eighth of a turn.
std::pair<double, double> ExactRoot(int64_t k, int64_t n) {
  const int64_t quarter = (8 * k / n + 1) / 2;  // nearest multiple of a quarter turn
  const long double angle = static_cast<long double>(8 * k - 2 * quarter * n) *
                            (0.25L * std::numbers::pi_v<long double> / static_cast<long double>(n));
  const auto c = static_cast<double>(std::cos(static_cast<double>(angle)));
  const auto s = static_cast<double>(std::sin(static_cast<double>(angle)));
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// Odd ones first; of powers of two 8, and the rest last: 16 needs more registers than there are, so that few
/// passes are worth it only where the stride is large.
std::vector<int> Radices(int64_t n) {
  std::vector<int> radices;
  for (int odd = 3; odd <= kLargestBesides; odd += 2)
    for (; n % odd == 0; n /= odd) radices.push_back(odd);
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  if (twos == 4) return radices.insert(radices.end(), {4, 4}), radices;
  for (; twos > 4 || twos == 3; twos -= 3) radices.push_back(8);
  if (twos > 0) radices.push_back(1 << twos);
  return radices;
}

}  // namespace

UnitRoots::UnitRoots(int64_t n) {
  while (fine_size_ * fine_size_ < n) fine_size_ *= 2;
  for (int64_t k = 0; k < std::min(fine_size_, n); ++k) fine_.push_back(ExactRoot(k, n));
  for (int64_t k = 0; k < n; k += fine_size_) coarse_.push_back(ExactRoot(k, n));
}

std::pair<double, double> UnitRoots::At(int64_t k) const {
  const auto fine = static_cast<size_t>(k % fine_size_), coarse = static_cast<size_t>(k / fine_size_);
  if (fine == 0) return coarse_[coarse];
  return coarse == 0 ? fine_[fine] : Multiply(fine_[fine], coarse_[coarse]);
}

int64_t LargestPrime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return n > 1 ? std::max(largest, n) : largest;
}

Chirp MakeChirp(int64_t n, int64_t m) {
  Chirp chirp;
  const UnitRoots roots(2 * n);
  std::vector<fft::Cx> kernel(static_cast<size_t>(m), fft::Cx{0, 0});
  for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {
    chirp.factors.push_back(roots.At(square));
    const auto [re, im] = chirp.factors.back();
    kernel[static_cast<size_t>(k)] = kernel[static_cast<size_t>((m - k) % m)] = {re, -im};
  }
  fft::Plan(static_cast<size_t>(m)).Forward(kernel);
  const double scale = 1 / static_cast<double>(m);
  for (const fft::Cx& x : kernel) chirp.spectrum.emplace_back(x.re * scale, x.im * scale);
  return chirp;
}

template <class T>
LaneFft<T>::LaneFft(int64_t n, const FftKernels<T>& kernels, bool in_order)
    : n_(n), kernels_(kernels), in_order_(in_order) {
  if (in_order)
    MakePassesInOrder();
  else if (LargestPrime(n) <= kLargestBesides)
    MakePasses();
  else
    MakeChirp();
}

template <class T>
void LaneFft<T>::MakePasses() {
  int64_t rest = n_, s = 1;
  for (const int radix : Radices(n_)) {
    std::vector<T> twiddles, own;
    const UnitRoots roots(rest), own_roots(radix);
    rest /= radix;
    for (int64_t p = 0; p < rest; ++p)
      for (int64_t j = 1; j < radix; ++j) roots.Append(j * p, twiddles);
    for (int64_t j = 0; j < radix; ++j) own_roots.Append(j, own);
    AddPass(radix, rest, s, std::move(twiddles), std::move(own));
    s *= radix;
  }
}

template <class T>
void LaneFft<T>::AddPass(int64_t radix, int64_t m, int64_t s, std::vector<T> twiddles, std::vector<T> roots) {
  largest_radix_ = std::max(largest_radix_, radix);
  passes_.push_back({static_cast<int>(radix), m, s, twiddles.data(), roots.data()});
  tables_.push_back(std::move(twiddles));
  tables_.push_back(std::move(roots));
}

template <class T>
std::optional<LanePasses<T>> LaneFft<T>::column_passes() const {
  if (in_order_ || passes_.size() < 2 || largest_radix_ > 16) return std::nullopt;
  return LanePasses<T>{passes_.data(), static_cast<int>(passes_.size()), n_};
}

template <class T>
bool LaneFft<T>::HasPassesInOrder(int64_t n) {
  return n == 1 || (LargestPrime(n) <= kLargestOdd && !fft::Plan(static_cast<size_t>(n)).radices().empty());
}

template <class T>
void LaneFft<T>::MakePassesInOrder() {
  const fft::Plan plan(static_cast<size_t>(n_));
  const auto append = [](const fft::Cx& root, std::vector<T>& to) {
    to.push_back(static_cast<T>(root.re));
    to.push_back(static_cast<T>(root.im));
  };
  int64_t rest = n_, s = 1;
  for (const size_t radix : plan.radices()) {
    rest /= static_cast<int64_t>(radix);
    std::vector<T> twiddles, own;
    for (int64_t p = 0; p < rest; ++p)
      for (size_t j = 1; j < radix; ++j)
        append(plan.roots()[static_cast<size_t>(p) * j * static_cast<size_t>(s)], twiddles);
    const std::vector<fft::Cx> exact = fft::ExactRoots(radix);
    for (size_t k = 0; k < radix; ++k)
      append(
          radix <= fft::kLargestExactRadix ? exact[k] : plan.roots()[k * (static_cast<size_t>(n_) / radix)],
          own);
    AddPass(static_cast<int64_t>(radix), rest, s, std::move(twiddles), std::move(own));
    s *= static_cast<int64_t>(radix);
  }
}

template <class T>
void LaneFft<T>::MakeChirp() {
  int64_t m = 1;
  while (m < 2 * n_ - 1) m *= 2;
  inner_ = std::make_unique<LaneFft>(m, kernels_);
  const Chirp chirp = structured::MakeChirp(n_, m);
  for (const auto& [re, im] : chirp.factors) {
    chirp_.push_back(static_cast<T>(re));
    chirp_.push_back(static_cast<T>(im));
    conjugate_chirp_.push_back(static_cast<T>(re));
    conjugate_chirp_.push_back(static_cast<T>(-im));
  }
  for (const auto& [re, im] : chirp.spectrum) {
    spectrum_.push_back(static_cast<T>(re));
    spectrum_.push_back(static_cast<T>(im));
  }
}

template <class T>
T* LaneFft<T>::Run(T* x, T* y) const {
  if (!inner_) {
    const auto run = in_order_ ? kernels_.in_order.pass : kernels_.pass;
    for (const RowPass<T>& pass : passes_) {
      run(pass, x, y);
      std::swap(x, y);
    }
    return x;
  }
  // The second transform is of the conjugate, which makes it an inverse one.
  kernels_.multiply_each(x, n_, chirp_.data(), false);
  std::fill(x + n_ * kStep, x + inner_->n_ * kStep, T(0));
  T* at = inner_->Run(x, y);
  kernels_.multiply_each(at, inner_->n_, spectrum_.data(), true);
  at = inner_->Run(at, at == x ? y : x);
  kernels_.multiply_each(at, n_, conjugate_chirp_.data(), true);
  return at;
}

template <class T>
std::string LaneFft<T>::Describe() const {
  if (inner_) return "convolution of " + std::to_string(inner_->n_);
  std::string text;
  for (const RowPass<T>& pass : passes_) text += (text.empty() ? "" : "*") + std::to_string(pass.radix);
  return text.empty() ? "1" : text;
}

template class LaneFft<float>;
template class LaneFft<double>;

}  // namespace hlo::structured
