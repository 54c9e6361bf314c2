// call-inliner: puts the bodies of called computations in place of calls (passes.md §4.7).
//
// Requires nothing. Preserves layouts, fusions.
// Changes: calls become copies of their callee, whose operation names get the call's as a prefix; control
// edges of the call hold for what was inside. Then what became dead goes. Left alone: calls with a backend
// config, in computations that run asynchronously, on another thread, or with the frontend attribute
// `inlineable` set to `false` or `xla_late`; composites to preserve; calls once copies have added
// `most_copied` instructions, or as many as there were if these are more.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/frontend_attributes.h"
#include "passes/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/op_names.h"

namespace hlo {
namespace {

struct CallInlinerOptions {
  bool single_call_site = false;
  std::vector<std::string> composites_to_preserve;
  int64_t most_copied = int64_t{1} << 20;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CallInlinerOptions::single_call_site>("single_call_site",
                                                      "only computations that are called from one place"),
    PassOption<&CallInlinerOptions::composites_to_preserve>("composites_to_preserve",
                                                            "names of composites that stay calls"),
    PassOption<&CallInlinerOptions::most_copied>("most_copied",
                                                 "instructions that copies add to a smaller module"),
};

bool RunsAsynchronously(const Computation& computation) {
  return llvm::any_of(computation.callers(),
                      [](const Instruction* c) { return c->kind() == OpKind::AsyncStart; });
}

bool MayInline(const Instruction& call, const CallInlinerOptions& options) {
  const Computation& callee = *call.callee();
  if (options.single_call_site && callee.callers().size() != 1) return false;
  if (callee.execution_thread() != call.parent()->execution_thread()) return false;
  // What is under way and ended in the callee may have no other reader.
  if (callee.root()->info().Is(kStart) && !callee.root()->users().empty()) return false;
  if (call.has_extras()) {
    if (!call.extras().backend_config.empty()) return false;
    const llvm::StringRef inlineable = FrontendValue(call, "inlineable");
    if (inlineable == "false" || inlineable == "xla_late") return false;
    if (call.attr<CallAttrs>().is_composite &&
        llvm::is_contained(options.composites_to_preserve, FrontendValue(call, "composite.name")))
      return false;
  }
  return true;
}

/// Levels of calls within calls, callees before callers.
int64_t CallDepth(llvm::ArrayRef<Computation*> computations) {
  llvm::DenseMap<const Computation*, int64_t> depths;
  int64_t deepest = 0;
  for (const Computation* c : computations)
    for (const Instruction* call : c->InstructionsOf(OpKind::Call)) {
      int64_t& depth = depths[c];
      depth = std::max(depth, 1 + depths.lookup(call->callee()));
      deepest = std::max(deepest, depth);
    }
  return deepest;
}

/// Inlines the calls, and those in what was inlined if `deeply`.
Result<bool> InlineCalls(std::vector<Instruction*> calls, bool deeply, const CallInlinerOptions& options,
                         int64_t& room, PassContext& context) {
  bool changed = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const Computation& callee = *calls[i]->callee();
    // What is called once will be gone from its place.
    const int64_t added = callee.callers().size() > 1 ? callee.instruction_count() : 0;
    if (!MayInline(*calls[i], options) || added > room) continue;
    if (!context.TakeRewrite()) break;
    room -= added;
    MetadataPrefix prefix(*calls[i]);
    InlineCall(calls[i], [&](const Instruction* inner, Instruction* copy) {
      copy->set_metadata(prefix.Of(*inner));
      if (deeply && copy->kind() == OpKind::Call) calls.push_back(copy);
    });
    changed = true;
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> CallInlinerOptions::Rows() { return kRows; }

Result<bool> RunCallInliner(Module& module, const CallInlinerOptions& options, PassContext& context) {
  // Callees first; of deep nests callers first, or what is innermost would be copied level by level.
  constexpr int64_t kDeep = 64;
  bool changed = false;
  // Each level of calls may double the instructions. As many as there are may always come.
  int64_t room = std::max(options.most_copied, module.InstructionCount());
  std::vector<Computation*> computations = context.Computations(module, /*with_fusions=*/true);
  const bool deep = CallDepth(computations) > kDeep;
  if (deep) std::reverse(computations.begin(), computations.end());
  llvm::DenseSet<const Computation*> gone;  // inlined wherever they were called
  for (Computation* c : computations) {
    if (deep && !c->IsEntry() &&
        llvm::all_of(c->callers(), [&](const Instruction* i) { return gone.contains(i->parent()); })) {
      gone.insert(c);
      continue;
    }
    if (RunsAsynchronously(*c)) continue;
    HLO_TRY(const bool some, InlineCalls(c->InstructionsOf(OpKind::Call), deep, options, room, context));
    changed |= some;
  }
  if (changed) HLO_CHECK_OK(RemoveDeadCode(module, context));
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CallInliner, CallInlinerOptions);

}  // namespace hlo
