// Updates of elements that may come in any order, as atomic operations.
#pragma once
#include "backends/kernel/kernel.h"
#include "ir/computation.h"

namespace hlo::kernel {

/// The operation by which a combiner of one element and one update may be atomic with the same result in
/// whatever order: of integers that machines do so with. Nothing: there is none.
std::optional<OpKind> AtomicCombiner(const Computation& combiner);

/// Whether all that an ordered loop reads of what it writes is updates that MakeAtomic() knows.
bool MayBeAtomic(const Kernel& kernel, const LoopStmt& loop);

/// Makes the loop, and ordered ones in it, loops without an order, whose updates are atomic. Errors:
/// kernel-schedule, with the kernel as it was.
Status MakeAtomic(Kernel& kernel, LoopStmt& loop);

}  // namespace hlo::kernel
