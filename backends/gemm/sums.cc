#include "backends/gemm/sums.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kScanPiece = 1 << 16;

}  // namespace

bool IsPlain(const Problem& problem, const Operand& operand) {
  return IsStoredAs(operand.type, problem.compute) && IsComplex(operand.type) == IsComplex(problem.type);
}

template <class T>
void ToCompute(const Problem& problem, const Operand& operand, const KernelSet& kernels, const void* elements,
               int64_t count, T* out) {
  if constexpr (std::is_same_v<T, float>)
    if (operand.type == ElementType::BF16 && !IsComplex(problem.type))
      return kernels.widen_bf16(static_cast<const uint16_t*>(elements), count, out);
  ConvertToCompute(operand.type, elements, problem.type, count, out);
}

namespace {

/// Whether a masked exponent has all bits set anywhere.
template <class E>
bool HasFullExponent(const void* elements, int64_t count, E mask) {
  const E* codes = static_cast<const E*>(elements);
  std::atomic<bool> found = false;
  ParallelFor(0, count, kScanPiece, [&](int64_t begin, int64_t end) {
    bool any = false;
    for (int64_t i = begin; i < end; ++i) any |= (codes[i] & mask) == mask;
    if (any) found = true;
  });
  return found;
}

}  // namespace

bool HasNonFinite(ElementType type, const void* elements, int64_t count) {
  if (IsComplex(type)) {
    type = RealPartType(type);
    count *= 2;
  }
  if (!IsFloat(type) || !HasNan(type)) return false;
  switch (Info(type).host_bytes()) {
    case 8: return HasFullExponent<uint64_t>(elements, count, 0x7ff0000000000000);
    case 4: return HasFullExponent<uint32_t>(elements, count, 0x7f800000);
    case 2: return HasFullExponent<uint16_t>(elements, count, type == ElementType::BF16 ? 0x7f80 : 0x7c00);
    default: break;
  }
  float values[512];
  for (int64_t i = 0; i < count; i += 512) {
    const int64_t n = std::min<int64_t>(512, count - i);
    WidenToFloat(type, static_cast<const uint8_t*>(elements) + i, values, static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j)
      if (!std::isfinite(values[j])) return true;
  }
  return false;
}

template <class T>
void FromCompute(ElementType type, const KernelSet& kernels, const T* sums, int64_t count, void* out) {
  if constexpr (std::is_same_v<T, float>)
    if (type == ElementType::BF16) return kernels.narrow_bf16(sums, count, static_cast<uint16_t*>(out));
  ConvertFromCompute(sums, type, count, out);
}

template <class T>
void StoreSums(const Problem& problem, const KernelSet& kernels, const Rectangle& where, const T* sums,
               int64_t stride, void* out) {
  const int64_t bytes = Info(problem.type).host_bytes(), columns = where.columns;
  const int64_t base = problem.out_base + problem.out_batch.At(where.batch);
  llvm::SmallVector<int64_t, 512> offsets(static_cast<size_t>(columns));
  problem.out_columns.Fill(where.column, columns, offsets.data());
  bool side_by_side = true;
  for (size_t j = 1; j < offsets.size(); ++j) side_by_side &= offsets[j] == offsets[j - 1] + 1;
  const auto out_row = [&](int64_t i) { return problem.out_rows.At(where.row + i); };
  llvm::SmallVector<uint8_t, 4096> elements;
  if (!side_by_side) elements.resize(static_cast<size_t>(columns * bytes));
  for (int64_t i = 0; i < where.rows; ++i, sums += stride) {
    const int64_t row = out_row(i);
    uint8_t* to = static_cast<uint8_t*>(out) + (base + row) * bytes;
    if (side_by_side && stride == columns) {  // neighbouring rows at once
      int64_t count = 1;
      while (i + count < where.rows && out_row(i + count) == row + count * columns) ++count;
      FromCompute(problem.type, kernels, sums, count * columns, to + offsets[0] * bytes);
      sums += (count - 1) * stride;
      i += count - 1;
      continue;
    }
    FromCompute(problem.type, kernels, sums, columns,
                side_by_side ? to + offsets[0] * bytes : elements.data());
    if (side_by_side) continue;
    VisitSize(bytes, [&](auto tag) {
      using E = decltype(tag);
      for (size_t j = 0; j < offsets.size(); ++j)
        reinterpret_cast<E*>(to)[offsets[j]] = reinterpret_cast<const E*>(elements.data())[j];
    });
  }
}

#define HLO_INSTANTIATE(T)                                                                                \
  template void ToCompute<T>(const Problem&, const Operand&, const KernelSet&, const void*, int64_t, T*); \
  template void FromCompute<T>(ElementType, const KernelSet&, const T*, int64_t, void*);                  \
  template void StoreSums<T>(const Problem&, const KernelSet&, const Rectangle&, const T*, int64_t, void*);
HLO_INSTANTIATE(float)
HLO_INSTANTIATE(double)
HLO_INSTANTIATE(uint32_t)
HLO_INSTANTIATE(uint64_t)
#undef HLO_INSTANTIATE

}  // namespace hlo::gemm
