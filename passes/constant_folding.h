// constant_folding: evaluates what depends on constants alone (passes.md §4.1).
//
// Requires nothing. Preserves the flat call graph, layouts, fusions; bodies of fusions are left alone.
// Changes: instructions all of whose operands are known become constants; parameters that are the same
// constant at every call become that constant. Left alone: what is random, has side effects or control edges,
// fft, loops (but at level aggressive), values that only broadcasts and iotas go into, results or operands
// too large.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ConstantFoldingOptions {
  std::string level = "default";      // or `aggressive`
  int64_t max_elements = 45'000'000;  // of the result, and of all operands; default level
  int64_t max_work = 5'000'000'000;   // scalar operations of one evaluation; default level
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunConstantFolding(Module& module, const ConstantFoldingOptions& options, PassContext& context);

}  // namespace hlo
