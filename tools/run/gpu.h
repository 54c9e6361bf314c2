// What the options say of the platforms gpu and gpu-emu.
#pragma once
#include "backends/cpu/peaks.h"
#include "backends/gpu/runtime/compile.h"
#include "tools/run/options.h"

namespace hlo {

/// Everything but passes, cache and reports. Errors: usage-option, those of gpu::FindTarget().
Result<GpuRunOptions> GpuOptionsOf(const RunOptions& options);

/// Whether a library would do convolutions of a module that is run; no GPU is needed for the answer.
bool HasLibraryConvolutions(const RunOptions& options);

/// That NCCL is there for --launcher=nccl. Errors: unavailable-nccl.
Status CheckNccl(const RunOptions& options);

/// What the target can do at most, by its description.
Result<cpu::Peaks> GpuPeaks(const RunOptions& options);

}  // namespace hlo
