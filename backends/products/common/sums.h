// Between elements of arrays and values in which sums are taken.
#pragma once
#include "backends/products/common/kernels.h"
#include "backends/products/common/problem.h"

namespace hlo::gemm {

/// The bits of a complex number in double precision.
struct Uint128 {
  uint64_t low = 0, high = 0;
  Uint128() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): like others
  Uint128(int value) : low(static_cast<uint64_t>(value)) {}
};

/// What kernels have for turning round elements of that size; null if nothing.
template <class E>
KernelSet::Transpose<E>* TransposeOf(const KernelSet& kernels) {
  if constexpr (sizeof(E) == 1) return kernels.transpose8;
  if constexpr (sizeof(E) == 2) return kernels.transpose16;
  if constexpr (sizeof(E) == 4) return kernels.transpose32;
  if constexpr (sizeof(E) == 8) return kernels.transpose64;
  return nullptr;
}

/// Calls f(E{}) with an unsigned integer type of a size.
template <class F>
void VisitSize(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 16: return f(Uint128{});
    default: return f(uint64_t{});
  }
}

/// The operand's elements are values of the compute type as they are.
bool IsPlain(const Problem& problem, const Operand& operand);

/// Converts `count` elements of an operand (to pairs, if the result is complex).
template <class T>
void ToCompute(const Problem& problem, const Operand& operand, const KernelSet& kernels, const void* elements,
               int64_t count, T* out);

/// Rounds or wraps `count` sums to elements of the result's type.
template <class T>
void FromCompute(ElementType type, const KernelSet& kernels, const T* sums, int64_t count, void* out);

/// True if an array of `count` elements holds an infinity or a NaN.
bool HasNonFinite(ElementType type, const void* elements, int64_t count);

/// A rectangle of the result of one batch.
struct Rectangle {
  int64_t batch, row, rows, column, columns;
};
/// Rounds and stores sums where the result has them; row i of the rectangle at sums + i * stride.
template <class T>
void StoreSums(const Problem& problem, const KernelSet& kernels, const Rectangle& where, const T* sums,
               int64_t stride, void* out);

}  // namespace hlo::gemm
