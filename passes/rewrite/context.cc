#include "passes/rewrite/context.h"

#include "ir/support/interrupt.h"

namespace hlo {

bool PassContext::TakeRewrite() {
  if (const auto fuel = controls_.fuel.find(pass_); fuel != controls_.fuel.end()) {
    if (fuel->second <= 0) return false;
    --fuel->second;
  }
  ++rewrites_;
  return true;
}

bool PassContext::TakeRewrite(llvm::StringRef rule, const Instruction& before, const Instruction& after) {
  if (!TakeRewrite()) return false;
  if (controls_.on_rewrite) controls_.on_rewrite(pass_, rule, before, after);
  return true;
}

Status PassContext::CheckInterrupt() const {
  if (Interrupted()) return Error(InterruptedError());
  return {};
}

bool IsWrapped(const Computation& computation) {
  return computation.execution_thread() == "main" &&
         llvm::any_of(computation.callers(),
                      [](const Instruction* caller) { return caller->kind() == OpKind::AsyncStart; });
}

bool PassContext::Allows(const Computation& computation) const {
  return controls_.execution_threads.empty() ||
         controls_.execution_threads.contains(computation.execution_thread());
}

std::vector<Computation*> PassContext::AllComputations(const Module& module) const {
  std::vector<Computation*> computations = module.PostOrder();
  llvm::erase_if(computations, [&](Computation* c) { return !Allows(*c); });
  return computations;
}

std::vector<Computation*> PassContext::Computations(const Module& module, bool with_fusions) const {
  std::vector<Computation*> computations = AllComputations(module);
  llvm::erase_if(computations,
                 [&](Computation* c) { return IsWrapped(*c) || (!with_fusions && c->IsFusion()); });
  return computations;
}

}  // namespace hlo
