// Comparing two modules: matching first, then what differs between the matched.
#include "tools/diff/compare/entries.h"

namespace hlo {
namespace {

class Comparer {
 public:
  explicit Comparer(const DiffMatching& matching) : m_(matching) {}

  ModuleDiff Run() {
    diff_.left = &m_.left.module();
    diff_.right = &m_.right.module();
    diff_.entries.reserve(Index(std::max(m_.left.size(), m_.right.size())));
    diff_.header = CompareHeaders(m_);
    FindMovesInSchedules();
    for (DiffId cr = 0; cr < m_.right.computation_count(); ++cr) AddComputation(m_.ComputationToLeft(cr), cr);
    for (DiffId cl = 0; cl < m_.left.computation_count(); ++cl)
      if (m_.ComputationToRight(cl) == kNoDiffId) AddComputation(cl, kNoDiffId);
    GroupEntries(diff_);
    for (const DiffEntry& entry : diff_.entries) ++diff_.counts[static_cast<int>(entry.kind)];
    diff_.cut_short = m_.cut_short;
    return std::move(diff_);
  }

 private:
  void FindMovesInSchedules() {
    moved_in_schedule_.assign(Index(m_.left.size()), false);
    if (m_.options.Ignores(DiffProperty::Schedule)) return;
    for (DiffId cl = 0; cl < m_.left.computation_count(); ++cl) {
      const DiffId cr = m_.ComputationToRight(cl);
      if (cr == kNoDiffId) continue;
      for (const DiffId l : FindScheduleMoves(m_, cl, cr)) moved_in_schedule_[Index(l)] = true;
    }
  }

  /// The entries of a pair of computations, or of one without counterpart.
  void AddComputation(DiffId cl, DiffId cr) {
    ComputationMatch match;
    if (cl != kNoDiffId) match.left = &m_.left.computation(cl);
    if (cr != kNoDiffId) match.right = &m_.right.computation(cr);
    if (match.left && match.right) match.matched_by = m_.ComputationBy(cl);
    diff_.computations.push_back(match);
    // Removed instructions follow the one that they followed on the left.
    llvm::DenseMap<DiffId, std::vector<DiffId>> removed;
    if (cl != kNoDiffId) {
      DiffId after = kNoDiffId;
      for (DiffId l = m_.left.first(cl); l < m_.left.first(cl + 1); ++l) {
        const DiffId r = m_.ToRight(l);
        if (r == kNoDiffId)
          removed[after].push_back(l);
        else if (cr != kNoDiffId && m_.right.ComputationOf(r) == cr)
          after = r;
      }
    }
    const auto add_removed = [&](DiffId after) {
      const auto found = removed.find(after);
      if (found == removed.end()) return;
      for (const DiffId l : found->second) AddLone(m_.left, l, m_.LeftOriginal(cl), DiffKind::Removed);
    };
    add_removed(kNoDiffId);
    if (cr == kNoDiffId) return;
    for (DiffId r = m_.right.first(cr); r < m_.right.first(cr + 1); ++r) {
      if (m_.ToLeft(r) == kNoDiffId)
        AddLone(m_.right, r, m_.RightOriginal(cr), DiffKind::Added);
      else
        AddMatched(m_.ToLeft(r), r);
      add_removed(r);
    }
  }

  void AddLone(const DiffGraph& graph, DiffId id, DiffId original, DiffKind kind) {
    DiffEntry entry;
    entry.kind = kind;
    (kind == DiffKind::Removed ? entry.left : entry.right) = &graph[id];
    if (original != kNoDiffId) {
      entry.kind = DiffKind::Unchanged;
      entry.matched_by = MatchedBy::Fingerprint;
      entry.note = "copy of %" + graph.computation(original).name().str();
    }
    diff_.entries.push_back(std::move(entry));
  }

  void AddMatched(DiffId l, DiffId r) {
    DiffEntry entry;
    entry.left = &m_.left[l];
    entry.right = &m_.right[r];
    entry.matched_by = m_.By(l);
    entry.changes = CompareMatched(m_, l, r);
    if (!m_.SamePlace(l, r)) {
      entry.moved = true;
      entry.note = MoveNote(*entry.left->parent(), *entry.right->parent());
    } else if (moved_in_schedule_[Index(l)]) {
      entry.moved = true;
      entry.note = kMovedInSchedule;
    }
    if (!entry.changes.empty())
      entry.kind = DiffKind::Changed;
    else if (entry.moved)
      entry.kind = DiffKind::Moved;
    diff_.entries.push_back(std::move(entry));
  }

  const DiffMatching& m_;
  ModuleDiff diff_;
  std::vector<bool> moved_in_schedule_;
};

}  // namespace

ModuleDiff CompareModules(const Module& left, const Module& right, const DiffOptions& options) {
  const DiffGraph left_graph(left), right_graph(right);
  DiffMatching matching(left_graph, right_graph, options);
  FindMatching(matching);
  return Comparer(matching).Run();
}

}  // namespace hlo
