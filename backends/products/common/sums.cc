#include "backends/products/common/sums.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include "ir/numeric/float_format.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kScanPiece = 1 << 16;
constexpr int64_t kRowsTransposed = 64;  // of results at a time
constexpr int64_t kLongLine = 8;         // of columns, stored by itself

}  // namespace

bool IsPlain(const Problem& problem, const Operand& operand) {
  return IsStoredAs(operand.type, problem.compute) && IsComplex(operand.type) == IsComplex(problem.type);
}

namespace {

/// Integers whose sums wrap, whatever type they become on the way.
template <class E, class T>
void Widen(const void* elements, int64_t count, T* out) {
  const E* from = static_cast<const E*>(elements);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(static_cast<int32_t>(from[i]));
}

}  // namespace

template <class T>
void ToCompute(const Problem& problem, const Operand& operand, const KernelSet& kernels, const void* elements,
               int64_t count, T* out) {
  if constexpr (std::is_same_v<T, float>)
    if (operand.type == ElementType::BF16 && !IsComplex(problem.type))
      return kernels.widen_bf16(static_cast<const uint16_t*>(elements), count, out);
  if constexpr (std::is_same_v<T, uint32_t>) {
    if (operand.type == ElementType::S8) return Widen<int8_t>(elements, count, out);
    if (operand.type == ElementType::U8) return Widen<uint8_t>(elements, count, out);
  }
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (Info(operand.type).host_bytes() == 2) return Widen<uint16_t>(elements, count, out);
    if (IsSigned(operand.type)) return Widen<int8_t>(elements, count, out);
    return Widen<uint8_t>(elements, count, out);
  }
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
  const uint64_t exponent = Format(type).exponent_mask();
  switch (Info(type).host_bytes()) {
    case sizeof(uint64_t): return HasFullExponent<uint64_t>(elements, count, exponent);
    case sizeof(uint32_t): return HasFullExponent<uint32_t>(elements, count, static_cast<uint32_t>(exponent));
    case sizeof(uint16_t): return HasFullExponent<uint16_t>(elements, count, static_cast<uint16_t>(exponent));
    default: break;
  }
  constexpr int64_t kAtOnce = 512;
  float values[kAtOnce];
  for (int64_t i = 0; i < count; i += kAtOnce) {
    const int64_t n = std::min(kAtOnce, count - i);
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

namespace {

/// Where rows and columns of a rectangle lie in the result.
struct Places {
  llvm::SmallVector<int64_t, 256> rows, columns;  // elements
  explicit Places(const Problem& problem, const Rectangle& where)
      : rows(static_cast<size_t>(where.rows)), columns(static_cast<size_t>(where.columns)) {
    problem.out_rows.Fill(where.row, where.rows, rows.data());
    problem.out_columns.Fill(where.column, where.columns, columns.data());
    const int64_t base = problem.out_base + problem.out_batch.At(where.batch);
    for (int64_t& row : rows) row += base + columns[0];
    for (int64_t& column : llvm::drop_begin(columns)) column -= columns[0];
    columns[0] = 0;
  }
  [[nodiscard]] int64_t row_count() const { return static_cast<int64_t>(rows.size()); }
  [[nodiscard]] int64_t column_count() const { return static_cast<int64_t>(columns.size()); }
  /// All columns are as far from one another, which is returned; 0: they are not.
  [[nodiscard]] int64_t ColumnStride() const {
    const int64_t stride = columns.size() > 1 ? columns[1] : 1;
    for (size_t j = 2; j < columns.size(); ++j)
      if (columns[j] != columns[j - 1] + stride) return 0;
    return stride;
  }
  /// Columns that are neighbours: the first and how many.
  [[nodiscard]] llvm::SmallVector<std::pair<int64_t, int64_t>, 4> Lines() const {
    llvm::SmallVector<std::pair<int64_t, int64_t>, 4> lines;
    for (size_t j = 0; j < columns.size(); ++j) {
      if (j == 0 || columns[j] != columns[j - 1] + 1) lines.emplace_back(static_cast<int64_t>(j), 0);
      ++lines.back().second;
    }
    return lines;
  }
  /// The row after those from `row` on that are `stride` apart.
  [[nodiscard]] int64_t EndOfRun(int64_t row, int64_t stride) const {
    auto end = static_cast<size_t>(row) + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + stride) ++end;
    return static_cast<int64_t>(end);
  }
};

/// Stores rows [begin, end), neighbours in the result, whose columns are `stride` apart there.
template <class E>
void StoreTransposed(const Places& places, int64_t begin, int64_t end, int64_t stride, const E* elements,
                     const KernelSet& kernels, E* out) {
  const int64_t columns = places.column_count();
  KernelSet::Transpose<E>* const transpose = TransposeOf<E>(kernels);
  const E* rows[kRowsTransposed];
  int64_t i = begin;
  for (int64_t count = 0; transpose != nullptr && end - i >= 4; i += count) {
    count = std::min(kRowsTransposed, (end - i) / 4 * 4);
    for (int64_t r = 0; r < count; ++r) rows[r] = elements + (i - begin + r) * columns;
    transpose(rows, columns, count, out + places.rows[static_cast<size_t>(i)], stride);
  }
  for (; i < end; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[places.rows[static_cast<size_t>(i)] + j * stride] = elements[(i - begin) * columns + j];
}

/// Stores rows of few neighbouring columns that are no neighbours: all are converted at once.
template <class T>
void StoreShortRows(const Problem& problem, const KernelSet& kernels, const Places& places, const T* sums,
                    void* out) {
  const int64_t columns = places.column_count(), rows = places.row_count(),
                bytes = Info(problem.type).host_bytes(), parts = IsComplex(problem.type) ? 2 : 1;
  llvm::SmallVector<uint8_t, 4096> elements(static_cast<size_t>(kRowsTransposed * columns * bytes));
  for (int64_t i = 0; i < rows; i += kRowsTransposed) {
    const int64_t count = std::min(kRowsTransposed, rows - i);
    FromCompute(problem.type, kernels, sums + i * columns * parts, count * columns, elements.data());
    VisitSize(bytes, [&](auto tag) {
      using E = decltype(tag);
      const E* from = reinterpret_cast<const E*>(elements.data());
      for (int64_t r = i; r < i + count; ++r) {
        E* to = static_cast<E*>(out) + places.rows[static_cast<size_t>(r)];
        for (int64_t j = 0; j < columns; ++j) to[j] = *from++;
      }
    });
  }
}

}  // namespace

template <class T>
void StoreSums(const Problem& problem, const KernelSet& kernels, const Rectangle& where, const T* sums,
               int64_t stride, void* out) {
  if (where.rows == 0 || where.columns == 0) return;
  const int64_t bytes = Info(problem.type).host_bytes(), columns = where.columns;
  const Places places(problem, where);
  auto* const target = static_cast<uint8_t*>(out);
  const auto lines = places.Lines();
  const int64_t parts = IsComplex(problem.type) ? 2 : 1;
  if (lines.size() == 1 && stride == columns * parts && columns < kLongLine &&
      places.EndOfRun(0, columns) == 1)
    return StoreShortRows(problem, kernels, places, sums, out);
  if (columns >= kLongLine * static_cast<int64_t>(lines.size()) || lines.size() == 1) {
    for (int64_t i = 0, end = 0; i < where.rows; i = end) {
      // Neighbouring rows at once.
      end = lines.size() == 1 && stride == columns ? places.EndOfRun(i, columns) : i + 1;
      for (const auto& [begin, count] : lines)
        FromCompute(
            problem.type, kernels, sums + i * stride + begin * parts, (end - i) * count,
            target +
                (places.rows[static_cast<size_t>(i)] + places.columns[static_cast<size_t>(begin)]) * bytes);
    }
    return;
  }
  const int64_t column_stride = places.ColumnStride();
  llvm::SmallVector<uint8_t, 4096> elements(static_cast<size_t>(kRowsTransposed * columns * bytes));
  for (int64_t i = 0, end = 0; i < where.rows; i = end) {
    end = column_stride == 0 ? i + 1 : std::min(places.EndOfRun(i, 1), i + kRowsTransposed);
    for (int64_t r = i; r < end; ++r)
      FromCompute(problem.type, kernels, sums + r * stride, columns,
                  elements.data() + (r - i) * columns * bytes);
    VisitSize(bytes, [&](auto tag) {
      using E = decltype(tag);
      const E* from = reinterpret_cast<const E*>(elements.data());
      E* to = static_cast<E*>(out);
      if (column_stride != 0) return StoreTransposed(places, i, end, column_stride, from, kernels, to);
      for (int64_t j = 0; j < columns; ++j)
        to[places.rows[static_cast<size_t>(i)] + places.columns[static_cast<size_t>(j)]] = from[j];
    });
  }
}

#define HLO_INSTANTIATE(T)                                                                                \
  template void ToCompute<T>(const Problem&, const Operand&, const KernelSet&, const void*, int64_t, T*); \
  template void FromCompute<T>(ElementType, const KernelSet&, const T*, int64_t, void*);                  \
  template void StoreSums<T>(const Problem&, const KernelSet&, const Rectangle&, const T*, int64_t, void*);
HLO_INSTANTIATE(float)
HLO_INSTANTIATE(double)
HLO_INSTANTIATE(uint16_t)
HLO_INSTANTIATE(uint32_t)
HLO_INSTANTIATE(uint64_t)
#undef HLO_INSTANTIATE

}  // namespace hlo::gemm
