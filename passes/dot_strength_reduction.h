// dot-strength-reduction: small products with vectors become multiply and reduce (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph and fusions.
// Changes: dots one operand of which has no free dimension become the sum of a product, taken in at least
// f32, if the other operand has at most max_elements. Left alone: pred, dots with a precision algorithm,
// dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct DotStrengthReductionOptions {
  int64_t max_elements = 10'000;  // of either operand
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunDotStrengthReduction(Module& module, const DotStrengthReductionOptions& options,
                                     PassContext& context);

}  // namespace hlo
