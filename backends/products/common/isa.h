// Instruction sets that kernels are compiled for.
#pragma once
#include <cstdint>

namespace hlo::gemm {

enum class Isa : uint8_t { Baseline, Avx2, Avx512 };

/// What kernels may use. For products of BF16 numbers, whose subnormals they take as zero, and of 8-bit
/// integers: `amx`, tile registers; `pairs`, AVX512-BF16; `fours`, AVX512-VNNI.
struct Target {
  Isa isa = Isa::Baseline;
  bool amx = false, pairs = false, fours = false;
  bool operator==(const Target&) const = default;
};

}  // namespace hlo::gemm
