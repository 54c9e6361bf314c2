// Products by tile registers.
#pragma once
#include <optional>

#include "backends/gemm/amx_kernels.h"
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"

namespace hlo::gemm {

/// How tile registers compute a problem, if they can and it is large enough to be worth it.
std::optional<AmxKind> AmxKindFor(const Problem& problem);

/// Computes a problem of that kind. `blocks`: its steps, cut in pieces of at most kAmxDepthBytes.
void RunAmx(const Problem& problem, AmxKind kind, const std::vector<Block>& blocks, const KernelSet& kernels,
            const void* lhs, const void* rhs, void* out);

inline constexpr int64_t kAmxDepthBytes = 1024;  // of a row of steps that are multiplied at a time

}  // namespace hlo::gemm
