// One long signal as a matrix: transforms of its columns, factors, transforms of its rows.
#include "backends/structured/lane_fft.h"
#include "ir/support/buffer.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Points that are worth a thread, in lanes.
constexpr int64_t kGrain = 512;

/// The divisor next to the square root, from below.
int64_t MiddleDivisor(int64_t n) {
  int64_t best = 1;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) best = d;
  return best;
}

/// Blocks of kLanes columns that are written side by side: rows a multiple of 2 KiB apart share few sets of
/// the first cache, whose lines come and go one by one then. The blocks must stay in the second cache.
template <class T>
int64_t BlocksTogether(int64_t rows, int64_t columns) {
  constexpr int64_t kFew = 512, kSets = 2048, kPair = 2 * static_cast<int64_t>(sizeof(T));
  return rows * kPair % kSets == 0 && columns <= kFew ? 2 : 1;
}

/// `count` dense rows of `width` numbers to rows that are `step` apart.
template <class T>
void CopyRows(const T* rows, int64_t width, int64_t count, T* out, int64_t step) {
  for (int64_t r = 0; r < count; ++r) std::copy_n(rows + r * width, width, out + r * step);
}

int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

}  // namespace

template <class T>
RowFft<T>::RowFft(int64_t n, const FftKernels<T>& kernels) : n_(n), kernels_(kernels) {
  if (LargestPrime(n) > kLargestBesides) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    inner_ = std::make_unique<RowFft>(m, kernels);
    const Chirp chirp = MakeChirp(n, m);
    for (const auto& [re, im] : chirp.factors)
      chirp_.insert(chirp_.end(), {static_cast<T>(re), static_cast<T>(im)});
    for (const auto& [re, im] : chirp.spectrum)
      spectrum_.insert(spectrum_.end(), {static_cast<T>(re), static_cast<T>(im)});
    return;
  }
  const int64_t rows = MiddleDivisor(n), columns = n / rows;  // element (j1, j2) is number j1 * columns + j2
  first_ = std::make_unique<LaneFft<T>>(rows, kernels);
  second_ = std::make_unique<LaneFft<T>>(columns, kernels);
  const UnitRoots roots(n);
  for (int64_t k = 0; k < rows; ++k) {
    std::vector<T> parts;
    for (int64_t l = 0; l < kLanes; ++l) roots.Append(k * l % n, parts);
    for (size_t part = 0; part < 2; ++part)
      for (size_t l = 0; l < kLanes; ++l) lane_twiddles_.push_back(parts[2 * l + part]);
  }
  for (int64_t block = 0; block < columns; block += kLanes)
    for (int64_t k = 0; k < rows; ++k) roots.Append(block * k % n, block_twiddles_);
}

template <class T>
void RowFft<T>::Run(const T* in, T* out, bool inverse, T scale) const {
  if (inner_)
    RunChirp(in, out, inverse, scale);
  else
    RunSplit(in, out, inverse, scale);
}

template <class T>
void RowFft<T>::RunSplit(const T* in, T* out, bool inverse, T scale) const {
  const int64_t rows = first_->size(), columns = second_->size();
  const int64_t column_blocks = RoundUp(columns, kLanes) / kLanes,
                row_blocks = RoundUp(rows, kLanes) / kLanes;
  const int64_t padded_rows = row_blocks * kLanes, slab = column_blocks * kLanes * kStep;
  const auto first_passes = first_->column_passes(), last_passes = second_->column_passes();
  // [row block][column][lane: row]; where all blocks are full in the places of the results, which are
  // [column][row].
  const bool in_place = in != out && rows % kLanes == 0 && columns % kLanes == 0 && last_passes;
  const auto own = MakeBuffer<T>(static_cast<size_t>(in_place ? 0 : row_blocks * slab));
  T* middle = in_place ? out : own.get();
  const int64_t tile_step = in_place ? kStep : slab, element_step = in_place ? 2 * rows : kStep;
  ParallelFor(0, column_blocks, std::max<int64_t>(1, kGrain / rows), [&](int64_t begin, int64_t end) {
    const auto x = MakeBuffer<T>(static_cast<size_t>(padded_rows * kStep)),
               y = MakeBuffer<T>(static_cast<size_t>(padded_rows * kStep));
    std::fill(x.get() + rows * kStep, x.get() + padded_rows * kStep, T(0));
    std::fill(y.get() + rows * kStep, y.get() + padded_rows * kStep, T(0));
    for (int64_t b = begin; b < end; ++b) {
      const auto lanes = static_cast<int>(std::min(kLanes, columns - b * kLanes));
      if (first_passes && lanes == kLanes) {
        kernels_.first_columns(*first_passes, in + 2 * b * kLanes, columns, inverse,
                               block_twiddles_.data() + 2 * b * rows, lane_twiddles_.data(), x.get(), y.get(),
                               middle + b * kLanes * element_step, tile_step, element_step);
        continue;
      }
      kernels_.load_columns(in + 2 * b * kLanes, columns, rows, lanes, inverse, x.get());
      T* at = first_->Run(x.get(), y.get());
      kernels_.multiply_lanes(at, rows, block_twiddles_.data() + 2 * b * rows, lane_twiddles_.data());
      kernels_.transpose_tiles(at, rows, middle + b * kLanes * element_step, tile_step, element_step);
    }
  });
  const int64_t together = last_passes ? BlocksTogether<T>(rows, columns) : 1;
  ParallelFor(0, row_blocks, std::max<int64_t>(together, kGrain / columns), [&](int64_t begin, int64_t end) {
    const auto x = MakeBuffer<T>(static_cast<size_t>(slab)), y = MakeBuffer<T>(static_cast<size_t>(slab));
    const auto stage = MakeBuffer<T>(static_cast<size_t>(together == 1 ? 0 : together * slab));
    for (int64_t b = begin; b < end; ++b) {
      if (together > 1 && b + together <= std::min(end, rows / kLanes)) {
        for (int64_t k = 0; k < together; ++k)
          kernels_.last_columns(*last_passes, middle + (b + k) * tile_step, element_step,
                                stage.get() + k * kStep, together * kLanes, inverse, scale, x.get(), y.get());
        CopyRows(stage.get(), together * kStep, columns, out + b * kStep, 2 * rows);
        b += together - 1;
        continue;
      }
      const auto lanes = static_cast<int>(std::min(kLanes, rows - b * kLanes));
      if (last_passes && lanes == kLanes) {
        kernels_.last_columns(*last_passes, middle + b * tile_step, element_step, out + 2 * b * kLanes, rows,
                              inverse, scale, x.get(), y.get());
        continue;
      }
      const T* at = second_->Run(middle + b * slab, y.get());
      kernels_.store_columns(at, out + 2 * b * kLanes, rows, columns, lanes, inverse, scale);
    }
  });
}

template <class T>
void RowFft<T>::RunChirp(const T* in, T* out, bool inverse, T scale) const {
  const int64_t m = inner_->n_;
  const auto x = MakeBuffer<T>(static_cast<size_t>(2 * m));
  const auto multiply = [](const T* a, const T* b, T* to) {
    const T re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    to[0] = re;
    to[1] = im;
  };
  const int64_t re = inverse ? 1 : 0, im = 1 - re;  // an inverse transform is one with parts exchanged
  for (int64_t k = 0; k < n_; ++k) {
    const T value[2] = {in[2 * k + re], in[2 * k + im]};
    multiply(value, &chirp_[static_cast<size_t>(2 * k)], x.get() + 2 * k);
  }
  std::fill(x.get() + 2 * n_, x.get() + 2 * m, T(0));
  inner_->Run(x.get(), x.get(), false, 1);
  for (int64_t k = 0; k < m; ++k)
    multiply(x.get() + 2 * k, &spectrum_[static_cast<size_t>(2 * k)], x.get() + 2 * k);
  inner_->Run(x.get(), x.get(), true, 1);
  for (int64_t k = 0; k < n_; ++k) {
    T value[2];
    multiply(x.get() + 2 * k, &chirp_[static_cast<size_t>(2 * k)], value);
    out[2 * k + re] = value[0] * scale;
    out[2 * k + im] = value[1] * scale;
  }
}

template <class T>
std::string RowFft<T>::Describe() const {
  if (inner_) return "convolution of " + inner_->Describe();
  return "(" + first_->Describe() + ")*(" + second_->Describe() + ")";
}

template class RowFft<float>;
template class RowFft<double>;

}  // namespace hlo::structured
