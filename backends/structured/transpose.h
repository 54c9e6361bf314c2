// Matrices for routines that read columns where rows lie.
#pragma once
#include <complex>
#include <cstring>

#include "backends/structured/kernels.h"
#include "ir/support/buffer.h"

namespace hlo::structured {

/// Turns matrices of up to `rows` x `columns` elements, or `columns` x `rows`.
template <class T>
class Transposer {
 public:
  Transposer(gemm::Isa isa, int64_t rows, int64_t columns)
      : kernels_(KernelsFor(isa)),
        strip_(MakeBuffer<T>(static_cast<size_t>(std::max(rows, columns) * kLanes))) {}

  /// Element (i, j) of rows x columns to place (j, i) of columns x rows.
  void Run(const T* from, int64_t rows, int64_t columns, T* to) const {
    if constexpr (sizeof(T) > sizeof(double)) {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    } else {
      for (int64_t i = 0; i < rows; i += kLanes) {
        const int64_t some = std::min(kLanes, rows - i);
        LoadStrip(from + i * columns, columns, static_cast<int>(some));
        for (int64_t j = 0; j < columns; ++j)
          std::memcpy(static_cast<void*>(to + j * rows + i), strip_.get() + j * kLanes,
                      static_cast<size_t>(some) * sizeof(T));
      }
    }
  }

 private:
  static constexpr int64_t kLanes = std::max<int64_t>(64 / sizeof(T), 1);

  /// Pairs of floats move as doubles do.
  void LoadStrip(const T* from, int64_t columns, int rows) const {
    if constexpr (sizeof(T) == sizeof(float))
      kernels_.lanes_f32.load(from, columns, columns, rows, reinterpret_cast<float*>(strip_.get()));
    else
      kernels_.lanes_f64.load(from, columns, columns, rows, reinterpret_cast<double*>(strip_.get()));
  }

  const KernelSet& kernels_;
  Buffer<T> strip_;
};

}  // namespace hlo::structured
