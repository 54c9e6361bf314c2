// Which kernels a problem has, by the types of its factors and sums.
#pragma once
#include "backends/products/common/sums.h"

namespace hlo::gemm {

/// Calls f.operator()<T, W>() with the type T of real sums and the type W as which kernels read elements: T,
/// or narrower ones that they widen; not, if they never do. For sums of float, uint16_t are BF16 codes.
template <class F>
void VisitStored(ComputeType compute, ElementType type, F&& f) {
  const auto bytes = [&]<class T>() {
    return IsSigned(type) ? f.template operator()<T, int8_t>() : f.template operator()<T, uint8_t>();
  };
  if (IsComplex(type)) return;
  if (IsStoredAs(type, compute))
    return VisitComputeType(compute, [&]<class T>(T) { f.template operator()<T, T>(); });
  // Elements of less than a byte are stored in one, extended.
  const int size = Info(type).host_bytes();
  if (compute == ComputeType::F32) {
    if (type == ElementType::BF16) return f.template operator()<float, uint16_t>();
    if (type == ElementType::F16) return f.template operator()<float, _Float16>();
    if (IsIntegral(type) && size == 1) return bytes.template operator()<float>();
  } else if (compute == ComputeType::U32 && IsIntegral(type)) {
    if (size == 1) return bytes.template operator()<uint32_t>();
    if (size != 2) return;
    return IsSigned(type) ? f.template operator()<uint32_t, int16_t>()
                          : f.template operator()<uint32_t, uint16_t>();
  }
}

/// Sums of integers of at most 16 bits whose results have no more may be taken in so many, where kernels do.
inline bool HasShortSums(const Problem& problem, const KernelSet& kernels) {
  const auto is_short = [](ElementType t) { return IsIntegral(t) && !IsPred(t) && Info(t).bits <= 16; };
  return kernels.shift_short_u16.weigh != nullptr && problem.compute == ComputeType::U32 &&
         is_short(problem.type) && is_short(problem.lhs.type) && is_short(problem.rhs.type);
}

/// Calls f with the kernels (FactorKernels) for how both factors are stored and sums are taken in
/// ComputeType, by which ways are chosen; not, if there are none on this instruction set.
template <class F>
void VisitWideFactors(const Problem& problem, const KernelSet& kernels, F&& f) {
  const auto visit = [&](const auto& factors) {
    if (factors.lanes > 0) f(factors);
  };
  // Where PRED is added, other elements than 0 are 1.
  if (IsPred(problem.type)) return;
  const bool plain = IsPlain(problem, problem.lhs) && IsPlain(problem, problem.rhs);
  if (IsComplex(problem.type)) {
    if (!plain) return;
    return problem.compute == ComputeType::F64 ? visit(kernels.factors_c128) : visit(kernels.factors_c64);
  }
  if (!plain && problem.lhs.type != problem.rhs.type) return;
  VisitStored(problem.compute, problem.lhs.type, [&]<class T, class W>() {
    if constexpr (kExists<FactorKernels<T, W>>) visit(kernels.of<FactorKernels<T, W>>());
  });
}

/// The same, of kernels that may take sums in fewer bits.
template <class F>
void VisitFactors(const Problem& problem, const KernelSet& kernels, F&& f) {
  if (!HasShortSums(problem, kernels)) return VisitWideFactors(problem, kernels, f);
  if (problem.lhs.type != problem.rhs.type) return;
  if (Info(problem.lhs.type).host_bytes() == 2) return f(kernels.factors_short_u16);
  if (IsSigned(problem.lhs.type)) return f(kernels.factors_short_s8);
  f(kernels.factors_short_u8);
}

/// Calls f(T{}) with the type of a number of the sums, complex ones too.
template <class F>
void VisitNumber(const Problem& problem, const KernelSet& kernels, F&& f) {
  if (HasShortSums(problem, kernels)) return f(uint16_t());
  if (!IsComplex(problem.type)) return VisitComputeType(problem.compute, f);
  if (problem.compute == ComputeType::F64) return f(std::complex<double>());
  f(std::complex<float>());
}

/// The same as ToCompute() and FromCompute(), by numbers.
template <class T>
void ToNumbers(const Problem& problem, const Operand& operand, const KernelSet& kernels, const void* elements,
               int64_t count, T* out) {
  ToCompute(problem, operand, kernels, elements, count, out);
}
template <class R>
void ToNumbers(const Problem& problem, const Operand& operand, const KernelSet& kernels, const void* elements,
               int64_t count, std::complex<R>* out) {
  ToCompute(problem, operand, kernels, elements, count, reinterpret_cast<R*>(out));
}
template <class T>
void FromNumbers(ElementType type, const KernelSet& kernels, const T* sums, int64_t count, void* out) {
  FromCompute(type, kernels, sums, count, out);
}
template <class R>
void FromNumbers(ElementType type, const KernelSet& kernels, const std::complex<R>* sums, int64_t count,
                 void* out) {
  FromCompute(type, kernels, reinterpret_cast<const R*>(sums), count, out);
}

/// The same as StoreSums(), by numbers.
template <class T>
void StoreNumbers(const Problem& problem, const KernelSet& kernels, const Rectangle& where, const T* sums,
                  int64_t stride, void* out) {
  StoreSums(problem, kernels, where, sums, stride, out);
}
template <class R>
void StoreNumbers(const Problem& problem, const KernelSet& kernels, const Rectangle& where,
                  const std::complex<R>* sums, int64_t stride, void* out) {
  StoreSums(problem, kernels, where, reinterpret_cast<const R*>(sums), 2 * stride, out);
}

}  // namespace hlo::gemm
