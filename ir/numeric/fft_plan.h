// One-dimensional Fourier transforms of a fixed length.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace hlo::fft {

/// A complex number with plain arithmetic: no recovery of infinities.
struct Cx {
  double re, im;
  friend Cx operator+(Cx a, Cx b) { return {a.re + b.re, a.im + b.im}; }
  friend Cx operator-(Cx a, Cx b) { return {a.re - b.re, a.im - b.im}; }
  friend Cx operator*(Cx a, Cx b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
inline Cx Conj(Cx a) { return {a.re, -a.im}; }

/// exp(-2 pi i k / n) for k < n, correctly rounded but for rare ties: for short odd passes.
std::vector<Cx> ExactRoots(size_t n);

/// Passes of Forward with radices up to this take ExactRoots(radix) for their own roots, others those of the
/// plan.
inline constexpr size_t kLargestExactRadix = 11;
/// Real transforms with radices above 5 add so many products at a time.
inline constexpr size_t kRealGroup = 4;

/// Transforms of length n, unscaled, with kernel exp(-2 pi i jk / n); lengths with large prime factors
/// go through a convolution, so that the time is O(n log n) always. The order of the operations is the
/// classical one of FFTPACK and its successors (decimation in frequency; real transforms by decimation
/// in time), because results are compared bit by bit nearly: where terms cancel, only the same order
/// gives the same small number. Not for concurrent use: a plan owns scratch space.
class Plan {
 public:
  explicit Plan(size_t n);

  /// The radices of the passes of Forward, first to last; empty where it goes through a convolution.
  [[nodiscard]] const std::vector<size_t>& radices() const { return radices_; }
  /// Those of HermitianForward; RealForward takes them last to first.
  [[nodiscard]] const std::vector<size_t>& real_radices() const { return real_radices_; }
  /// exp(-2 pi i k / n) for k < n, where there are passes: what results of passes are multiplied by.
  [[nodiscard]] const std::vector<Cx>& roots() const { return roots_; }

  /// In place, n values.
  void Forward(std::vector<Cx>& data);
  /// From n reals to the first n/2+1 values of the spectrum.
  void RealForward(const double* in, Cx* spectrum);
  /// sum over k of conj(X[k]) exp(-2 pi i jk / n), which is real, from the conjugates of the first
  /// n/2+1 values of a Hermitian X. Imaginary parts of the DC and Nyquist values are ignored.
  void HermitianForward(const Cx* conjugates, double* out);

 private:
  /// Radices in the order of a decimation in frequency.
  static std::vector<size_t> Factorize(size_t n, bool with_eight);
  void ForwardMixedRadix(std::vector<Cx>& data);
  template <size_t Radix>
  void Pass(const Cx* in, Cx* out, size_t radix, size_t rest, size_t stride);
  void OddButterfly(Cx* a, size_t radix, const Cx* roots, size_t group);
  void RealButterfly(Cx* a, size_t radix);
  const Cx* OddRoots(size_t radix, bool exact);
  void PrepareChirp();
  void ForwardChirp(std::vector<Cx>& data);

  size_t n_;
  std::vector<size_t> radices_;       // empty where complex data goes through the convolution
  std::vector<size_t> real_radices_;  // empty where real data does
  std::vector<Cx> roots_;             // exp(-2 pi i k / n)
  std::vector<Cx> scratch_, sums_, differences_, values_, stage_;
  std::vector<std::vector<Cx>> odd_roots_;  // by radix: exp(-2 pi i k / radix)
  std::unique_ptr<Plan> inner_;             // of the convolution
  std::vector<Cx> chirp_, kernel_;
};

}  // namespace hlo::fft
