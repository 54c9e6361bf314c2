// Mixed-radix and chirp-z Fourier transforms.
#include "ir/numeric/fft.h"

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>
#include <vector>

namespace hlo {
namespace {

/// A complex number with plain arithmetic: no recovery of infinities.
template <class W>
struct Cx {
  W re, im;
  friend Cx operator+(Cx a, Cx b) { return {a.re + b.re, a.im + b.im}; }
  friend Cx operator-(Cx a, Cx b) { return {a.re - b.re, a.im - b.im}; }
  friend Cx operator*(Cx a, Cx b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
template <class W>
Cx<W> Conj(Cx<W> a) { return {a.re, -a.im}; }
template <class W>
Cx<W> TimesMinusI(Cx<W> a) { return {a.im, -a.re}; }

/// exp(-2 pi i k / n) for k < n, from an angle of at most pi/4.
template <class W>
Cx<W> UnitRoot(size_t k, size_t n) {
  const size_t octant = 8 * k / n;
  // Angles in units of 2 pi / (8 n), so that all reductions are exact.
  const size_t eighths = 8 * k;
  const size_t start = (octant + 1) / 2 * 2 * n;  // the nearest multiple of a quarter turn
  const auto offset = static_cast<long double>(static_cast<int64_t>(eighths) - static_cast<int64_t>(start));
  const long double angle = offset * (std::numbers::pi_v<long double> / 4) / static_cast<long double>(n);
  const auto c = static_cast<W>(std::cos(angle));
  const auto s = static_cast<W>(std::sin(angle));
  switch ((octant + 1) / 2 % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// The forward transform of one length; the inverse is the forward one between two conjugations.
template <class W>
class Plan {
 public:
  explicit Plan(size_t n) : n_(n) {
    if (n_ <= 1) return;
    Factorize();
    if (radices_.empty()) PrepareChirp();
    else FillRoots();
  }

  [[nodiscard]] size_t size() const { return n_; }

  void Forward(std::vector<Cx<W>>& data) {
    if (n_ <= 1) return;
    if (radices_.empty()) ForwardChirp(data);
    else ForwardMixedRadix(data);
  }

 private:
  static constexpr size_t kLargestRadix = 31;

  /// Leaves radices_ empty if a prime factor is too large for a direct butterfly.
  void Factorize() {
    size_t rest = n_;
    for (const size_t r : {size_t{4}, size_t{2}})
      for (; rest % r == 0; rest /= r) radices_.push_back(r);
    for (size_t r = 3; r <= kLargestRadix && rest > 1; r += 2)
      for (; rest % r == 0; rest /= r) radices_.push_back(r);
    if (rest > 1) radices_.clear();
  }

  void FillRoots() {
    roots_.resize(n_);
    for (size_t k = 0; k < n_; ++k) roots_[k] = UnitRoot<W>(k, n_);
    scratch_.resize(n_);
  }

  /// One self-sorting pass: n_ = radix * rest * stride; see Stockham's algorithm.
  template <size_t MaxRadix, class Butterfly>
  void Pass(const Cx<W>* in, Cx<W>* out, size_t radix, size_t rest, size_t stride, Butterfly butterfly) {
    for (size_t p = 0; p < rest; ++p) {
      for (size_t q = 0; q < stride; ++q) {
        std::array<Cx<W>, MaxRadix> a;
        for (size_t k = 0; k < radix; ++k) a[k] = in[q + stride * (p + rest * k)];
        butterfly(a);
        Cx<W>* to = out + q + stride * radix * p;
        to[0] = a[0];
        for (size_t j = 1; j < radix; ++j) to[stride * j] = a[j] * roots_[p * j * stride];
      }
    }
  }

  void ForwardMixedRadix(std::vector<Cx<W>>& data) {
    size_t rest = n_;
    size_t stride = 1;
    for (const size_t radix : radices_) {
      rest /= radix;
      const Cx<W>* in = data.data();
      Cx<W>* out = scratch_.data();
      if (radix == 2) {
        Pass<2>(in, out, 2, rest, stride, [](auto& a) { a = {a[0] + a[1], a[0] - a[1]}; });
      } else if (radix == 4) {
        Pass<4>(in, out, 4, rest, stride, [](auto& a) {
          const Cx<W> s02 = a[0] + a[2];
          const Cx<W> d02 = a[0] - a[2];
          const Cx<W> s13 = a[1] + a[3];
          const Cx<W> d13 = TimesMinusI(a[1] - a[3]);
          a = {s02 + s13, d02 + d13, s02 - s13, d02 - d13};
        });
      } else {
        const size_t step = n_ / radix;
        Pass<kLargestRadix>(in, out, radix, rest, stride, [&](auto& a) { OddButterfly(a, radix, step); });
      }
      data.swap(scratch_);
      stride *= radix;
    }
  }

  /// A transform of small odd length: the pairs k and radix-k share their products.
  void OddButterfly(std::array<Cx<W>, kLargestRadix>& a, size_t radix, size_t step) const {
    const size_t half = radix / 2;
    std::array<Cx<W>, kLargestRadix / 2 + 1> sum;
    std::array<Cx<W>, kLargestRadix / 2 + 1> difference;
    Cx<W> total = a[0];
    for (size_t k = 1; k <= half; ++k) {
      sum[k] = a[k] + a[radix - k];
      difference[k] = a[k] - a[radix - k];
      total = total + sum[k];
    }
    const Cx<W> first = a[0];
    a[0] = total;
    for (size_t j = 1; j <= half; ++j) {
      Cx<W> even = first;
      Cx<W> odd{};
      for (size_t k = 1; k <= half; ++k) {
        const Cx<W> w = roots_[j * k % radix * step];
        even = even + Cx<W>{sum[k].re * w.re, sum[k].im * w.re};
        odd = odd + Cx<W>{difference[k].im * w.im, -difference[k].re * w.im};
      }
      a[j] = even - odd;
      a[radix - j] = even + odd;
    }
  }

  /// x[j] x[k] products as a convolution with the chirp exp(-pi i k^2 / n), of a power-of-two length.
  void PrepareChirp() {
    const size_t length = std::bit_ceil(2 * n_ - 1);
    inner_ = std::make_unique<Plan>(length);
    chirp_.resize(n_);
    uint64_t square = 0;  // k^2 mod 2n
    for (size_t k = 0; k < n_; ++k) {
      chirp_[k] = UnitRoot<W>(square, 2 * n_);
      square = (square + 2 * k + 1) % (2 * n_);
    }
    kernel_.assign(length, Cx<W>{});
    kernel_[0] = Conj(chirp_[0]);
    for (size_t k = 1; k < n_; ++k) kernel_[k] = kernel_[length - k] = Conj(chirp_[k]);
    inner_->Forward(kernel_);
    scratch_.resize(length);
  }

  void ForwardChirp(std::vector<Cx<W>>& data) {
    scratch_.assign(kernel_.size(), Cx<W>{});
    for (size_t k = 0; k < n_; ++k) scratch_[k] = data[k] * chirp_[k];
    inner_->Forward(scratch_);
    for (size_t k = 0; k < kernel_.size(); ++k) scratch_[k] = Conj(scratch_[k] * kernel_[k]);
    inner_->Forward(scratch_);
    const W scale = W{1} / static_cast<W>(kernel_.size());
    for (size_t k = 0; k < n_; ++k) {
      const Cx<W> value = Conj(scratch_[k]) * chirp_[k];
      data[k] = {value.re * scale, value.im * scale};
    }
  }

  size_t n_;
  std::vector<size_t> radices_;
  std::vector<Cx<W>> roots_, scratch_;
  std::unique_ptr<Plan> inner_;
  std::vector<Cx<W>> chirp_, kernel_;
};

template <class Real>
using Working = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

/// Transforms axis `axis` of a row-major array in place, unscaled.
template <class W>
void TransformAxis(std::vector<Cx<W>>& array, std::span<const size_t> dims, size_t axis, Plan<W>& plan, bool inverse) {
  size_t stride = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) stride *= dims[d];
  const size_t n = dims[axis];
  if (n <= 1) return;
  std::vector<Cx<W>> line(n);
  for (size_t outer = 0; outer < array.size(); outer += n * stride) {
    for (size_t inner = 0; inner < stride; ++inner) {
      Cx<W>* base = array.data() + outer + inner;
      for (size_t k = 0; k < n; ++k) line[k] = inverse ? Conj(base[k * stride]) : base[k * stride];
      plan.Forward(line);
      for (size_t k = 0; k < n; ++k) base[k * stride] = inverse ? Conj(line[k]) : line[k];
    }
  }
}

/// One multi-dimensional transform: sizes, plans per axis and the working array.
template <class W>
class Transform {
 public:
  /// `last` is the stored size of the last axis.
  Transform(std::span<const int64_t> lengths, bool half_last_axis) {
    for (const int64_t n : lengths) {
      dims_.push_back(static_cast<size_t>(n));
      plans_.emplace_back(dims_.back());
      points_ *= dims_.back();
    }
    stored_ = dims_;
    if (half_last_axis && dims_.back() != 0) stored_.back() = dims_.back() / 2 + 1;
    size_t elements = 1;
    for (const size_t n : stored_) elements *= n;
    array_.resize(elements);
  }

  [[nodiscard]] size_t points() const { return points_; }
  [[nodiscard]] size_t last() const { return dims_.back(); }
  [[nodiscard]] size_t stored_last() const { return stored_.back(); }
  std::vector<Cx<W>>& array() { return array_; }
  Plan<W>& last_plan() { return plans_.back(); }

  void OuterAxes(bool inverse) {
    for (size_t axis = stored_.size() - 1; axis-- > 0;) TransformAxis<W>(array_, stored_, axis, plans_[axis], inverse);
  }
  void LastAxis(bool inverse) { TransformAxis<W>(array_, stored_, stored_.size() - 1, plans_.back(), inverse); }

 private:
  std::vector<size_t> dims_, stored_;
  std::vector<Plan<W>> plans_;
  std::vector<Cx<W>> array_;
  size_t points_ = 1;
};

template <class W, class Real>
Cx<W> Load(std::complex<Real> z) { return {static_cast<W>(z.real()), static_cast<W>(z.imag())}; }
template <class Real, class W>
std::complex<Real> Store(Cx<W> z) { return {static_cast<Real>(z.re), static_cast<Real>(z.im)}; }

}  // namespace

template <class Real>
void Fft(bool inverse, size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in, std::complex<Real>* out) {
  using W = Working<Real>;
  Transform<W> transform(lengths, false);
  const size_t n = transform.array().size();
  if (n == 0) return;
  const W scale = inverse ? W{1} / static_cast<W>(transform.points()) : W{1};
  for (size_t b = 0; b < batch; ++b, in += n, out += n) {
    std::vector<Cx<W>>& a = transform.array();
    for (size_t i = 0; i < n; ++i) a[i] = Load<W>(in[i]);
    transform.LastAxis(inverse);
    transform.OuterAxes(inverse);
    for (size_t i = 0; i < n; ++i) out[i] = Store<Real>(Cx<W>{a[i].re * scale, a[i].im * scale});
  }
}

template <class Real>
void RealFft(size_t batch, std::span<const int64_t> lengths, const Real* in, std::complex<Real>* out) {
  using W = Working<Real>;
  Transform<W> transform(lengths, true);
  const size_t n = transform.array().size();
  if (n == 0) return;
  const size_t last = transform.last();
  const size_t stored = transform.stored_last();
  std::vector<Cx<W>> line(last);
  for (size_t b = 0; b < batch; ++b, out += n) {
    std::vector<Cx<W>>& a = transform.array();
    for (size_t row = 0; row < n; row += stored, in += last) {
      for (size_t k = 0; k < last; ++k) line[k] = {static_cast<W>(in[k]), W{0}};
      transform.last_plan().Forward(line);
      for (size_t k = 0; k < stored; ++k) a[row + k] = line[k];
    }
    transform.OuterAxes(false);
    for (size_t i = 0; i < n; ++i) out[i] = Store<Real>(a[i]);
  }
}

template <class Real>
void InverseRealFft(size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in, Real* out) {
  using W = Working<Real>;
  Transform<W> transform(lengths, true);
  const size_t n = transform.array().size();
  if (n == 0) return;
  const size_t last = transform.last();
  const size_t stored = transform.stored_last();
  const W scale = W{1} / static_cast<W>(transform.points());
  std::vector<Cx<W>> line(last);
  for (size_t b = 0; b < batch; ++b, in += n) {
    std::vector<Cx<W>>& a = transform.array();
    for (size_t i = 0; i < n; ++i) a[i] = Load<W>(in[i]);
    transform.OuterAxes(true);
    for (size_t row = 0; row < n; row += stored, out += last) {
      // The conjugate of the full Hermitian line; its forward transform is the (real) signal.
      line[0] = {a[row].re, W{0}};
      for (size_t k = 1; k < stored; ++k) {
        line[k] = Conj(a[row + k]);
        line[last - k] = a[row + k];
      }
      if (last % 2 == 0) line[last / 2] = {a[row + last / 2].re, W{0}};
      transform.last_plan().Forward(line);
      for (size_t k = 0; k < last; ++k) out[k] = static_cast<Real>(line[k].re * scale);
    }
  }
}

template void Fft(bool, size_t, std::span<const int64_t>, const std::complex<float>*, std::complex<float>*);
template void Fft(bool, size_t, std::span<const int64_t>, const std::complex<double>*, std::complex<double>*);
template void RealFft(size_t, std::span<const int64_t>, const float*, std::complex<float>*);
template void RealFft(size_t, std::span<const int64_t>, const double*, std::complex<double>*);
template void InverseRealFft(size_t, std::span<const int64_t>, const std::complex<float>*, float*);
template void InverseRealFft(size_t, std::span<const int64_t>, const std::complex<double>*, double*);

}  // namespace hlo
