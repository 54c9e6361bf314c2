// Instruction sets that kernels are compiled for.
#pragma once
#include <cstdint>

namespace hlo::gemm {

enum class Isa : uint8_t { Baseline, Avx2, Avx512 };

/// What a core multiplies, for the costs of ways: the backend fills in its machine's.
struct Rates {
  double cycles_per_ns = 3;
  double vectors = 2;  // of floats, multiplied and added in a cycle
  // As many times more products of BF16 numbers and of bytes: by instructions for several steps, by tile
  // registers.
  double pairs = 2, fours = 4, pairs_of_tiles = 16, fours_of_tiles = 32;
  bool operator==(const Rates&) const = default;
};

/// What kernels may use. For products of BF16 numbers, whose subnormals they take as zero, and of 8-bit
/// integers: `amx`, tile registers; `pairs`, AVX512-BF16; `fours`, AVX512-VNNI.
struct Target {
  Isa isa = Isa::Baseline;
  bool amx = false, pairs = false, fours = false;
  bool libraries = true;  // libraries may be asked
  Rates rates{};
  bool operator==(const Target&) const = default;
};

}  // namespace hlo::gemm
