// Arithmetic that host instructions do not have: other roundings, narrow types, approximations (ptx.md §2.3,
// §2.4).
#pragma once
#include <cstdint>

#include "backends/gpu/ptx/module.h"

namespace hlo::gpu {

/// The bits of an arithmetic instruction's result for one lane of type `scalar`, with its rounding; .ftz,
/// .sat and .relu are the caller's.
uint64_t SoftArithmetic(const ptx::Instruction* inst, uint32_t scalar, uint64_t a, uint64_t b, uint64_t c);
/// ex2, lg2, sin, cos, tanh, rsqrt and the like: the exact result, correctly rounded but for halfway cases.
uint64_t Approximate(const ptx::Instruction* inst, uint32_t scalar, uint64_t a, uint64_t b);
/// The result of a cvt, with all its modifiers.
uint64_t Convert(const ptx::Instruction* inst, uint64_t a, uint64_t b);

/// A number of type F16, BF16, F32, F64, E4M3 or E5M2 as f64, and back to nearest even.
double ToDouble(ptx::Type type, uint64_t bits);
uint64_t FromDouble(ptx::Type type, double value);
/// The NaN that instructions give.
uint64_t CanonicalNan(ptx::Type type);

}  // namespace hlo::gpu
