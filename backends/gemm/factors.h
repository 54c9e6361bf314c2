// Which kernels of few features a problem has, by the types of its factors and sums.
#pragma once
#include "backends/gemm/sums.h"

namespace hlo::gemm {

/// Calls f with the kernels (FactorKernels) for how both factors are stored and sums are taken; not, if there
/// are none on this instruction set.
template <class F>
void VisitFactors(const Problem& problem, const KernelSet& kernels, F&& f) {
  const auto visit = [&](const auto& factors) {
    if (factors.lanes > 0) f(factors);
  };
  // Where PRED is added, other elements than 0 are 1.
  if (IsPred(problem.type)) return;
  if (IsPlain(problem, problem.lhs) && IsPlain(problem, problem.rhs)) {
    switch (problem.compute) {
      case ComputeType::F32:
        return IsComplex(problem.type) ? visit(kernels.factors_c64) : visit(kernels.factors_f32);
      case ComputeType::F64:
        return IsComplex(problem.type) ? visit(kernels.factors_c128) : visit(kernels.factors_f64);
      case ComputeType::U32: return visit(kernels.factors_u32);
      case ComputeType::U64: return visit(kernels.factors_u64);
    }
  }
  const ElementType type = problem.lhs.type;
  if (problem.rhs.type != type || IsPred(type) || IsComplex(problem.type)) return;
  if (problem.compute == ComputeType::F32) {
    if (type == ElementType::BF16) visit(kernels.factors_bf16);
    if (type == ElementType::F16) visit(kernels.factors_f16);
  } else if (problem.compute == ComputeType::U32 && IsIntegral(type)) {
    // Elements of less than a byte are stored in one, extended.
    const int bytes = Info(type).host_bytes();
    if (bytes == 1) return IsSigned(type) ? visit(kernels.factors_s8) : visit(kernels.factors_u8);
    if (bytes == 2) return IsSigned(type) ? visit(kernels.factors_s16) : visit(kernels.factors_u16);
  }
}

/// Calls f(T{}) with the type of a number of the sums, complex ones too.
template <class F>
void VisitNumber(const Problem& problem, F&& f) {
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

}  // namespace hlo::gemm
