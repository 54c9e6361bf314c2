// Convolutions in the types and orders that have fast kernels.
#pragma once
#include "backends/gemm/isa.h"
#include "ir/module.h"

namespace hlo::cpu {

/// convolution(x, w) of elements of at most 8 bits that kernels and libraries do not multiply becomes
/// convolution(convert(x), convert(w)): floats are read as BF16, which holds all their values, integers of
/// less than a byte as bytes of the same sign. Results that are such floats become convert(convolution) of
/// F32, but for those that gemm::IsOfLanes(), which reads and rounds codes. Exact: sums are taken and rounded
/// as before.
/// Images whose positions are minor, as in bf01, become transpose(convolution(transpose(x), w)) with their
/// features minor where windows make enough of each element to pay for it; so do gradients by weights, both
/// of whose operands are such images. `target` says what kernels may use.
void AdaptConvolutions(Module& module, llvm::function_ref<gemm::Target()> target);

}  // namespace hlo::cpu
