// Parts of the simple forms of gather and scatter.
#pragma once
#include "passes/rewrite/maker.h"

namespace hlo {

/// The start indices of a gather or scatter as [M, n], one row per index vector in row-major order.
Instruction* IndexMatrix(Maker& make, Instruction* indices, int64_t index_vector_dim);
/// A transpose, or the value itself.
Instruction* TransposeUnlessIdentity(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> permutation);
/// The updates of a scatter as [M, window], the window with all `rank` dimensions of the operand.
Instruction* UpdateMatrix(Maker& make, Instruction* update, const ScatterAttrs& a, int64_t rank);

}  // namespace hlo
