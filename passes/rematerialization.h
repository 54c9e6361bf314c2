// rematerialization: values are computed again rather than kept (passes.md §5.8).
//
// Requires a schedule. Preserves everything.
// Changes, while more than `memory_limit` bytes are in use at one time: at the moment of the highest peak, of
// the values that wait there for a later use, the one whose absence saves most is computed anew right before
// the first of these uses, in the same bits (`.remat`); if nothing read it before the peak, it moves there.
// The peak is that of values other than constants and entry parameters, as `hlo-memory-scheduler` counts it.
// No instruction is computed more than twice. Left alone: side effects, control flow, calls, custom-calls,
// collectives, random numbers, results of the program, values and operands in buffers that others share.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct RematerializationOptions {
  int64_t memory_limit = 0;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunRematerialization(Module& module, const RematerializationOptions& options,
                                  PassContext& context);

}  // namespace hlo
