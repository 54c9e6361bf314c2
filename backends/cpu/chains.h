// dot-chain-fusion: chains of a matrix product, a kernel over its rows and a product of these rows, as in
// attention; or without the second product, as where a bias and an activation follow. They go block by block.
//
// Requires row-major. Preserves flat-calls, fusions, row-major.
#pragma once
#include "backends/compile/kernel_calls.h"
#include "backends/products/product.h"

namespace hlo::cpu {

/// A fusion `last(middle(first, …), …)` or `middle(first, …)` of kind Custom, whose parts stay what they are:
/// some rows after the other go through all of them, so that nobody needs room for all of what lies between.
/// Whatever a kernel makes of rows can end a product in this way, elementwise or not: a bias, an activation,
/// a residual, a conversion, a softmax. Another producer of rows than a dot needs a `first` that can be
/// computed by rows (IsRowProduct() in chains.cc, RunRows() of the product that chain_step makes of it).
struct Chain {
  const Instruction* first = nullptr;   // a dot, of which nothing but `middle` is made
  const Instruction* middle = nullptr;  // a fusion, of which nothing but the left factor of `last` is made
  const Instruction* last = nullptr;    // a dot; null: the chain ends with `middle`
  compile::FusedRows rows;              // of `middle`
};

/// What the pass dot-chain-fusion made; nothing for other fusions.
std::optional<Chain> ChainOf(const Instruction& fusion);

/// Rows of a chain that go through it together, by preference: as many as the second cache holds.
int64_t RowsOfBlock(const Chain& chain);

}  // namespace hlo::cpu
