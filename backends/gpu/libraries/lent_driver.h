// What libraries for the emulated GPU are given: they do not find its driver.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hlo::gpu {

enum class CuResult : int;  // NOLINT(performance-enum-size): of the driver

/// Such a library has a function `SetDriver` that takes these.
struct LentDriver {
  CuResult (*to_host)(void* to, uint64_t from, size_t bytes, void* stream);
  CuResult (*to_device)(uint64_t to, const void* from, size_t bytes, void* stream);
  CuResult (*finish)(void* stream);
  /// Calls of this thread are for the GPU of this number from now on.
  CuResult (*use)(int gpu);
};

}  // namespace hlo::gpu
