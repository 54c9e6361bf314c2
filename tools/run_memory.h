// Memory of a run: the report of --memory, limits checked before it (tools.md §3.7).
#pragma once
#include "backends/memory_plan.h"
#include "tools/run_options.h"

namespace hlo {

/// The report: bytes by kind, the peak and the largest temporaries, or with `peak` all values in use at it.
/// `donated`: by parameter number.
void PrintMemory(llvm::raw_ostream& out, const Module& module, llvm::StringRef platform,
                 const MemoryPlan& plan, const std::vector<bool>& donated, bool peak);
/// Error limit-memory, with notes about the largest buffers, if `devices` such programs exceed `limit` or the
/// machine.
Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit);

}  // namespace hlo
