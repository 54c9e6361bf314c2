#include "backends/gemm/sums.h"

#include <cstring>

namespace hlo::gemm {

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

template <class T>
void StoreSums(const Problem& problem, const Rectangle& where, const T* sums, int64_t stride, void* out) {
  const int64_t bytes = Info(problem.type).host_bytes(), columns = where.columns;
  const int64_t base = problem.out_base + problem.out_batch.At(where.batch);
  llvm::SmallVector<int64_t, 512> offsets(static_cast<size_t>(columns));
  problem.out_columns.Fill(where.column, columns, offsets.data());
  bool side_by_side = true;
  for (size_t j = 1; j < offsets.size(); ++j) side_by_side &= offsets[j] == offsets[j - 1] + 1;
  llvm::SmallVector<uint8_t, 4096> elements;
  if (!side_by_side) elements.resize(static_cast<size_t>(columns * bytes));
  for (int64_t i = 0; i < where.rows; ++i, sums += stride) {
    uint8_t* to = static_cast<uint8_t*>(out) + (base + problem.out_rows.At(where.row + i)) * bytes;
    ConvertFromCompute(sums, problem.type, columns, side_by_side ? to + offsets[0] * bytes : elements.data());
    if (side_by_side) continue;
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(to + offsets[static_cast<size_t>(j)] * bytes, elements.data() + j * bytes,
                  static_cast<size_t>(bytes));
  }
}

#define HLO_INSTANTIATE(T)                                                                                \
  template void ToCompute<T>(const Problem&, const Operand&, const KernelSet&, const void*, int64_t, T*); \
  template void StoreSums<T>(const Problem&, const Rectangle&, const T*, int64_t, void*);
HLO_INSTANTIATE(float)
HLO_INSTANTIATE(double)
HLO_INSTANTIATE(uint32_t)
HLO_INSTANTIATE(uint64_t)
#undef HLO_INSTANTIATE

}  // namespace hlo::gemm
