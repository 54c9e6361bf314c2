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

/// Row-major strides of an array.
llvm::SmallVector<int64_t, 6> RowMajorStrides(llvm::ArrayRef<int64_t> dims);

}  // namespace hlo
