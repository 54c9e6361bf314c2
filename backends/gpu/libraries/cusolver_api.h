// The interface of cuSOLVER in declarations of our own: nothing of CUDA is needed to build (cusolver_abi_test
// compares them).
#pragma once
#include "backends/gpu/libraries/cublas_api.h"

namespace hlo::gpu {

using CusolverHandle = void*;
using CusolverParams = void*;

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class CusolverStatus : int {
#define CUSOLVER_STATUS(Kind, code, name, text) Kind = code,
#include "backends/gpu/libraries/cusolver_statuses.def"
};
enum class CusolverVectors : int { No = 0, Yes = 1 };
// NOLINTEND(performance-enum-size)

/// What is called of the library.
struct CusolverApi {
#define CUSOLVER_FUNCTION(name, symbol, parameters) CusolverStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/cusolver_functions.def"
};

}  // namespace hlo::gpu
