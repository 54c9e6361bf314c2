// Strided copies by element width: dimensions are merged and ordered, runs copied, transposes blocked.
#include "ir/eval/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ir/support/parallel.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

using CopyDims = llvm::SmallVector<CopyDim, 6>;

template <class T>
void CopyRun(T* to, const T* from, const CopyDim& d) {
  if (d.to_stride == 1 && d.from_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(d.size) * sizeof(T));
  } else if (d.to_stride == 1 && d.from_stride == 0) {
    std::fill_n(to, d.size, *from);
  } else if (d.to_stride == 1 && d.from_stride == -1) {
    for (int64_t i = 0; i < d.size; ++i) to[i] = from[-i];
  } else if (d.to_stride == 1) {
    for (int64_t i = 0; i < d.size; ++i) to[i] = from[i * d.from_stride];
  } else {
    for (int64_t i = 0; i < d.size; ++i) to[i * d.to_stride] = from[i * d.from_stride];
  }
}

constexpr int64_t kTile = 16;

/// One full tile by way of a buffer: whole lines are read and whole lines written, whatever the strides.
template <class T>
void CopyTile(T* to, const T* from, int64_t to_stride, int64_t from_stride) {
  alignas(64) T tile[kTile][kTile];
  for (int64_t k = 0; k < kTile; ++k) {
    const T* line = from + k * from_stride;
    for (int64_t i = 0; i < kTile; ++i) tile[i][k] = line[i];
  }
  for (int64_t i = 0; i < kTile; ++i) std::memcpy(to + i * to_stride, tile[i], sizeof(tile[i]));
}

/// to[r, c] = from[c, r] in tiles, so that both sides use whole cache lines.
template <class T>
void CopyTransposed(T* to, const T* from, const CopyDim& rows, const CopyDim& columns) {
  const bool plain = rows.from_stride == 1 && columns.to_stride == 1;
  for (int64_t r = 0; r < rows.size; r += kTile) {
    const int64_t r_end = std::min(r + kTile, rows.size);
    for (int64_t c = 0; c < columns.size; c += kTile) {
      const int64_t c_end = std::min(c + kTile, columns.size);
      if (plain && r_end - r == kTile && c_end - c == kTile) {
        CopyTile(to + r * rows.to_stride + c, from + r + c * columns.from_stride, rows.to_stride,
                 columns.from_stride);
        continue;
      }
      for (int64_t i = r; i < r_end; ++i) {
        T* to_row = to + i * rows.to_stride;
        const T* from_row = from + i * rows.from_stride;
        for (int64_t k = c; k < c_end; ++k) to_row[k * columns.to_stride] = from_row[k * columns.from_stride];
      }
    }
  }
}

/// Copies with the dimensions inside `outer` handled at once: `inner` of them (1, or 2 for a transpose).
template <class T>
class Copier {
 public:
  Copier(T* to, const T* from, CopyDims dims) : to_(to), from_(from), dims_(std::move(dims)) {
    // A transpose: the source runs fastest along another dimension than the target. That one is
    // moved next to the last.
    const size_t last = dims_.size() - 1;
    if (dims_.size() >= 2 && std::abs(dims_[last].from_stride) > 1) {
      for (size_t d = 0; d < last; ++d) {
        if (std::abs(dims_[d].from_stride) != 1) continue;
        std::rotate(dims_.begin() + static_cast<ptrdiff_t>(d), dims_.begin() + static_cast<ptrdiff_t>(d) + 1,
                    dims_.begin() + static_cast<ptrdiff_t>(last));
        transpose_ = true;
        break;
      }
    }
    outer_ = dims_.size() - (transpose_ ? 2 : 1);
  }

  void Run() {
    int64_t outer_count = 1, inner_count = 1;
    for (size_t d = 0; d < dims_.size(); ++d) (d < outer_ ? outer_count : inner_count) *= dims_[d].size;
    constexpr int64_t kPieceBytes = 1 << 18;
    const int64_t piece = std::max<int64_t>(1, kPieceBytes / static_cast<int64_t>(sizeof(T)));
    if (outer_count > 1) {
      ParallelFor(0, outer_count, std::max<int64_t>(1, piece / inner_count),
                  [&](int64_t begin, int64_t end) { Outer(begin, end); });
      return;
    }
    // One big run or transpose: split its first dimension.
    const CopyDim& first = dims_[outer_];
    const int64_t below = inner_count / first.size;
    int64_t grain = std::max<int64_t>(1, piece / below);
    if (transpose_) grain = (grain + kTile - 1) / kTile * kTile;
    ParallelFor(0, first.size, grain, [&](int64_t begin, int64_t end) {
      CopyDim part = first;
      part.size = end - begin;
      Inner(to_ + begin * first.to_stride, from_ + begin * first.from_stride, part);
    });
  }

 private:
  void Inner(T* to, const T* from, const CopyDim& first) {
    if (transpose_)
      CopyTransposed(to, from, first, dims_.back());
    else
      CopyRun(to, from, first);
  }

  void Outer(int64_t begin, int64_t end) {
    llvm::SmallVector<int64_t, 6> index(outer_, 0);
    int64_t to = 0, from = 0, rest = begin;
    for (size_t d = outer_; d-- > 0;) {
      index[d] = rest % dims_[d].size;
      rest /= dims_[d].size;
      to += index[d] * dims_[d].to_stride;
      from += index[d] * dims_[d].from_stride;
    }
    for (int64_t i = begin; i < end; ++i) {
      Inner(to_ + to, from_ + from, dims_[outer_]);
      for (size_t d = outer_; d-- > 0;) {
        const CopyDim& dim = dims_[d];
        to += dim.to_stride;
        from += dim.from_stride;
        if (++index[d] < dim.size) break;
        index[d] = 0;
        to -= dim.size * dim.to_stride;
        from -= dim.size * dim.from_stride;
      }
    }
  }

  T* to_;
  const T* from_;
  CopyDims dims_;
  size_t outer_ = 0;
  bool transpose_ = false;
};

template <class T>
void Copy(void* to, const void* from, CopyDims dims) {
  if (dims.empty()) dims.push_back({1, 1, 1});
  Copier<T>(static_cast<T*>(to), static_cast<const T*>(from), std::move(dims)).Run();
}

template <class T>
void Fill(void* out, const void* value, int64_t n) {
  T v;
  std::memcpy(&v, value, sizeof(T));
  std::fill_n(static_cast<T*>(out), n, v);
}

}  // namespace

llvm::SmallVector<CopyDim, 6> NormaliseCopy(llvm::ArrayRef<CopyDim> dims) {
  CopyDims sorted;
  for (const CopyDim& d : dims)
    if (d.size != 1) sorted.push_back(d);
  llvm::sort(sorted, [](const CopyDim& a, const CopyDim& b) {
    return std::abs(a.to_stride) > std::abs(b.to_stride);
  });
  CopyDims merged;
  for (const CopyDim& d : sorted) {
    if (!merged.empty() && merged.back().to_stride == d.size * d.to_stride &&
        merged.back().from_stride == d.size * d.from_stride)
      merged.back() = {merged.back().size * d.size, d.to_stride, d.from_stride};
    else
      merged.push_back(d);
  }
  return merged;
}

void FillElements(void* out, const void* value, int width, int64_t n) {
  const auto fill = width == 1   ? &Fill<uint8_t>
                    : width == 2 ? &Fill<uint16_t>
                    : width == 4 ? &Fill<uint32_t>
                    : width == 8 ? &Fill<uint64_t>
                                 : &Fill<Bytes16>;
  fill(out, value, n);
}

void StridedCopy(void* to, const void* from, int width, llvm::ArrayRef<CopyDim> dims) {
  if (llvm::any_of(dims, [](const CopyDim& d) { return d.size <= 0; })) return;
  const auto copy = width == 1   ? &Copy<uint8_t>
                    : width == 2 ? &Copy<uint16_t>
                    : width == 4 ? &Copy<uint32_t>
                    : width == 8 ? &Copy<uint64_t>
                                 : &Copy<Bytes16>;
  copy(to, from, NormaliseCopy(dims));
}

WindowCopy::WindowCopy(int width, llvm::ArrayRef<CopyDim> dims) : width_(width), dims_(NormaliseCopy(dims)) {
  for (const CopyDim& d : dims) count_ *= std::max<int64_t>(d.size, 0);
}

namespace {
template <class T>
void CopyWindow(void* to, const void* from, llvm::ArrayRef<CopyDim> dims) {
  if (dims.empty()) {
    *static_cast<T*>(to) = *static_cast<const T*>(from);
  } else if (dims.size() == 1) {
    CopyRun(static_cast<T*>(to), static_cast<const T*>(from), dims[0]);
  } else if (dims.size() == 2 && dims[0].from_stride == 1 && dims[1].from_stride > 1) {
    CopyTransposed(static_cast<T*>(to), static_cast<const T*>(from), dims[0], dims[1]);
  } else {
    const CopyDim& d = dims[0];
    for (int64_t i = 0; i < d.size; ++i)
      CopyWindow<T>(static_cast<T*>(to) + i * d.to_stride, static_cast<const T*>(from) + i * d.from_stride,
                    dims.drop_front());
  }
}
}  // namespace

void WindowCopy::Run(void* to, const void* from) const {
  if (count_ == 0) return;
  const auto copy = width_ == 1   ? &CopyWindow<uint8_t>
                    : width_ == 2 ? &CopyWindow<uint16_t>
                    : width_ == 4 ? &CopyWindow<uint32_t>
                    : width_ == 8 ? &CopyWindow<uint64_t>
                                  : &CopyWindow<Bytes16>;
  copy(to, from, dims_);
}

llvm::SmallVector<int64_t, 6> RowMajorStrides(llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t, 6> strides(dims.size(), 1);
  // Sizes beside a 0 may have a product without room; nobody takes steps in an empty array.
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = static_cast<int64_t>(static_cast<uint64_t>(strides[d]) * static_cast<uint64_t>(dims[d]));
  return strides;
}

}  // namespace hlo
