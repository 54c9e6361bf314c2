// slice-sinker: elementwise operations on slices of the same values become one operation (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph, fusions and layouts.
// Changes: elementwise instructions that do the same to slices of the same arrays, each to the same part of
// all of them, become one instruction on the whole arrays and slices of its result, if together they compute
// at least as many elements. Left alone: control edges, dynamic shapes, layouts with properties.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunSliceSinker(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
