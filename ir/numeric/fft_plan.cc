// Mixed-radix and chirp-z transforms of one dimension.
#include "ir/numeric/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace hlo::fft {
namespace {

constexpr double kHalfSqrt2 = 0.5 * std::numbers::sqrt2;

Cx TimesMinusI(Cx a) { return {a.im, -a.re}; }

/// exp(-2 pi i k / n) for k < n, from an angle of at most pi/4; Real is the precision of the angle.
template <class Real>
Cx UnitRoot(size_t k, size_t n) {
  const size_t quarter = (8 * k / n + 1) / 2;  // nearest multiple of a quarter turn
  const auto offset = static_cast<int64_t>(8 * k) - static_cast<int64_t>(2 * quarter * n);
  const Real unit = static_cast<Real>(0.25L * std::numbers::pi_v<long double> / static_cast<long double>(n));
  const Real angle = static_cast<Real>(offset) * unit;
  const auto c = static_cast<double>(std::cos(angle));
  const auto s = static_cast<double>(std::sin(angle));
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// exp(-2 pi i k / n) for k < n. Every root is the product of a fine and a coarse one: few sines,
/// errors of about one unit.
std::vector<Cx> AllRoots(size_t n) {
  size_t shift = 1;
  while ((size_t{1} << shift << shift) < (n + 2) / 2) ++shift;
  const size_t fine = size_t{1} << shift;
  std::vector<Cx> fine_roots;
  std::vector<Cx> coarse_roots;
  for (size_t k = 0; k < fine && k < n; ++k) fine_roots.push_back(UnitRoot<double>(k, n));
  for (size_t k = 0; k <= n / 2; k += fine) coarse_roots.push_back(UnitRoot<double>(k, n));
  std::vector<Cx> roots(n);
  for (size_t k = 0; 2 * k <= n; ++k) {
    roots[k] = fine_roots[k % fine] * coarse_roots[k / fine];
    if (k != 0) roots[n - k] = Conj(roots[k]);
  }
  return roots;
}

/// Rough operation count of a transform by its prime factors.
double Cost(size_t n) {
  double sum = 0;
  size_t rest = n;
  for (size_t p = 2; p * p <= rest; ++p)
    for (; rest % p == 0; rest /= p) sum += static_cast<double>(p) * (p <= 5 ? 1 : 1.1);
  if (rest > 1) sum += static_cast<double>(rest) * (rest <= 5 ? 1 : 1.1);
  return sum * static_cast<double>(n);
}

/// The smallest number >= n without prime factors above 11.
size_t SmoothLength(size_t n) {
  for (;; ++n) {
    size_t rest = n;
    for (const size_t p : {size_t{2}, size_t{3}, size_t{5}, size_t{7}, size_t{11}})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

bool PrefersConvolution(size_t n, double cost) { return n >= 50 && 3 * Cost(SmoothLength(2 * n - 1)) < cost; }

void EightButterfly(Cx* a) {
  const auto turn45 = [](Cx x) { return Cx{kHalfSqrt2 * (x.re + x.im), kHalfSqrt2 * (x.im - x.re)}; };
  const auto turn135 = [](Cx x) { return Cx{kHalfSqrt2 * (x.im - x.re), kHalfSqrt2 * (-x.re - x.im)}; };
  const Cx s15 = a[1] + a[5];
  const Cx s37 = a[3] + a[7];
  const Cx d15 = a[1] - a[5];
  const Cx d37 = TimesMinusI(a[3] - a[7]);
  const Cx odd0 = s15 + s37;
  const Cx odd2 = TimesMinusI(s15 - s37);
  const Cx odd1 = turn45(d15 + d37);
  const Cx odd3 = turn135(d15 - d37);
  const Cx s04 = a[0] + a[4];
  const Cx d04 = a[0] - a[4];
  const Cx s26 = a[2] + a[6];
  const Cx d26 = TimesMinusI(a[2] - a[6]);
  const Cx even[4] = {s04 + s26, d04 + d26, s04 - s26, d04 - d26};
  const Cx odd[4] = {odd0, odd1, odd2, odd3};
  for (size_t j = 0; j < 4; ++j) {
    a[j] = even[j] + odd[j];
    a[j + 4] = even[j] - odd[j];
  }
}

void FourButterfly(Cx* a) {
  const Cx s02 = a[0] + a[2];
  const Cx d02 = a[0] - a[2];
  const Cx s13 = a[1] + a[3];
  const Cx d13 = TimesMinusI(a[1] - a[3]);
  a[0] = s02 + s13;
  a[1] = d02 + d13;
  a[2] = s02 - s13;
  a[3] = d02 - d13;
}

void TwoButterfly(Cx* a) {
  const Cx difference = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = difference;
}

/// Element i of a Hermitian sequence of length n of which the first half is stored.
Cx Mirrored(const Cx* half, size_t n, size_t i) { return 2 * i <= n ? half[i] : Conj(half[n - i]); }
void StoreMirrored(Cx* half, size_t n, size_t i, Cx value) {
  if (2 * i <= n)
    half[i] = value;
  else
    half[n - i] = Conj(value);
}

}  // namespace

std::vector<Cx> ExactRoots(size_t n) {
  std::vector<Cx> roots;
  for (size_t k = 0; k < n; ++k) roots.push_back(UnitRoot<long double>(k, n));
  return roots;
}

Plan::Plan(size_t n) : n_(n) {
  if (n_ <= 1) return;
  const double cost = Cost(n_);
  if (PrefersConvolution(n_, cost))
    PrepareChirp();
  else
    radices_ = Factorize(n_, true);
  if (PrefersConvolution(n_, cost / 2)) return;
  real_radices_ = Factorize(n_, false);
  roots_ = AllRoots(n_);
  const size_t largest = *std::max_element(real_radices_.begin(), real_radices_.end());
  sums_.resize(largest);
  differences_.resize(largest);
  values_.resize(std::max<size_t>(largest, 8));
  odd_roots_.resize(2 * (largest + 1));
}

std::vector<size_t> Plan::Factorize(size_t n, bool with_eight) {
  std::vector<size_t> radices;
  if (with_eight)
    for (; n % 8 == 0; n /= 8) radices.push_back(8);
  for (; n % 4 == 0; n /= 4) radices.push_back(4);
  if (n % 2 == 0) {
    n /= 2;
    radices.push_back(2);
    std::swap(radices.front(), radices.back());
  }
  for (size_t p = 3; p * p <= n; p += 2)
    for (; n % p == 0; n /= p) radices.push_back(p);
  if (n > 1) radices.push_back(n);
  return radices;
}

void Plan::Forward(std::vector<Cx>& data) {
  if (n_ <= 1) return;
  if (inner_)
    ForwardChirp(data);
  else
    ForwardMixedRadix(data);
}

/// One self-sorting pass: n = radix * rest * stride.
template <size_t Radix>
void Plan::Pass(const Cx* in, Cx* out, size_t radix, size_t rest, size_t stride) {
  const Cx* odd_roots = Radix == 0 ? OddRoots(radix, radix <= kLargestExactRadix) : nullptr;
  const size_t group = radix <= kLargestExactRadix ? 1 : 2;
  for (size_t p = 0; p < rest; ++p) {
    for (size_t q = 0; q < stride; ++q) {
      Cx small[Radix == 0 ? 1 : Radix];
      Cx* a = Radix == 0 ? values_.data() : small;
      for (size_t k = 0; k < radix; ++k) a[k] = in[q + stride * (p + rest * k)];
      if constexpr (Radix == 2)
        TwoButterfly(a);
      else if constexpr (Radix == 4)
        FourButterfly(a);
      else if constexpr (Radix == 8)
        EightButterfly(a);
      else
        OddButterfly(a, radix, odd_roots, group);
      Cx* to = out + q + stride * radix * p;
      to[0] = a[0];
      for (size_t j = 1; j < radix; ++j) to[stride * j] = p == 0 ? a[j] : a[j] * roots_[p * j * stride];
    }
  }
}

void Plan::ForwardMixedRadix(std::vector<Cx>& data) {
  scratch_.resize(n_);
  size_t rest = n_;
  size_t stride = 1;
  for (const size_t radix : radices_) {
    rest /= radix;
    if (radix == 2)
      Pass<2>(data.data(), scratch_.data(), radix, rest, stride);
    else if (radix == 4)
      Pass<4>(data.data(), scratch_.data(), radix, rest, stride);
    else if (radix == 8)
      Pass<8>(data.data(), scratch_.data(), radix, rest, stride);
    else
      Pass<0>(data.data(), scratch_.data(), radix, rest, stride);
    data.swap(scratch_);
    stride *= radix;
  }
}

/// exp(-2 pi i k / radix): correctly rounded, or taken from the roots of the whole length.
const Cx* Plan::OddRoots(size_t radix, bool exact) {
  std::vector<Cx>& roots = odd_roots_[2 * radix + (exact ? 1 : 0)];
  if (roots.empty() && exact) roots = ExactRoots(radix);
  if (roots.empty())
    for (size_t k = 0; k < radix; ++k) roots.push_back(roots_[k * (n_ / radix)]);
  return roots.data();
}

/// A transform of odd length: the pairs k and radix-k share their products. From the third product
/// on, sums are formed in groups of at most `group` before they are accumulated.
void Plan::OddButterfly(Cx* a, size_t radix, const Cx* roots, size_t group) {
  const size_t half = radix / 2;
  Cx total = a[0];
  for (size_t k = 1; k <= half; ++k) {
    sums_[k] = a[k] + a[radix - k];
    differences_[k] = a[k] - a[radix - k];
    total = total + sums_[k];
  }
  for (size_t j = 1; j <= half; ++j) {
    Cx even = a[0];
    Cx odd{0, 0};
    const auto root = [&](size_t k) { return roots[j * k % radix]; };
    const auto even_term = [&](size_t k) { return Cx{sums_[k].re * root(k).re, sums_[k].im * root(k).re}; };
    const auto odd_term = [&](size_t k) {
      return Cx{differences_[k].im * root(k).im, -differences_[k].re * root(k).im};
    };
    for (size_t k = 1; k <= half;) {
      const size_t left = half + 1 - k;
      const size_t take = k <= 2 ? 1 : group >= 4 && left >= 4 ? 4 : group >= 2 && left >= 2 ? 2 : 1;
      Cx even_sum = even_term(k);
      Cx odd_sum = odd_term(k);
      for (size_t t = 1; t < take; ++t) {
        even_sum = even_sum + even_term(k + t);
        odd_sum = odd_sum + odd_term(k + t);
      }
      even = even + even_sum;
      odd = odd + odd_sum;
      k += take;
    }
    a[j] = even - odd;
    a[radix - j] = even + odd;
  }
  a[0] = total;
}

void Plan::RealButterfly(Cx* a, size_t radix) {
  if (radix == 2)
    TwoButterfly(a);
  else if (radix == 4)
    FourButterfly(a);
  else
    OddButterfly(a, radix, OddRoots(radix, radix <= 5), radix <= 5 ? 1 : kRealGroup);
}

void Plan::RealForward(const double* in, Cx* spectrum) {
  if (real_radices_.empty()) {
    std::vector<Cx> data(n_);
    for (size_t k = 0; k < n_; ++k) data[k] = {in[k], 0};
    Forward(data);
    for (size_t k = 0; k < n_ / 2 + 1; ++k) spectrum[k] = data[k];
    return;
  }
  // Spectra of length m of the samples at offset b, stride l, stored by halves; radix of them join.
  scratch_.resize(2 * n_);
  stage_.resize(2 * n_);
  for (size_t k = 0; k < n_; ++k) scratch_[k] = {in[k], 0};
  size_t m = 1;
  Cx* a = values_.data();
  for (size_t f = real_radices_.size(); f-- > 0;) {
    const size_t radix = real_radices_[f];
    const size_t longer = m * radix;
    const size_t l = n_ / longer;
    const size_t half = m / 2 + 1;
    for (size_t b = 0; b < l; ++b) {
      Cx* to = stage_.data() + b * (longer / 2 + 1);
      const auto from = [&](size_t c) { return scratch_.data() + (b + l * c) * half; };
      for (size_t i = 0; 2 * i <= m; ++i) {
        if (radix == 4 && 2 * i == m) {  // the middle of even spectra is real
          const double re = kHalfSqrt2 * (from(1)[i].re - from(3)[i].re);
          const double im = -kHalfSqrt2 * (from(1)[i].re + from(3)[i].re);
          to[i] = {from(0)[i].re + re, im - from(2)[i].re};
          to[i + m] = {from(0)[i].re - re, im + from(2)[i].re};
          continue;
        }
        if (radix == 2 && 2 * i == m) {
          to[i] = {from(0)[i].re, -from(1)[i].re};
          continue;
        }
        for (size_t c = 0; c < radix; ++c) a[c] = i == 0 ? from(c)[0] : from(c)[i] * roots_[i * c * l];
        RealButterfly(a, radix);
        for (size_t j = 0; j < radix; ++j)
          if (i != 0 || 2 * j <= radix) StoreMirrored(to, longer, i + m * j, a[j]);
      }
    }
    scratch_.swap(stage_);
    m = longer;
  }
  std::copy_n(scratch_.begin(), n_ / 2 + 1, spectrum);
}

void Plan::HermitianForward(const Cx* conjugates, double* out) {
  if (n_ == 0) return;
  if (n_ == 1) {
    out[0] = conjugates[0].re;
    return;
  }
  if (real_radices_.empty()) {
    std::vector<Cx> data(n_);
    for (size_t k = 0; k < n_; ++k) data[k] = Mirrored(conjugates, n_, k);
    data[0].im = 0;
    if (n_ % 2 == 0) data[n_ / 2].im = 0;
    Forward(data);
    for (size_t k = 0; k < n_; ++k) out[k] = data[k].re;
    return;
  }
  scratch_.resize(2 * n_);
  stage_.resize(2 * n_);
  std::copy_n(conjugates, n_ / 2 + 1, scratch_.begin());
  scratch_[0].im = 0;
  if (n_ % 2 == 0) scratch_[n_ / 2].im = 0;
  size_t longer = n_;
  size_t l = 1;
  Cx* a = values_.data();
  for (const size_t radix : real_radices_) {
    const size_t m = longer / radix;
    for (size_t b = 0; b < l; ++b) {
      const Cx* from = scratch_.data() + b * (longer / 2 + 1);
      const auto to = [&](size_t j) { return stage_.data() + (b + l * j) * (m / 2 + 1); };
      for (size_t i = 0; 2 * i <= m; ++i) {
        if (radix == 4 && 2 * i == m) {
          const double d = from[i].re - from[i + m].re;
          const double s = from[i].im + from[i + m].im;
          const double two = from[i].im - from[i + m].im;
          const double sum = from[i].re + from[i + m].re;
          to(0)[i] = {sum + sum, 0};
          to(1)[i] = {std::numbers::sqrt2 * (d + s), 0};
          to(2)[i] = {two + two, 0};
          to(3)[i] = {-std::numbers::sqrt2 * (d - s), 0};
          continue;
        }
        if (radix == 2 && 2 * i == m) {
          to(0)[i] = {2 * from[i].re, 0};
          to(1)[i] = {2 * from[i].im, 0};
          continue;
        }
        for (size_t k = 0; k < radix; ++k) a[k] = Mirrored(from, longer, i + m * k);
        RealButterfly(a, radix);
        for (size_t j = 0; j < radix; ++j) to(j)[i] = i == 0 ? a[j] : a[j] * roots_[i * j * l];
      }
    }
    scratch_.swap(stage_);
    longer = m;
    l *= radix;
  }
  for (size_t k = 0; k < n_; ++k) out[k] = scratch_[k].re;
}

/// Products x[j] w^jk as a convolution with the chirp exp(-pi i k^2 / n), of a smooth length.
void Plan::PrepareChirp() {
  const size_t length = SmoothLength(2 * n_ - 1);
  const double scale = 1 / static_cast<double>(length);
  inner_ = std::make_unique<Plan>(length);
  const std::vector<Cx> roots = AllRoots(2 * n_);
  size_t square = 0;  // k^2 mod 2n
  for (size_t k = 0; k < n_; ++k) {
    chirp_.push_back(roots[square]);
    square = (square + 2 * k + 1) % (2 * n_);
  }
  kernel_.assign(length, Cx{0, 0});
  kernel_[0] = {scale, 0};
  for (size_t k = 1; k < n_; ++k)
    kernel_[k] = kernel_[length - k] = {chirp_[k].re * scale, -chirp_[k].im * scale};
  inner_->Forward(kernel_);
}

void Plan::ForwardChirp(std::vector<Cx>& data) {
  scratch_.assign(kernel_.size(), Cx{0, 0});
  for (size_t k = 0; k < n_; ++k) scratch_[k] = data[k] * chirp_[k];
  inner_->Forward(scratch_);
  for (size_t k = 0; k < kernel_.size(); ++k)
    scratch_[k] = Conj(scratch_[k] * kernel_[std::min(k, kernel_.size() - k)]);
  inner_->Forward(scratch_);
  for (size_t k = 0; k < n_; ++k) data[k] = Conj(scratch_[k]) * chirp_[k];
}

}  // namespace hlo::fft
