#include "passes/rewrite/inline_all.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// Of deeper nests callers come first, or what is innermost would be copied level by level.
constexpr int64_t kDeep = 64;

using IsInlined = llvm::function_ref<bool(const Instruction&)>;

std::vector<Instruction*> InlinedCalls(const Computation& computation, IsInlined is_inlined) {
  std::vector<Instruction*> calls;
  if (computation.has_calls())
    for (Instruction* inst : computation.instructions())
      if (is_inlined(*inst)) calls.push_back(inst);
  return calls;
}

/// Levels of inlined calls within each other. `computations`: callees before callers.
int64_t Depth(llvm::ArrayRef<Computation*> computations, IsInlined is_inlined) {
  llvm::DenseMap<const Computation*, int64_t> depths;
  int64_t deepest = 0;
  for (const Computation* c : computations) {
    int64_t depth = 0;
    for (const Instruction* call : InlinedCalls(*c, is_inlined))
      depth = std::max(depth, 1 + depths.lookup(call->callee()));
    depths[c] = depth;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

}  // namespace

void InlineAll(Module& module, IsInlined is_inlined,
               llvm::function_ref<void(Computation&, Instruction*)> on_inlined,
               llvm::function_ref<bool()> take) {
  std::vector<Computation*> computations = module.PostOrder();
  const bool deep = Depth(computations, is_inlined) > kDeep;
  if (deep) std::reverse(computations.begin(), computations.end());
  llvm::DenseSet<const Computation*> gone;  // what called them holds copies already
  for (Computation* c : computations) {
    const auto from_gone = [&](const Instruction* caller) { return gone.contains(caller->parent()); };
    if (deep && !c->IsEntry() && llvm::all_of(c->callers(), from_gone)) {
      gone.insert(c);
      continue;
    }
    std::vector<Instruction*> calls = InlinedCalls(*c, is_inlined);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (take && !take()) return;
      Instruction* root = InlineCall(calls[i], [&](const Instruction*, Instruction* copy) {
        if (deep && is_inlined(*copy)) calls.push_back(copy);
      });
      if (on_inlined) on_inlined(*c, root);
    }
  }
  if (deep) RemoveUnreachableComputations(module);
}

}  // namespace hlo
