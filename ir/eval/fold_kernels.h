// Typed loops for reductions by one associative op: sums, products, extremes, bitwise ops.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/op.h"
#include "ir/types.h"

namespace hlo {

/// Folds elements of one type with one op. Elements are first loaded into a source type (float, double,
/// 32- or 64-bit integers), then folded into accumulators: double for floating sums, else the source type.
struct FoldKernels {
  ElementType source;       // type to load into: F32, F64, S32, U32, S64 or U64
  ElementType accumulator;  // F64 for floating sums, else `source`
  /// acc[j] = op(acc[j], x[j]) for j < n.
  void (*row)(void* acc, const void* x, int64_t n);
  /// *acc = op(*acc, op over x[0] … x[n-1]), lanes combined in a fixed tree unless `sequential`.
  void (*run)(void* acc, const void* x, int64_t n);
  /// acc[j] = op(acc[j], other[j]) on accumulators.
  void (*merge)(void* acc, const void* other, int64_t n);
  /// acc[j] = the identity of the op.
  void (*clear)(void* acc, int64_t n);
  /// Elements must be folded one after the other (floating products).
  bool sequential;
};

/// The loops for an op on elements of `type` (the parts, for sums of complex elements); null if the pair
/// needs rounding or a meaning of its own at every step.
const FoldKernels* FindFoldKernels(OpKind op, ElementType type);

/// Loads n real elements into kernels.source; `scratch` has room for n values and is used only if the
/// elements are not stored that way. Returns where they are.
const void* LoadForFold(const FoldKernels& kernels, ElementType type, const void* elements, int64_t n,
                        void* scratch);
/// Puts n accumulators into elements of `type`, rounding or wrapping.
void StoreFolded(const FoldKernels& kernels, const void* acc, ElementType type, int64_t n, void* elements);
/// Accumulators that hold the given elements (inits).
void LoadAccumulators(const FoldKernels& kernels, ElementType type, const void* elements, int64_t n,
                      void* acc);

}  // namespace hlo
