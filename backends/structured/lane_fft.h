// Fourier transforms of one length: of as many signals as vectors have lanes, or of one long signal.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "backends/structured/kernels.h"

namespace hlo::structured {

/// Points that are worth waking a thread for.
inline constexpr int64_t kFftPiece = 1 << 13;
/// Numbers between planes of real and imaginary parts: so that both of an element are not in one set of a
/// cache.
template <class T>
inline constexpr int64_t kPlanesApart = 5 * (64 / static_cast<int64_t>(sizeof(T)));

/// exp(-2 pi i k / n).
class UnitRoots {
 public:
  explicit UnitRoots(int64_t n);
  /// Real and imaginary part for 0 <= k < n.
  [[nodiscard]] std::pair<double, double> At(int64_t k) const;
  template <class T>
  void Append(int64_t k, std::vector<T>& to) const {
    const auto [re, im] = At(k);
    to.push_back(static_cast<T>(re));
    to.push_back(static_cast<T>(im));
  }

 private:
  int64_t fine_size_ = 1;
  std::vector<std::pair<double, double>> fine_, coarse_;
};

/// Transforms of length n, unscaled, with the kernel exp(-2 pi i jk / n), of kLanes signals side by side:
/// element k of all of them is kLanes real, then kLanes imaginary parts. Lengths with large prime factors go
/// through a convolution. Immutable.
template <class T>
class LaneFft {
 public:
  static constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T)), kStep = 2 * kLanes;
  /// With `in_order` results have the bits of fft::Plan; HasPassesInOrder(n) must hold.
  LaneFft(int64_t n, const FftKernels<T>& kernels, bool in_order = false);
  static bool HasPassesInOrder(int64_t n);

  [[nodiscard]] int64_t size() const { return n_; }
  /// Elements that each of the two arrays of Run must hold, in steps of kStep numbers.
  [[nodiscard]] int64_t room() const { return inner_ ? inner_->n_ : n_; }
  /// Transforms x, with y for scratch; returns where the result is: x or y.
  T* Run(T* x, T* y) const;
  /// For the kernels that read and write columns; nothing where they do not serve.
  [[nodiscard]] std::optional<LanePasses<T>> column_passes() const;
  [[nodiscard]] std::string Describe() const;

 private:
  void AddPass(int64_t radix, int64_t m, int64_t s, std::vector<T> twiddles, std::vector<T> roots);
  void MakePasses();
  void MakePassesInOrder();
  void MakeChirp();

  int64_t n_;
  const FftKernels<T>& kernels_;
  bool in_order_;
  std::vector<RowPass<T>> passes_;
  int64_t largest_radix_ = 1;
  std::vector<std::vector<T>> tables_;  // what the passes point to
  std::unique_ptr<LaneFft> inner_;      // of the convolution
  std::vector<T> chirp_, conjugate_chirp_, spectrum_;
};

/// The largest prime factor.
int64_t LargestPrime(int64_t n);
/// Factors of chirp transforms of length n over convolutions of length m: exp(-pi i k^2 / n), and the
/// transform of their conjugates divided by m.
struct Chirp {
  std::vector<std::pair<double, double>> factors, spectrum;
};
Chirp MakeChirp(int64_t n, int64_t m);
/// Of passes that have code of their own, as all but those over signals side by side must.
inline constexpr int64_t kLargestRadix = 13;
/// Passes over signals side by side with larger prime factors are slower than convolutions.
inline constexpr int64_t kLargestBesides = 61;

/// Transforms of one signal of length n at a time.
template <class T>
class RowFft {
 public:
  RowFft(int64_t n, const FftKernels<T>& kernels);
  /// `in` and `out` are pairs of numbers and may be the same. With `inverse` the kernel is exp(+2 pi i jk /
  /// n). The result is multiplied by `scale`. Uses several threads.
  void Run(const T* in, T* out, bool inverse, T scale) const;
  [[nodiscard]] std::string Describe() const;

 private:
  static constexpr int64_t kLanes = LaneFft<T>::kLanes, kStep = LaneFft<T>::kStep;
  void RunSplit(const T* in, T* out, bool inverse, T scale) const;
  void RunChirp(const T* in, T* out, bool inverse, T scale) const;

  int64_t n_;
  const FftKernels<T>& kernels_;
  // n = columns * rows: transforms over columns of `first`, then over rows of `second`.
  std::unique_ptr<LaneFft<T>> first_, second_;
  std::vector<T> lane_twiddles_, block_twiddles_;
  std::unique_ptr<RowFft> inner_;  // of the convolution
  std::vector<T> chirp_, spectrum_;
};

}  // namespace hlo::structured
