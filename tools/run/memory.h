// Memory of a run: the report of --memory, limits checked before it (tools.md §3.7).
#pragma once
#include "backends/memory_plan.h"
#include "tools/run/options.h"

namespace hlo {

/// The report: bytes by kind, the peak and the largest temporaries, or with `peak` all values in use at it.
/// `donated`: by parameter number.
void PrintMemory(llvm::raw_ostream& out, const Module& module, llvm::StringRef platform,
                 const MemoryPlan& plan, const std::vector<bool>& donated, bool peak);
/// Whether all arrays together have so many bytes that memory could end; small modules need no plan.
bool HasManyBytes(const Module& module);

/// Bytes of all arrays of a shape; INT64_MAX if there are more.
int64_t ShapeBytes(const Shape& shape);

/// Error limit-memory or runtime-memory if the arguments exceed the limit (0: none) or the machine, with
/// notes about the largest.
Status CheckArgumentMemory(const Module& module, int64_t bytes, int64_t limit);

/// The largest buffers, a line each, after `prefix`: `29.8 GiB of result %fusion f32[2000000000,4]`.
std::string LargestBuffers(const MemoryPlan& plan, llvm::StringRef prefix);

/// Error limit-memory if `devices` such programs exceed `limit`, runtime-memory if they exceed the machine
/// where there is none (0), with notes about the largest buffers.
Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit);

}  // namespace hlo
