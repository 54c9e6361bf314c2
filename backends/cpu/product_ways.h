// product-ways: products and convolutions that are computed by themselves or in chains say by which way, so
// that what runs is what is printed: a dot or convolution with
// backend_config={"product":{"way":"packed-gemm"}}. A convolution that several problems make has a list of
// ways where they differ, one for each.
//
// Requires row-major. Preserves everything. No value changes.
#pragma once
#include "backends/products/ways.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::cpu {

/// The problem of a dot, the problems of a convolution.
std::vector<gemm::Problem> ProblemsOf(const Instruction& inst);
/// Why no product computes a dot or convolution; empty: one does.
std::string ObstacleToProduct(const Instruction& inst);
/// One for all parts of a product, or one for each; none: the best are taken.
using WaysOfParts = llvm::SmallVector<const gemm::Way*, 1>;
/// The ways that the instruction names. Errors: unsupported-path, at the instruction, for what is no way.
Result<WaysOfParts> WrittenWays(const Instruction& inst);
/// The way that a dot names, after CheckWays(); null: none.
const gemm::Way* WrittenWay(const Instruction& dot);
/// All dots and convolutions of the text name ways that can compute them. Errors: unsupported-path.
Status CheckWays(const Module& module, const gemm::Target& target);

}  // namespace hlo::cpu
