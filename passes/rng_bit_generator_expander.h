// rng-bit-generator-expander: the generators written out (passes.md §4.10, ops-structured §8.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: rng-bit-generator becomes integer arithmetic with the same bits and the same new state.
// Left alone: states that no algorithm has, results that are no pair, dynamic shapes.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct RngBitGeneratorExpanderOptions {
  /// What rng_default means: `philox`, as on XLA's CPU and GPU, or `three_fry`.
  std::string default_algorithm = "philox";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunRngBitGeneratorExpander(Module& module, const RngBitGeneratorExpanderOptions& options,
                                        PassContext& context);

}  // namespace hlo
