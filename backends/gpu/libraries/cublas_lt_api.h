// The interface of cuBLASLt in declarations of our own: nothing of CUDA is needed to build (abi_test compares
// them).
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::gpu {

using CublasHandle = void*;
using CublasDesc = void*;
using CublasLayout = void*;
using CublasSearch = void*;

// NOLINTBEGIN(performance-enum-size): as wide as the library has them.
enum class CublasStatus : int {
#define CUBLAS_STATUS(Kind, code, name, text) Kind = code,
#include "backends/gpu/libraries/cublas_statuses.def"
};
/// What sums are made of, and what operands are rounded to.
enum class CublasCompute : int { F32 = 68, F64 = 70, S32 = 72, FastTF32 = 77 };
enum class CudaType : int { F32 = 0, F64 = 1, F16 = 2, S8 = 3, C64 = 4, C128 = 5, S32 = 10, BF16 = 14 };
enum class CublasTranspose : int { No = 0, Yes = 1, Conjugate = 2 };
enum class CublasEpilogue : int { None = 1, Relu = 2, Bias = 4, ReluBias = 6 };
enum class CublasLayoutAttribute : int { BatchCount = 5, BatchStride = 6 };
enum class CublasDescAttribute : int { TransposeA = 3, TransposeB = 4, Epilogue = 7, BiasPointer = 8 };
enum class CublasSearchAttribute : int {
  WorkspaceBytes = 1,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};
// NOLINTEND(performance-enum-size)

struct CublasAlgorithm {
  uint64_t data[8];
};
/// What the library answers to a search.
struct CublasHeuristic {
  CublasAlgorithm algorithm;
  size_t workspace_bytes;
  CublasStatus state;
  float waves;
  int reserved[4];
};

/// What is called of the library.
struct CublasLtApi {
#define CUBLAS_LT_FUNCTION(name, symbol, parameters) CublasStatus(*name) parameters = nullptr;
#include "backends/gpu/libraries/cublas_lt_functions.def"
};

}  // namespace hlo::gpu
