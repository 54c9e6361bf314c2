// dot-merger: dots that share an operand become one (passes.md §4.9).
//
// Requires nothing. Preserves the flat call graph, fusions and canonical dots.
// Changes: of dots with one operand in common, the same dimension numbers, types and precision, the other
// operands are concatenated along their free dimension, and the results are slices of one dot. Only dots are
// merged that have equally many dots on their longest way from the parameters, so none depends on another.
// Left alone: operands with other than one free dimension, control edges, all but one member of a group that
// is over the size limit.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct DotMergerOptions {
  int64_t max_size_to_merge = INT64_MAX;  // bytes of operands and result
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunDotMerger(Module& module, const DotMergerOptions& options, PassContext& context);

}  // namespace hlo
