// async-remover: asynchronous operations and copies happen where they end: nothing here computes beside the
// program.
//
// Requires nothing. Preserves layouts, fusions.
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

/// What the computation calls runs in this thread, too.
void RunInThread(Computation* computation, llvm::StringRef thread) {
  llvm::SmallVector<Computation*, 4> called = {computation};
  while (!called.empty()) {
    Computation* at = called.pop_back_val();
    if (at->execution_thread() == thread) continue;
    at->set_execution_thread(thread);
    for (const Instruction* inst : at->instructions())
      called.append(inst->callees().begin(), inst->callees().end());
  }
}

/// An asynchronous chain becomes a call at its end.
void MakeSynchronous(Instruction* done) {
  std::vector<Instruction*> arguments;
  Instruction* at = done->operand(0);
  for (; at->kind() == OpKind::AsyncUpdate; at = at->operand(0))
    arguments.insert(arguments.begin(), at->operands().begin() + 1, at->operands().end());
  arguments.insert(arguments.begin(), at->operands().begin(), at->operands().end());
  RunInThread(at->callee(), done->parent()->execution_thread());
  ReplaceAndRemove(done, Maker(done).Call(at->callee(), arguments));
}

void MakeCopySynchronous(Instruction* done) {
  ReplaceAndRemove(done, Maker(done).Copy(done->operand(0)->operand(0)));
}

Result<bool> RunAsyncRemover(Module& module, const NoPassOptions&, PassContext& context) {
  static constexpr std::pair<OpKind, void (*)(Instruction*)> kEnds[] = {
      {OpKind::AsyncDone, &MakeSynchronous}, {OpKind::CopyDone, &MakeCopySynchronous}};
  bool changed = false;
  for (Computation* computation : module.PostOrder())
    for (const auto& [kind, rewrite] : kEnds)
      for (Instruction* done : computation->InstructionsOf(kind)) {
        if (!context.TakeRewrite()) return changed;
        rewrite(done);
        changed = true;
      }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AsyncRemover, NoPassOptions);

}  // namespace hlo::compile
