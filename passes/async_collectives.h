// async-collective-creator, convert-async-collectives-to-sync: collectives as a start and a done, and back
// (passes.md §2.6).
//
// async-collective-creator requires nothing and preserves fusions and layouts. It makes of collectives a
// start and a done, with their own opcodes where there are such (all-reduce, all-gather, collective-permute),
// else as asynchronous operations.
// convert-async-collectives-to-sync requires a schedule and preserves everything. It makes of starts and
// dones one collective, in the place of the done, where nothing that takes time runs between them: only other
// starts and dones, parameters, constants, tuples and bitcasts.
// Left alone: asynchronous operations that are no collective, or have updates or other readers.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct AsyncCollectiveCreatorOptions {
  bool all_reduce = true;
  bool all_gather = true;
  bool collective_permute = true;
  bool collective_broadcast = true;
  bool all_to_all = true;
  bool reduce_scatter = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunAsyncCollectiveCreator(Module& module, const AsyncCollectiveCreatorOptions& options,
                                       PassContext& context);
Result<bool> RunConvertAsyncCollectivesToSync(Module& module, const NoPassOptions& options,
                                              PassContext& context);

}  // namespace hlo
