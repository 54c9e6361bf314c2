// What libraries for the emulated GPU share: arrays of the GPU on the host.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/gpu/libraries/lent_driver.h"

namespace hlo::gpu {

/// What the function `SetDriver` of the library was given.
inline const LentDriver* driver = nullptr;

inline bool Succeeded(CuResult result) { return static_cast<int>(result) == 0; }
template <class T>
bool Fetch(const void* from, size_t count, std::vector<T>& values, void* stream) {
  values.resize(count);
  return count == 0 || (Succeeded(driver->to_host(values.data(), reinterpret_cast<uint64_t>(from),
                                                  count * sizeof(T), stream)) &&
                        Succeeded(driver->finish(stream)));
}
template <class T>
bool Store(void* to, const std::vector<T>& values, void* stream) {
  return values.empty() || (Succeeded(driver->to_device(reinterpret_cast<uint64_t>(to), values.data(),
                                                        values.size() * sizeof(T), stream)) &&
                            Succeeded(driver->finish(stream)));
}

}  // namespace hlo::gpu
