// Schedules of kernels chosen by trying them.
#pragma once
#include "backends/compile/machine.h"
#include "backends/gpu/runtime/platform.h"

namespace hlo::gpu {

enum class Tuning : uint8_t {
  Off,     // the schedules that passes have chosen
  Cached,  // those that the file of results has
  On       // those; of kernels that it does not have all alternatives are run, and the file gets the best
};
struct TuningOptions {
  Tuning tuning = Tuning::Off;
  static constexpr char kFileName[] = "autotune.txt";
  std::string file = {};  // of results; empty: that of this name in the folder of the cache
};

/// Gives the kernels of a module, which the passes left, their best schedules. On the emulated GPU what its
/// counts take at the peaks of the target decides, which is the same each time, and kernels that do much are
/// left as they are; else the GPU's clock does. A schedule other than that which passes choose stays.
/// Errors: those of TuningResults and of Gpu.
Status Tune(Module& module, const Target& target, const compile::Machine& machine, const Platform& platform,
            const TuningOptions& options);

/// What the file says now, as a key for what is made by it.
std::string KeyOfTuning(const TuningOptions& options);

}  // namespace hlo::gpu
