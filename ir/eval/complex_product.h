// Products of complex matrices in double precision.
#pragma once
#include "ir/eval/gemm.h"

namespace hlo {

/// The product described by gemm.h over complex<double> elements (pairs of doubles). The four real
/// products of a term are summed apart, in order, without fused multiply-add, and combined at the end;
/// an odd last column sums even and odd terms apart. This is the order in which XLA's CPU library adds, so
/// that results agree where the sums cancel.
void ComplexProduct(const GemmProblem& problem, const double* lhs, const double* rhs, double* out);

}  // namespace hlo
