// product-ways: products and convolutions that are computed by themselves say by which way, so that what runs
// is what is printed: a dot or convolution with backend_config={"product":{"way":"packed-gemm"}}.
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
/// The way that the instruction names; null: none, the best is taken. Errors: unsupported-path, at the
/// instruction, for what is no way.
Result<const gemm::Way*> WrittenWay(const Instruction& inst);
/// All dots and convolutions of the text name ways that can compute them. Errors: unsupported-path.
Status CheckWays(const Module& module, const gemm::Target& target);

}  // namespace hlo::cpu
