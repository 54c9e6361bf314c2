#include "backends/structured/real_passes.h"

#include "backends/structured/lane_fft.h"
#include "ir/numeric/fft_plan.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Of signals one by one.
constexpr size_t kLargestInRows = 7;
static_assert(kRealGroup == fft::kRealGroup);

}  // namespace

template <class T>
std::optional<RealPassesFft<T>> RealPassesFft<T>::Make(int64_t n, int64_t rows,
                                                       const FftKernels<T>& kernels) {
  if (sizeof(T) == 4 && n % 2 == 0) return std::nullopt;
  const fft::Plan plan(static_cast<size_t>(n));
  const std::vector<size_t>& radices = plan.real_radices();
  if (radices.empty()) return std::nullopt;
  const size_t largest = *std::max_element(radices.begin(), radices.end());
  if (largest > kLargestOdd) return std::nullopt;
  RealPassesFft fft(n, rows, kernels);
  fft.side_by_side_ = sizeof(T) == 4 || largest > kLargestInRows;
  int64_t m = 1;
  for (size_t k = radices.size(); k-- > 0;) {
    const auto radix = static_cast<int64_t>(radices[k]), l = n / (m * radix);
    // Vectors run across spectra while these are many.
    if (l >= kLanes)
      ++fft.across_;
    else if ((m + 1) / 2 < kLanes)
      fft.side_by_side_ = true;
    m *= radix;
  }
  fft.side_by_side_ |= fft.across_ == 0;
  if (fft.side_by_side_ && rows < kLanes / 2) return std::nullopt;
  m = 1;
  for (size_t k = radices.size(); k-- > 0; m *= static_cast<int64_t>(radices[k])) {
    const size_t radix = radices[k];
    const int64_t longer = m * static_cast<int64_t>(radix), l = n / longer, count = (m + 1) / 2;
    std::vector<T> scalars, roots;
    std::vector<T> vectors(2 * static_cast<size_t>(count) * (radix - 1));
    for (int64_t i = 0; i < count; ++i)
      for (size_t c = 1; c < radix; ++c) {
        const fft::Cx& root = plan.roots()[static_cast<size_t>(i * l) * c];
        const T re = static_cast<T>(root.re), im = static_cast<T>(root.im);
        scalars.insert(scalars.end(), {re, im});
        const size_t at = 2 * static_cast<size_t>(count) * (c - 1) + static_cast<size_t>(i);
        vectors[at] = re;
        vectors[at + static_cast<size_t>(count)] = im;
      }
    const std::vector<fft::Cx> exact = fft::ExactRoots(radix);
    for (size_t j = 0; j < radix; ++j) {
      // Like the evaluator's.
      const fft::Cx& root = radix <= 5 ? exact[j] : plan.roots()[j * (static_cast<size_t>(n) / radix)];
      roots.insert(roots.end(), {static_cast<T>(root.re), static_cast<T>(root.im)});
    }
    fft.passes_.push_back({static_cast<int>(radix), m, l, scalars.data(), vectors.data(), roots.data()});
    for (std::vector<T>* table : {&scalars, &vectors, &roots}) fft.tables_.push_back(std::move(*table));
  }
  return fft;
}

template <class T>
RealPasses<T> RealPassesFft<T>::passes() const {
  return {passes_.data(), static_cast<int>(passes_.size()), across_, n_, n_ + kPlanesApart<T>};
}

template <class T>
template <class F>
void RealPassesFft<T>::ForEachGroup(F body) const {
  const int64_t width = side_by_side_ ? kLanes : 1;
  const int64_t room = side_by_side_ ? 6 * n_ * kLanes : 4 * passes().plane;
  ParallelFor(0, (rows_ + width - 1) / width, std::max<int64_t>(1, kFftPiece / (n_ * width)),
              [&](int64_t begin, int64_t end) {
                const auto scratch = MakeBuffer<T>(static_cast<size_t>(room));
                for (int64_t g = begin; g < end && !Interrupted(); ++g)
                  body(g * width, static_cast<int>(std::min(width, rows_ - g * width)), scratch.get());
              });
}

template <class T>
void RealPassesFft<T>::Forward(const T* in, T* out) const {
  const int64_t bins = n_ / 2 + 1;
  ForEachGroup([&](int64_t first, int lanes, T* scratch) {
    if (side_by_side_)
      kernels_.real_signals_forward(passes(), in + first * n_, out + 2 * first * bins, lanes, scratch);
    else
      kernels_.in_order.real_forward(passes(), in + first * n_, out + 2 * first * bins, scratch);
  });
}

template <class T>
void RealPassesFft<T>::Inverse(const T* in, T* out, T scale) const {
  const int64_t bins = n_ / 2 + 1;
  ForEachGroup([&](int64_t first, int lanes, T* scratch) {
    if (side_by_side_)
      kernels_.real_signals_inverse(passes(), in + 2 * first * bins, out + first * n_, scale, lanes, scratch);
    else
      kernels_.in_order.real_inverse(passes(), in + 2 * first * bins, out + first * n_, scale, scratch);
  });
}

template <class T>
std::string RealPassesFft<T>::Describe() const {
  std::string text = "real ";
  for (const RealPass<T>& pass : passes_) text += (pass.m == 1 ? "" : "*") + std::to_string(pass.radix);
  return text + (side_by_side_ ? "" : " in rows");
}

template class RealPassesFft<float>;
template class RealPassesFft<double>;

}  // namespace hlo::structured
