// Which GPU programs run on: one of this machine, or the emulated one.
#pragma once
#include "backends/gpu/emulator/emulated_driver.h"
#include "backends/gpu/runtime/gpu.h"
#include "backends/gpu/target/target.h"

namespace hlo::gpu {

struct Platform {
  bool emulated = false;
  EmulatedDriverOptions emulation;  // what is 0 in it is as the target has it
};

/// The GPU of this number, started when it is first asked for; the same one as long as somebody has it,
/// whatever `platform` says besides. Gpu::count() says how many there are.
/// Errors: unavailable-gpu, kGpuErrorId, limit-memory.
Result<GpuPtr> OpenGpu(const Platform& platform, const Target& target, int ordinal = 0);

/// Gives GPUs of a driver back that are kept for the next module.
void ReleaseGpus();

/// Whether this machine has a driver; its GPUs are not looked at. Errors: unavailable-gpu.
Status CheckDriver();

/// Number of the architecture: 90 of sm_90a.
int SmOf(const Target& target);

}  // namespace hlo::gpu
