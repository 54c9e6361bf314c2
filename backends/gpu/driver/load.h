// The driver of NVIDIA's GPUs, where it is installed.
#pragma once
#include "backends/gpu/driver/driver.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// The functions of libcuda.so.1, which is loaded the first time. Errors: unavailable-gpu, where it is not
/// there, or lacks a function.
Result<const DriverApi*> LoadDriver();

/// The functions of a library that is loaded. Errors: unavailable-gpu, for one that it lacks.
Result<DriverApi> ReadDriver(void* library);

}  // namespace hlo::gpu
