// comparison-expander: compares floats in total order as integers (passes.md §4.10).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: compare with type=TOTALORDER on floats becomes compare of integers with the same order. Types of
// 6 bits, which no integer type has, go through f32. Left alone: dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ComparisonExpanderOptions {
  /// `from:to` pairs of floating types: operands of type `from` are converted to `to` first.
  std::vector<std::string> upcast;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunComparisonExpander(Module& module, const ComparisonExpanderOptions& options,
                                   PassContext& context);

}  // namespace hlo
