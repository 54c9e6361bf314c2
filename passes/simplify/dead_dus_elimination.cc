// dead-dus-elimination: updates that nobody reads (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a dynamic-update-slice at constant places whose users are all slices beside the updated part is
// replaced by its operand; what made the update stays for dce. Left alone: control edges, dynamic shapes.
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// The part of each dimension that is updated; nothing if the places are not known.
std::optional<SliceRanges> UpdatedPart(const Instruction& dus) {
  const Shape& update = dus.operand(1)->shape();
  if (dus.operand_count() != 2 + dus.shape().rank()) return std::nullopt;
  SliceRanges part;
  for (int64_t d = 0; d < dus.shape().rank(); ++d) {
    if (dus.operand(2 + d)->shape().rank() != 0) return std::nullopt;
    const std::optional<int64_t> index = ScalarIntValue(*dus.operand(2 + d));
    if (!index || *index < 0) return std::nullopt;  // negative: may also be a large unsigned value
    const int64_t start = std::min(*index, dus.shape().dim(d) - update.dim(d));
    part.push_back({start, start + update.dim(d), 1});
  }
  return part;
}

bool ReadsNothingOf(const Instruction& user, const SliceRanges& part) {
  if (user.kind() != OpKind::Slice) return false;
  const SliceRanges& read = user.attr<SliceAttrs>().slice;
  for (size_t d = 0; d < part.size(); ++d)
    if (read[d].limit <= part[d].start || read[d].start >= part[d].limit) return true;
  return false;
}

bool IsUnread(const Instruction& inst) {
  if (inst.kind() != OpKind::DynamicUpdateSlice || inst.IsRoot() || inst.users().empty() ||
      inst.users().front()->kind() != OpKind::Slice || !HasStaticShapes(inst) ||
      inst.shape() != inst.operand(0)->shape() || HasControlEdges(inst))
    return false;
  const std::optional<SliceRanges> part = UpdatedPart(inst);
  return part && llvm::all_of(inst.users(), [&](const Instruction* u) { return ReadsNothingOf(*u, *part); });
}

Result<bool> RunDeadDusElimination(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const auto is_update = [](const Instruction* i) { return i->kind() == OpKind::DynamicUpdateSlice; };
    if (llvm::none_of(c->instructions(), is_update)) continue;
    // Users first: slices of the last update of a chain become slices of those before.
    const std::vector<Instruction*> order = c->PostOrder();
    for (Instruction* inst : llvm::reverse(order)) {
      if (!IsUnread(*inst)) continue;
      if (!context.TakeRewrite()) break;
      inst->ReplaceAllUsesWith(inst->operand(0));
      c->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DeadDusElimination, NoPassOptions);

}  // namespace hlo
