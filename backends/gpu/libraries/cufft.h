// cuFFT: Fourier transforms on a GPU, by NVIDIA's library.
#pragma once
#include "backends/gpu/libraries/cufft_api.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// The functions of a library. Errors: unavailable-library, naming one that it lacks.
Result<CufftApi> ReadCufft(void* library);

}  // namespace hlo::gpu
