#include "passes/dce.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

constexpr PassOptionRow kRows[] = {
    PassOption<&DceOptions::remove_cross_partition_collective_ops>(
        "remove_cross_partition_collective_ops",
        "collectives that nobody reads go although they wait for others"),
};

/// Removes dead instructions; users stand after operands in post-order, so one walk backwards suffices.
Result<bool> RemoveDeadInstructions(Computation& computation, PassContext& context) {
  bool changed = false;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : llvm::reverse(order)) {
    if (!IsDead(*inst)) continue;
    if (!context.TakeRewrite()) break;
    computation.Remove(inst);
    changed = true;
  }
  return changed;
}

/// Drops parameters of a fused computation that nothing uses, and the operands of the fusion with them.
bool RemoveDeadParameters(Computation& fused) {
  if (fused.callers().size() != 1 || fused.callers()[0]->kind() != OpKind::Fusion) return false;
  Instruction* fusion = fused.callers()[0];
  llvm::SmallVector<Instruction*, 8> operands(fusion->operands().begin(), fusion->operands().end());
  llvm::SmallVector<Instruction*, 8> dropped;
  for (int64_t i = static_cast<int64_t>(operands.size()) - 1; i >= 0; --i) {
    Instruction* parameter = fused.parameter(i);
    if (!parameter->users().empty() || parameter->IsRoot()) continue;
    parameter->DropControlEdges();
    fused.RemoveParameter(i);
    dropped.push_back(operands[static_cast<size_t>(i)]);
    operands.erase(operands.begin() + i);
  }
  if (dropped.empty()) return false;
  fusion->SetOperands(operands);
  // Removing one may remove others of them too.
  llvm::DenseSet<Instruction*> gone;
  for (Instruction* operand : dropped)
    if (!gone.contains(operand)) RemoveIfDead(operand, [&](Instruction* dead) { gone.insert(dead); });
  return true;
}

}  // namespace

llvm::ArrayRef<PassOptionRow> DceOptions::Rows() { return kRows; }

Result<bool> RunDce(Module& module, const DceOptions& options, PassContext& context) {
  (void)options;
  bool changed = false;
  // Callers first: what a fusion no longer needs makes its operands dead.
  std::vector<Computation*> computations = context.Computations(module, /*with_fusions=*/true);
  for (Computation* c : llvm::reverse(computations)) {
    HLO_TRY(bool c_changed, RemoveDeadInstructions(*c, context));
    c_changed |= RemoveDeadParameters(*c);
    changed |= c_changed;
  }
  changed |= RemoveUnreachableComputations(module) != 0;
  return changed;
}

HLO_DEFINE_PASS(Dce, DceOptions);

}  // namespace hlo
