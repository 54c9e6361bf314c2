// NCCL: collectives between GPUs, by NVIDIA's library.
#pragma once
#include "backends/gpu/libraries/nccl_api.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// The functions of a library. Errors: unavailable-library, naming one that it lacks.
Result<NcclApi> ReadNccl(void* library);

}  // namespace hlo::gpu
