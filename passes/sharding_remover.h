// sharding-remover: on one partition annotations of shardings mean nothing (passes.md §2.6).
//
// Requires nothing. Preserves everything but the schedule, which is repaired.
// Changes: in modules of one partition, custom-calls that only annotate their operand (`Sharding`,
// `SPMDFullToShardShape`, `SPMDShardToFullShape`, `xla.sdy.FuncResultSharding`) become the operand; a copy of
// it where control edges need an instruction.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunShardingRemover(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
