// Moving elements between arrays: one engine behind broadcast, transpose, slice, pad, concatenate, …
#pragma once
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo {

/// Fills `n` elements of `width` bytes (1, 2, 4, 8 or 16) with one value.
void FillElements(void* out, const void* value, int width, int64_t n);

/// One dimension of a copy; strides in elements, of any sign.
struct CopyDim {
  int64_t size;
  int64_t to_stride;
  int64_t from_stride;
};

/// Copies to[Σ i·to_stride] = from[Σ i·from_stride] for all indices, on all cores if it is much.
/// Target elements must be distinct; `from` and `to` do not overlap. Dimensions may come in any order.
void StridedCopy(void* to, const void* from, int width, llvm::ArrayRef<CopyDim> dims);

/// The same copy prepared for repeated use on one thread.
class WindowCopy {
 public:
  WindowCopy(int width, llvm::ArrayRef<CopyDim> dims);
  /// Elements copied at a time.
  [[nodiscard]] int64_t count() const { return count_; }
  void Run(void* to, const void* from) const;

 private:
  int width_;
  int64_t count_ = 1;
  llvm::SmallVector<CopyDim, 6> dims_;
};

/// Dimensions of size 1 dropped, ordered by falling target stride, neighbours merged that form one
/// dimension in source and target.
llvm::SmallVector<CopyDim, 6> NormaliseCopy(llvm::ArrayRef<CopyDim> dims);

/// Row-major strides of an array.
llvm::SmallVector<int64_t, 6> RowMajorStrides(llvm::ArrayRef<int64_t> dims);

}  // namespace hlo
