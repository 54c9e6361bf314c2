// Memory of a run: the report of --memory, limits checked before it (tools.md §3.7).
#pragma once
#include "backends/memory_plan.h"
#include "tools/run_options.h"

namespace hlo {

/// The report: bytes by kind, the peak and the largest temporaries, or with `peak` all values in use at it.
/// `donated`: by parameter number.
void PrintMemory(llvm::raw_ostream& out, const Module& module, llvm::StringRef platform,
                 const MemoryPlan& plan, const std::vector<bool>& donated, bool peak);
/// An array of which a few could take all memory of a machine.
bool HasLargeArray(const Module& module);

/// The largest buffers, a line each, after `prefix`: `29.8 GiB of result %fusion f32[2000000000,4]`.
std::string LargestBuffers(const MemoryPlan& plan, llvm::StringRef prefix);

/// Error limit-memory if `devices` such programs exceed `limit`, runtime-memory if they exceed the machine
/// where there is none (0), with notes about the largest buffers.
Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit);

}  // namespace hlo
