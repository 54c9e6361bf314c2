// The interface of cuBLAS in declarations of our own: nothing of CUDA is needed to build (cusolver_abi_test
// compares them).
#pragma once
#include "backends/gpu/libraries/cublas_lt_api.h"

namespace hlo::gpu {

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class CublasSide : int { Left = 0, Right = 1 };
enum class CublasFill : int { Lower = 0, Upper = 1 };
enum class CublasDiagonal : int { NonUnit = 0, Unit = 1 };
// NOLINTEND(performance-enum-size)

/// What is called of the library.
struct CublasApi {
#define CUBLAS_FUNCTION(name, symbol, parameters) CublasStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/cublas_functions.def"
};

}  // namespace hlo::gpu
