// Sums of products: what dot, ragged-dot, scaled-dot and convolution share.
#pragma once
#include "ir/attrs.h"
#include "ir/eval/compute_type.h"
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

/// Sums of products of the elements of two literals into a third in the arithmetic of its type: operands
/// convert to the result type, FP sums are taken in at least F32 and rounded once, integers wrap,
/// PRED is OR of ANDs.
class Contraction {
 public:
  /// The literals must outlive this.
  Contraction(const Literal& lhs, const Literal& rhs, Literal& result);
  /// Evaluates one problem, whose offsets count elements of the literals. With `exchanged` the left side
  /// of the problem is `rhs` and the right one `lhs`.
  void Run(GemmProblem problem, bool exchanged = false);
  /// From now on sums in F64 are taken in pairs of halves, whose error grows with the logarithm of their
  /// length (errata-2 18). Slower: for what is a reference.
  void SumInPairs() { in_pairs_ = true; }
  /// Makes all sums zero, for problems that do not cover the result.
  void ClearSums();
  /// Brings the sums into the result; elements no problem has written keep arbitrary values.
  void Finish();

 private:
  template <class T>
  void RunTyped(GemmProblem problem, const ComputeBuffer& left, const ComputeBuffer& right);

  Literal& result_;
  ElementType type_;
  ComputeType compute_;
  ComputeBuffer lhs_, rhs_;
  void* out_;  // the result's own storage, or `sums_`
  bool in_pairs_ = false;
  std::shared_ptr<uint8_t> sums_;  // in the compute type, where the result is stored otherwise
};

}  // namespace hlo
