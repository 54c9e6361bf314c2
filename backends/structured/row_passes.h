// Fourier transforms of one signal at a time by passes over vectors of neighbouring elements.
#pragma once
#include <optional>
#include <vector>

#include "backends/structured/kernels.h"

namespace hlo::structured {

/// Transforms of length n, with the kernel exp(-2 pi i jk / n), of signals that fit the nearer caches.
/// Immutable.
template <class T>
class RowPassesFft {
 public:
  static constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

  /// Whether there are passes for this length whose vectors are filled. With `in_order` results have the bits
  /// of fft::Plan (double precision only).
  static bool Has(int64_t n, bool in_order);
  /// Has(n, in_order) must hold.
  RowPassesFft(int64_t n, const FftKernels<T>& kernels, bool in_order);

  /// Numbers of the scratch memory that Run needs.
  [[nodiscard]] int64_t scratch() const { return 4 * plane_; }
  /// `in` and `out` are pairs of numbers and may be the same. With `inverse` the kernel is exp(+2 pi i jk /
  /// n). The result is multiplied by `scale`.
  void Run(const T* in, T* out, bool inverse, T scale, T* scratch) const;
  [[nodiscard]] std::string Describe() const;

 private:
  struct Order {
    std::vector<int> radices;
    size_t heads;
  };
  static std::optional<Order> OrderOf(int64_t n, bool in_order);

  RowKernel<T>* run_;
  int64_t plane_;
  int heads_ = 0;
  std::vector<RowPass<T>> passes_;
  std::vector<std::vector<T>> tables_;  // what the passes point to
};

}  // namespace hlo::structured
