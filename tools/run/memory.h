// Memory of a run: the report of --memory, limits checked before it (tools.md §3.7).
#pragma once
#include "backends/memory_plan.h"
#include "tools/run/options.h"

namespace hlo {

/// The report: bytes by kind, the peak and the largest temporaries, or with `peak` all values in use at it.
/// `donated`: by parameter number.
void PrintMemory(llvm::raw_ostream& out, const Module& module, llvm::StringRef platform,
                 const MemoryPlan& plan, const std::vector<bool>& donated, bool peak);

/// Bytes of all arrays of a shape; INT64_MAX if there are more.
int64_t ShapeBytes(const Shape& shape);

/// Error limit-memory or runtime-memory if the arguments exceed the limit (0: none) or the machine, with
/// notes about the largest.
Status CheckArgumentMemory(const Module& module, int64_t bytes, int64_t limit);

}  // namespace hlo
