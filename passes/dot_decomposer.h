// dot_decomposer: brings dots into canonical form (passes.md §4.9).
//
// Requires nothing. Preserves the flat call graph and fusions; establishes canonical dots.
// Changes: operands are transposed to [batch…, free…, contracting…] (left) and [batch…, contracting…, free…]
// (right), free and contracting dimensions merged into one each by reshapes (a product of size 1 of free ones
// is left out), the result reshaped back. Left alone: dots whose batch dimensions lead in equal order, with
// one contracting and at most one free dimension per side; dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunDotDecomposer(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
