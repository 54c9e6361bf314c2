// computation-deduplicator, unflatten-call-graph: identical computations become one (passes.md §2.1, §2.2).
//
// Require nothing. Preserve schedule, layouts, canonical-dots, fusions, copies.
// Change: callers of a computation that equals an earlier one, shapes with layouts included, call that;
// unflatten-call-graph does so where all callers are calls. With mark_fusion_duplications nothing is merged,
// but metadata of fusions with equal bodies names the first (`deduplicated_name`). Left alone: the entry,
// bodies of fusions and of asynchronous operations.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct ComputationDeduplicatorOptions {
  bool mark_fusion_duplications = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ComputationDeduplicatorOptions::mark_fusion_duplications>(
        "mark_fusion_duplications", "only note in metadata which fusions are alike"),
};

/// Equal bodies by fingerprint; what fingerprints leave out is compared.
class Bodies {
 public:
  /// The first computation entered that equals `c`; `c` itself if it is the first.
  Computation* First(Computation* c) {
    auto& bucket = firsts_[hashes_.Of(*c)];
    for (Computation* other : bucket)
      if (Alike(*other, *c)) return other;
    bucket.push_back(c);
    return c;
  }

 private:
  static bool Alike(const Computation& a, const Computation& b) {
    if (a.instruction_count() != b.instruction_count() || a.execution_thread() != b.execution_thread() ||
        a.root()->shape() != b.root()->shape() || a.parameters().size() != b.parameters().size())
      return false;
    for (size_t i = 0; i < a.parameters().size(); ++i)
      if (a.parameters()[i]->shape() != b.parameters()[i]->shape()) return false;
    return true;
  }

  // Callers that call an equal computation instead keep their hash.
  Fingerprints hashes_;
  llvm::DenseMap<uint64_t, llvm::SmallVector<Computation*, 1>> firsts_;
};

bool MayMerge(const Computation& c) {
  return !c.IsEntry() && !c.callers().empty() && llvm::none_of(c.callers(), [](const Instruction* caller) {
    return caller->kind() == OpKind::Fusion || caller->info().category == OpCategory::Async;
  });
}

bool Mark(Computation* c, Bodies& bodies, PassContext& context) {
  if (c->callers().size() != 1 || c->callers()[0]->kind() != OpKind::Fusion) return false;
  Computation* first = bodies.First(c);
  if (first == c) return false;
  Instruction* fusion = c->callers()[0];
  OpMetadata metadata = fusion->metadata() ? *fusion->metadata() : OpMetadata();
  const llvm::StringRef name = first->callers()[0]->name();
  if (metadata.deduplicated_name == name || !context.TakeRewrite()) return false;
  metadata.deduplicated_name = name;
  fusion->set_metadata(fusion->module()->Save(metadata));
  return true;
}

/// Callers of `c` call `first`.
void Redirect(Computation* c, Computation* first) {
  const llvm::SmallVector<Instruction*, 4> callers(c->callers().begin(), c->callers().end());
  for (Instruction* caller : callers) {
    llvm::SmallVector<Computation*, 4> callees(caller->callees().begin(), caller->callees().end());
    std::replace(callees.begin(), callees.end(), c, first);
    caller->SetCallees(callees);
  }
}

Result<bool> Merge(Module& module, bool (*may_merge)(const Computation&), PassContext& context) {
  bool changed = false;
  Bodies bodies;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    if (!may_merge(*c)) continue;
    Computation* first = bodies.First(c);
    if (first == c || !context.TakeRewrite()) continue;
    Redirect(c, first);
    changed = true;
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

bool IsOnlyCalled(const Computation& c) {
  return MayMerge(c) &&
         llvm::all_of(c.callers(), [](const Instruction* caller) { return caller->kind() == OpKind::Call; });
}

llvm::ArrayRef<PassOptionRow> ComputationDeduplicatorOptions::Rows() { return kRows; }

Result<bool> RunComputationDeduplicator(Module& module, const ComputationDeduplicatorOptions& options,
                                        PassContext& context) {
  if (!options.mark_fusion_duplications) return Merge(module, MayMerge, context);
  bool changed = false;
  Bodies bodies;
  for (Computation* c : context.Computations(module, /*with_fusions=*/true)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    changed |= Mark(c, bodies, context);
  }
  return changed;
}

Result<bool> RunUnflattenCallGraph(Module& module, const NoPassOptions&, PassContext& context) {
  return Merge(module, IsOnlyCalled, context);
}

}  // namespace

HLO_DEFINE_PASS(ComputationDeduplicator, ComputationDeduplicatorOptions);
HLO_DEFINE_PASS(UnflattenCallGraph, NoPassOptions);

}  // namespace hlo
