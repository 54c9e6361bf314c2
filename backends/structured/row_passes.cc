#include "backends/structured/row_passes.h"

#include "backends/structured/lane_fft.h"
#include "ir/numeric/fft_plan.h"

namespace hlo::structured {
namespace {

/// Powers of two first, in few passes; 16 first, as many results as lanes need no other transpose.
std::vector<int> FusedRadices(int64_t n) {
  std::vector<int> radices;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  if (twos >= 4) radices.push_back(16), twos -= 4;
  for (; twos % 3 == 1 ? twos >= 4 : twos % 3 == 2 && twos >= 8; twos -= 4) radices.push_back(16);
  if (twos % 3 != 0) radices.push_back(1 << twos % 3);
  for (; twos >= 3; twos -= 3) radices.push_back(8);
  for (const int odd : {13, 11, 7, 5, 3})
    for (; n % odd == 0; n /= odd) radices.push_back(odd);
  return radices;
}

}  // namespace
template <class T>
std::optional<typename RowPassesFft<T>::Order> RowPassesFft<T>::OrderOf(int64_t n, bool in_order) {
  if (n < kLanes * kLanes || LargestPrime(n) > kLargestRadix) return std::nullopt;
  Order order;
  if (!in_order) {
    order.radices = FusedRadices(n);
  } else {
    constexpr int64_t kLargestInOrder = 11;
    if (LargestPrime(n) > kLargestInOrder || !LaneFft<T>::HasPassesInOrder(n)) return std::nullopt;
    const fft::Plan plan(static_cast<size_t>(n));
    for (const size_t radix : plan.radices()) order.radices.push_back(static_cast<int>(radix));
  }
  int64_t s = 1;
  for (order.heads = 0; s < kLanes; ++order.heads) s *= order.radices[order.heads];
  if (n / s < kLanes) return std::nullopt;
  return order;
}

template <class T>
bool RowPassesFft<T>::Has(int64_t n, bool in_order) {
  return OrderOf(n, in_order).has_value();
}

template <class T>
RowPassesFft<T>::RowPassesFft(int64_t n, const FftKernels<T>& kernels, bool in_order)
    : run_(in_order ? kernels.in_order.row : kernels.row) {
  plane_ = (n + kLanes - 1) / kLanes * kLanes + kPlanesApart<T>;
  const Order order = *OrderOf(n, in_order);
  heads_ = static_cast<int>(order.heads);
  std::vector<std::pair<double, double>> roots;
  if (in_order) {
    const fft::Plan plan(static_cast<size_t>(n));
    for (const fft::Cx& root : plan.roots()) roots.emplace_back(root.re, root.im);
  } else {
    const UnitRoots all(n);
    for (int64_t k = 0; k < n; ++k) roots.push_back(all.At(k));
  }
  int64_t m = n, s = 1;
  for (size_t k = 0; k < order.radices.size(); ++k) {
    const int64_t radix = order.radices[k];
    m /= radix;
    std::vector<T> twiddles(static_cast<size_t>(2 * m * (radix - 1))), own;
    for (int64_t p = 0; p < m; ++p)
      for (int64_t j = 1; j < radix; ++j) {
        const auto [re, im] = roots[static_cast<size_t>(p * j * s)];
        const int64_t at = k < order.heads ? 2 * m * (j - 1) + p : 2 * (p * (radix - 1) + j - 1);
        twiddles[static_cast<size_t>(at)] = static_cast<T>(re);
        twiddles[static_cast<size_t>(at + (k < order.heads ? m : 1))] = static_cast<T>(im);
      }
    for (const fft::Cx& root : fft::ExactRoots(static_cast<size_t>(radix)))
      own.insert(own.end(), {static_cast<T>(root.re), static_cast<T>(root.im)});
    tables_.push_back(std::move(twiddles));
    tables_.push_back(std::move(own));
    passes_.push_back({static_cast<int>(radix), m, s, tables_[2 * k].data(), tables_[2 * k + 1].data()});
    s *= radix;
  }
}

template <class T>
void RowPassesFft<T>::Run(const T* in, T* out, bool inverse, T scale, T* scratch) const {
  run_({passes_.data(), static_cast<int>(passes_.size()), heads_, plane_}, in, out, inverse, scale, scratch);
}

template <class T>
std::string RowPassesFft<T>::Describe() const {
  std::string text;
  for (const RowPass<T>& pass : passes_) text += (text.empty() ? "" : "*") + std::to_string(pass.radix);
  return text + " in rows";
}

template class RowPassesFft<float>;
template class RowPassesFft<double>;

}  // namespace hlo::structured
