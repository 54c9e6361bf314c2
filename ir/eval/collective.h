// Who takes part in a collective.
#pragma once
#include <vector>

#include "ir/eval/device.h"
#include "ir/instruction.h"

namespace hlo {

/// The ids of the devices of the group that `self` belongs to, in rank order; empty if it is in none (§12.1).
/// Of a permutation all that may be named. Errors: runtime-collective-mismatch.
Result<std::vector<int64_t>> CollectiveMembers(const Instruction& inst, const Device& self);

}  // namespace hlo
