// Batched matrix products over tensors addressed through offset tables, so that transposes, windows
// and groups cost nothing but the tables.
#pragma once
#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace hlo {

using Offsets = std::vector<int64_t>;

/// One loop of an index space: its extent and the distance between neighbours, in elements.
struct Axis {
  int64_t size, stride;
};
/// Offsets of all positions, the last axis fastest.
Offsets FlattenAxes(llvm::ArrayRef<Axis> axes);

/// out[batch_out[b] + out_m[m] + out_n[n]] =
///     sum over k of lhs[batch_lhs[b] + lhs_m[m] + lhs_k[k]] * rhs[batch_rhs[b] + rhs_k[k] + rhs_n[n]].
/// Tables of one index have one length; all offsets are in elements.
struct GemmProblem {
  Offsets batch_lhs, batch_rhs, batch_out;
  Offsets lhs_m, lhs_k, rhs_k, rhs_n, out_m, out_n;
};

/// A factor: elements of type T, or for float also BF16 codes, which are widened on the fly.
struct GemmSource {
  const void* data;
  bool bf16 = false;
};

/// Computes the products; T is float, double, uint32_t or uint64_t. Sums are taken in T in an order
/// that depends on the sizes only. An empty contraction stores zeros.
template <class T>
void Gemm(const GemmProblem& problem, GemmSource lhs, GemmSource rhs, T* out);

}  // namespace hlo
