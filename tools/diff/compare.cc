#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "tools/diff/module_diff.h"

namespace hlo {

llvm::StringRef ToString(DiffKind kind) {
  static constexpr llvm::StringLiteral kWords[] = {"unchanged", "moved", "changed", "removed", "added"};
  return kWords[static_cast<size_t>(kind)];
}

char MarkOf(DiffKind kind) { return " >~-+"[static_cast<size_t>(kind)]; }

llvm::StringRef ToString(MatchedBy by) {
  static constexpr llvm::StringLiteral kWords[] = {"nothing", "hint", "fingerprint", "operands",
                                                   "similarity"};
  return kWords[static_cast<size_t>(by)];
}

namespace {

/// Every instruction of a computation without counterpart.
void AddAll(ModuleDiff& diff, const Computation& c, bool left) {
  for (const Instruction* inst : c.instructions()) {
    DiffEntry entry;
    entry.kind = left ? DiffKind::Removed : DiffKind::Added;
    (left ? entry.left : entry.right) = inst;
    diff.entries.push_back(std::move(entry));
  }
}

/// Instructions of two computations by what they compute.
void CompareComputations(ModuleDiff& diff, const Computation& left, const Computation& right) {
  const auto left_prints = InstructionFingerprints(left);
  const auto right_prints = InstructionFingerprints(right);
  llvm::DenseMap<uint64_t, std::vector<const Instruction*>> waiting;
  for (const Instruction* inst : left.instructions()) waiting[left_prints.lookup(inst)].push_back(inst);
  llvm::DenseSet<const Instruction*> matched;
  for (const Instruction* inst : right.instructions()) {
    DiffEntry entry;
    entry.right = inst;
    entry.kind = DiffKind::Added;
    auto& candidates = waiting[right_prints.lookup(inst)];
    if (!candidates.empty()) {
      entry.left = candidates.front();
      candidates.erase(candidates.begin());
      entry.kind = DiffKind::Unchanged;
      entry.matched_by = MatchedBy::Fingerprint;
      matched.insert(entry.left);
    }
    diff.entries.push_back(std::move(entry));
  }
  for (const Instruction* inst : left.instructions())
    if (!matched.contains(inst)) {
      DiffEntry entry;
      entry.left = inst;
      entry.kind = DiffKind::Removed;
      diff.entries.push_back(std::move(entry));
    }
}

}  // namespace

ModuleDiff CompareModules(const Module& left, const Module& right, const DiffOptions&) {
  ModuleDiff diff;
  diff.left = &left;
  diff.right = &right;
  llvm::DenseSet<const Computation*> seen;
  const std::vector<Computation*> left_order = left.PostOrder(), right_order = right.PostOrder();
  for (const Computation* r : llvm::reverse(right_order)) {
    const Computation* l = r->IsEntry() ? left.entry() : left.FindComputation(r->name());
    if (l && !seen.insert(l).second) l = nullptr;
    diff.computations.push_back({l, r, l ? MatchedBy::Similarity : MatchedBy::Nothing});
    if (l)
      CompareComputations(diff, *l, *r);
    else
      AddAll(diff, *r, /*left=*/false);
  }
  for (const Computation* l : llvm::reverse(left_order))
    if (!seen.contains(l)) {
      diff.computations.push_back({l, nullptr, MatchedBy::Nothing});
      AddAll(diff, *l, /*left=*/true);
    }
  for (const DiffEntry& entry : diff.entries) ++diff.counts[static_cast<int>(entry.kind)];
  return diff;
}

}  // namespace hlo
