// propagate-call-metadata: instructions of callees say which call they belong to (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: operation names in a computation that is called once get the call's as a prefix, as if it were
// inlined; callers first, so that names of nested calls add up. Left alone: names that have the prefix or
// would become too long, computations with several callers.
#include "passes/pass.h"
#include "passes/rewrite/op_names.h"

namespace hlo {
namespace {

/// Whether any name changed.
bool NameAfterCall(const Instruction& call, PassContext& context) {
  MetadataPrefix prefix(call);
  bool changed = false;
  for (Instruction* inner : call.callee()->instructions()) {
    const OpMetadata* metadata = prefix.Of(*inner);
    if (metadata == inner->metadata()) continue;
    if (!changed && !context.TakeRewrite()) return false;
    inner->set_metadata(metadata);
    changed = true;
  }
  return changed;
}

Result<bool> RunPropagateCallMetadata(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  const std::vector<Computation*> computations = context.Computations(module);
  for (Computation* c : llvm::reverse(computations)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (const Instruction* call : c->InstructionsOf(OpKind::Call))
      if (call->callee()->callers().size() == 1 && context.Allows(*call->callee()))
        changed |= NameAfterCall(*call, context);
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(PropagateCallMetadata, NoPassOptions);

}  // namespace hlo
