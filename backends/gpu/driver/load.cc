#include "backends/gpu/driver/load.h"

#include <dlfcn.h>

#include <cstring>

namespace hlo::gpu {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

/// cuGetProcAddress_v2 of CUDA 12.
using GetAddress = CuResult (*)(const char* symbol, void** function, int version, uint64_t flags,
                                int* status);

Result<DriverApi> Load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error("unavailable-gpu", {},
                 "no NVIDIA driver ({0} not found); --platform=gpu-emu runs it on the CPU", kLibrary);
  return ReadDriver(library);
}

}  // namespace

Result<DriverApi> ReadDriver(void* library) {
  auto* find = reinterpret_cast<GetAddress>(::dlsym(library, "cuGetProcAddress_v2"));
  DriverApi api;
  for (const DriverFunction& row : DriverFunctions()) {
    // It is asked for by the name without the version of its interface.
    void* function = nullptr;
    int status = 0;
    if (find == nullptr ||
        find(row.base().str().c_str(), &function, row.version, 0, &status) != CuResult::Success)
      function = ::dlsym(library, row.symbol.str().c_str());
    if (function == nullptr && row.MayBeMissing()) continue;
    if (function == nullptr)
      return Error("unavailable-gpu", {},
                   "the NVIDIA driver has no {0}: it is older than this program; --platform=gpu-emu runs it "
                   "on the CPU",
                   row.symbol);
    std::memcpy(reinterpret_cast<char*>(&api) + row.offset, static_cast<void*>(&function), sizeof function);
  }
  return api;
}

Result<const DriverApi*> LoadDriver() {
  static const Result<DriverApi> loaded = Load();
  if (!loaded) return Error(loaded.error());
  return &*loaded;
}

}  // namespace hlo::gpu
