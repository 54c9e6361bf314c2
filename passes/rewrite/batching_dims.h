// Batching dimensions of gather and scatter (passes.md §2.1).
#pragma once
#include "passes/rewrite/maker.h"

namespace hlo {

/// A gather or scatter with explicit batching dimensions.
bool HasBatchingDims(const Instruction& inst);
/// The same gather or scatter with columns of the indices that count through the batching dimensions instead.
/// Requires static shapes.
Instruction* WithoutBatchingDims(Maker& make, Instruction* inst);

}  // namespace hlo
