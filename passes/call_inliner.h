// call-inliner: puts the bodies of called computations in place of calls (passes.md §4.7).
//
// Requires nothing. Preserves no facts but layouts and fusions.
// Changes: calls become copies of their callee, whose operation names get the call's as a prefix; control
// edges of the call hold for what was inside. Then what became dead goes. Left alone: calls with a backend
// config, in computations that run asynchronously, on another thread, or with the frontend attribute
// `inlineable` set to `false` or `xla_late`; composites to preserve; calls once copies have added
// `most_copied` instructions, or as many as there were if these are more.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct CallInlinerOptions {
  bool single_call_site = false;
  std::vector<std::string> composites_to_preserve;
  int64_t most_copied = int64_t{1} << 20;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunCallInliner(Module& module, const CallInlinerOptions& options, PassContext& context);
/// Replaces one call by its callee's body, metadata prefixed; the copy of the root.
Instruction* InlineCallWithPrefix(Instruction* call);

}  // namespace hlo
