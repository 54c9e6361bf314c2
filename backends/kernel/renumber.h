// Kernels that become parts of others.
#pragma once
#include <vector>

#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Where the arrays of `part` are among those of `whole`: the caller's at `arrays`; its own are new there.
std::vector<BufferId> PlacesIn(Kernel& whole, const Kernel& part, llvm::ArrayRef<BufferId> arrays);

/// Loop `loop` of the part becomes `into` of the whole, of whose iterations it has those from `begin` on.
struct TakenLoop {
  LoopId loop = -1, into = -1;
  int64_t begin = 0;
};
/// Gives what `part` defines numbers that nothing in `whole` has yet, and its arrays those of `places`.
void TakeNumbers(Kernel& whole, Kernel& part, llvm::ArrayRef<BufferId> places, const TakenLoop& taken = {});

}  // namespace hlo::kernel
