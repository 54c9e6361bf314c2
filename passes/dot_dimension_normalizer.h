// dot_dimension_normalizer: dots get one contracting dimension per operand (passes.md §2.1).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: several contracting dimensions (with merge_free_dims also several free ones) of an operand are
// merged into one by a transpose, where they do not follow one another, and a reshape; the result is reshaped
// back. Left alone: batch dimensions, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct DotDimensionNormalizerOptions {
  bool merge_free_dims = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunDotDimensionNormalizer(Module& module, const DotDimensionNormalizerOptions& options,
                                       PassContext& context);

}  // namespace hlo
