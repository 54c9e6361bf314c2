// Fourier transforms over one to three axes.
#include "ir/numeric/fft.h"

#include <vector>

#include "ir/numeric/fft_plan.h"

namespace hlo {
namespace {

using fft::Conj;
using fft::Cx;
using fft::Plan;

/// Transforms axis `axis` of a row-major array in place, unscaled.
void TransformAxis(std::vector<Cx>& array, std::span<const size_t> dims, size_t axis, Plan& plan,
                   bool inverse) {
  size_t stride = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) stride *= dims[d];
  const size_t n = dims[axis];
  if (n <= 1) return;
  std::vector<Cx> line(n);
  for (size_t outer = 0; outer < array.size(); outer += n * stride) {
    for (size_t inner = 0; inner < stride; ++inner) {
      Cx* base = array.data() + outer + inner;
      for (size_t k = 0; k < n; ++k) line[k] = inverse ? Conj(base[k * stride]) : base[k * stride];
      plan.Forward(line);
      for (size_t k = 0; k < n; ++k) base[k * stride] = inverse ? Conj(line[k]) : line[k];
    }
  }
}

/// One multi-dimensional transform: sizes, plans per axis and the working array.
class Transform {
 public:
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

  [[nodiscard]] double inverse_points() const { return 1 / static_cast<double>(points_); }
  [[nodiscard]] size_t last() const { return dims_.back(); }
  [[nodiscard]] size_t stored_last() const { return stored_.back(); }
  std::vector<Cx>& array() { return array_; }
  Plan& last_plan() { return plans_.back(); }

  void OuterAxes(bool inverse, bool ascending) {
    const size_t count = stored_.size() - 1;
    for (size_t k = 0; k < count; ++k) {
      const size_t axis = ascending ? k : count - 1 - k;
      TransformAxis(array_, stored_, axis, plans_[axis], inverse);
    }
  }
  void LastAxis(bool inverse) { TransformAxis(array_, stored_, stored_.size() - 1, plans_.back(), inverse); }
  void Scale(double factor) {
    for (Cx& x : array_) x = {x.re * factor, x.im * factor};
  }

 private:
  std::vector<size_t> dims_, stored_;
  std::vector<Plan> plans_;
  std::vector<Cx> array_;
  size_t points_ = 1;
};

template <class Real>
Cx Load(std::complex<Real> z) {
  return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}
template <class Real>
std::complex<Real> Store(Cx z) {
  return {static_cast<Real>(z.re), static_cast<Real>(z.im)};
}

}  // namespace

template <class Real>
void Fft(bool inverse, size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in,
         std::complex<Real>* out) {
  Transform transform(lengths, false);
  std::vector<Cx>& a = transform.array();
  const size_t n = a.size();
  if (n == 0) return;
  for (size_t b = 0; b < batch; ++b, in += n, out += n) {
    for (size_t i = 0; i < n; ++i) a[i] = Load(in[i]);
    transform.LastAxis(inverse);
    if (inverse) transform.Scale(transform.inverse_points());
    transform.OuterAxes(inverse, false);
    for (size_t i = 0; i < n; ++i) out[i] = Store<Real>(a[i]);
  }
}

template <class Real>
void RealFft(size_t batch, std::span<const int64_t> lengths, const Real* in, std::complex<Real>* out) {
  Transform transform(lengths, true);
  std::vector<Cx>& a = transform.array();
  const size_t n = a.size();
  if (n == 0) return;
  std::vector<double> line(transform.last());
  for (size_t b = 0; b < batch; ++b, out += n) {
    for (size_t row = 0; row < n; row += transform.stored_last(), in += line.size()) {
      for (size_t k = 0; k < line.size(); ++k) line[k] = static_cast<double>(in[k]);
      transform.last_plan().RealForward(line.data(), &a[row]);
    }
    transform.OuterAxes(false, true);
    for (size_t i = 0; i < n; ++i) out[i] = Store<Real>(a[i]);
  }
}

template <class Real>
void InverseRealFft(size_t batch, std::span<const int64_t> lengths, const std::complex<Real>* in, Real* out) {
  Transform transform(lengths, true);
  std::vector<Cx>& a = transform.array();
  const size_t n = a.size();
  if (n == 0) return;
  const double scale = transform.inverse_points();
  std::vector<double> line(transform.last());
  for (size_t b = 0; b < batch; ++b, in += n) {
    for (size_t i = 0; i < n; ++i) a[i] = Load(in[i]);
    transform.OuterAxes(true, true);
    for (Cx& x : a) x = Conj(x);
    for (size_t row = 0; row < n; row += transform.stored_last(), out += line.size()) {
      transform.last_plan().HermitianForward(&a[row], line.data());
      for (size_t k = 0; k < line.size(); ++k) out[k] = static_cast<Real>(line[k] * scale);
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
