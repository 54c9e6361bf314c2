// Fourier transforms as NVIDIA's library takes them.
#pragma once
#include "backends/gpu/libraries/cufft_api.h"
#include "backends/gpu/libraries/library.h"
#include "ir/attrs.h"

namespace hlo::gpu {

/// A row of fft_types.def.
struct FftTypes {
  CufftType type;
  ElementType real;
  FftType transform;
  llvm::StringLiteral text;
  int64_t least;
};

/// Transforms of arrays that follow each other, dimensions row-major; without a factor.
struct LibraryFft {
  const FftTypes* types = nullptr;
  llvm::SmallVector<int64_t, 3> lengths;  // of the whole, where half of it is stored
  int64_t batch = 1;
};

/// Whether an fft instruction is better done by the library, where there is one, than by kernels or the host.
bool PaysFftCall(const Instruction& fft);
/// What a custom call of `UnscaledFft` is for the library. Declines other instructions, and what is empty.
Result<LibraryFft> LibraryFftOf(const Instruction& call);
std::string ToString(const LibraryFft& fft);

}  // namespace hlo::gpu
