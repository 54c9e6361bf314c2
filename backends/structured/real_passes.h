// Fourier transforms of real signals that join short spectra to longer ones: in double precision with the
// bits of fft::Plan, in single precision of odd lengths.
#pragma once
#include <optional>
#include <vector>

#include "backends/structured/kernels.h"

namespace hlo::structured {

/// `rows` consecutive real signals of length n. Immutable.
template <class T>
class RealPassesFft {
 public:
  RealPassesFft(RealPassesFft&&) = default;  // passes point to tables: not to be copied

  /// Nothing where there are no passes for this length, or too few signals to fill vectors.
  static std::optional<RealPassesFft> Make(int64_t n, int64_t rows, const FftKernels<T>& kernels);

  /// n reals each to n / 2 + 1 pairs.
  void Forward(const T* in, T* out) const;
  /// n / 2 + 1 pairs each to n reals, multiplied by `scale`.
  void Inverse(const T* in, T* out, T scale) const;
  [[nodiscard]] std::string Describe() const;

 private:
  static constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

  RealPassesFft(int64_t n, int64_t rows, const FftKernels<T>& kernels)
      : n_(n), rows_(rows), kernels_(kernels) {}
  [[nodiscard]] RealPasses<T> passes() const;
  /// Calls body(first, lanes, scratch) for groups of signals.
  template <class F>
  void ForEachGroup(F body) const;

  int64_t n_, rows_;
  const FftKernels<T>& kernels_;
  bool side_by_side_ = false;
  int across_ = 0;
  std::vector<RealPass<T>> passes_;
  std::vector<std::vector<T>> tables_;  // what the passes point to
};

}  // namespace hlo::structured
