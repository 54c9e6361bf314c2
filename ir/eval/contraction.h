// Sums of products: what dot, ragged-dot, scaled-dot and convolution share.
#pragma once
#include "ir/attrs.h"
#include "ir/eval/gemm.h"
#include "ir/literal.h"

namespace hlo {

/// Dimension numbers of a dot: the k-th contracting (batch) dimensions of both sides pair up.
struct DotDims {
  Dims lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
};

/// dot(lhs, rhs) of the given result shape (dimensions: batch, free lhs, free rhs) and element type;
/// verified dimension numbers. Run-time sizes of dynamic dimensions are respected and carried over.
/// After an interrupt the contents are undefined: the caller checks.
Literal Contract(const DotDims& dims, const Literal& lhs, const Literal& rhs, const Shape& shape);

/// Evaluates `problem`, whose offsets count elements of the literals, into `result` in the arithmetic of
/// its type: operands convert to the result type, FP sums are taken in at least F32 and rounded once,
/// integers wrap, PRED is OR of ANDs. Result elements outside the problem keep arbitrary values.
void ContractInto(GemmProblem problem, const Literal& lhs, const Literal& rhs, Literal& result);

}  // namespace hlo
