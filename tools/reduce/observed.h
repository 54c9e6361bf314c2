// Values that a module computes, for reductions that put them in the place of their computation.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

/// By name: what instructions of the entry computed in one run.
using ObservedValues = llvm::StringMap<LiteralPtr>;

/// Runs the module once on made-up arguments that respect its constraints, on one device. Arrays of up to
/// 4096 elements without dynamic sizes are kept. Empty if the module cannot be run, or not within 20 s.
/// Errors: limit-memory, runtime-memory if that would take more than half of `memory_limit` bytes, or, if
/// that is 0, of the machine's memory.
Result<ObservedValues> ObserveValues(const Module& module, int64_t memory_limit);

}  // namespace hlo
