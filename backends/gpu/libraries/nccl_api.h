// The interface of NCCL in declarations of our own: nothing of CUDA is needed to build (nccl_abi_test
// compares them).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::gpu {

using NcclComm = void*;

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class NcclStatus : int {
#define NCCL_STATUS(Kind, code, name, text) Kind = code,
#include "backends/gpu/libraries/nccl_statuses.def"
};
enum class NcclType : int { S8, U8, S32, U32, S64, U64, F16, F32, F64, BF16 };
enum class NcclReduction : int { Sum, Product, Max, Min };
// NOLINTEND(performance-enum-size)

/// What is called of the library.
struct NcclApi {
#define NCCL_FUNCTION(name, symbol, parameters) NcclStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/nccl_functions.def"
};

}  // namespace hlo::gpu
