// The interface of cuFFT in declarations of our own: nothing of CUDA is needed to build (abi_test compares
// them).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::gpu {

using CufftHandle = int;

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class CufftStatus : int {
#define CUFFT_STATUS(Kind, code, name, text) Kind = code,
#include "backends/gpu/libraries/cufft_statuses.def"
};
/// From what to what: real numbers (R, of double precision D) and complex ones (C, Z).
enum class CufftType : int { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
// NOLINTEND(performance-enum-size)
inline constexpr int kCufftForward = -1, kCufftInverse = 1;

/// What is called of the library.
struct CufftApi {
#define CUFFT_FUNCTION(name, symbol, parameters) CufftStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/cufft_functions.def"
};

}  // namespace hlo::gpu
