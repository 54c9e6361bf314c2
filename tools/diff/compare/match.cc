// The order of the steps of matching: from what is certain to what is likely.
#include "ir/support/interrupt.h"
#include "tools/diff/compare/matching.h"

namespace hlo {
namespace {

/// Hashes of one level over both modules.
struct LevelHashes {
  DiffHashes left, right;
  std::vector<uint64_t> left_computations, right_computations;
};

class Steps {
 public:
  explicit Steps(DiffMatching& m) : m_(m), seen_(Index(m.right.computation_count())) {}

  void Run() {
    MatchAll();
    PairCopies();
    if (Done()) return;
    MatchByContent(m_, /*copies_too=*/true);
    Within(exact_, /*exact=*/true);
    Within(Through(DiffLevel::Opcode, opcode()));
    Likely();
  }

 private:
  void MatchAll() {
    exact_ = Local(DiffLevel::Exact);
    FindCopies(m_, exact_.left, exact_.right, exact_.left_computations, exact_.right_computations);
    TakeHints();
    const DiffId left_entry = m_.left.IdOf(m_.left.module().entry());
    const DiffId right_entry = m_.right.IdOf(m_.right.module().entry());
    if (left_entry != kNoDiffId && right_entry != kNoDiffId &&
        m_.ComputationToRight(left_entry) == kNoDiffId && m_.ComputationToLeft(right_entry) == kNoDiffId)
      m_.MatchComputations(left_entry, right_entry, MatchedBy::Fingerprint);
    Within(exact_, /*exact=*/true);
    if (Done()) return;
    MatchThrough(DiffLevel::Exact, exact_);
    MatchThrough(DiffLevel::Meaning, meaning());
    MatchByContent(m_);
    Within(exact_, /*exact=*/true);
    Within(meaning());
    MatchThrough(DiffLevel::Exact, exact_);
    Within(Through(DiffLevel::Opcode, opcode()));
    // Likely matches make more computations known, these more instructions.
    for (int round = 0; round < 3 && !Done(); ++round) {
      const DiffId before = m_.FreeLeft();
      Likely();
      MatchByContent(m_);
      Within(exact_, /*exact=*/true);
      Within(Through(DiffLevel::Opcode, opcode()));
      if (m_.FreeLeft() == before) break;
    }
  }

  /// Copies that no matched instruction calls any more, or not yet.
  void PairCopies() {
    llvm::DenseMap<int32_t, std::vector<DiffId>> by_class;
    for (DiffId cl = m_.left.computation_count() - 1; cl >= 0; --cl)
      if (m_.ComputationToRight(cl) == kNoDiffId) by_class[m_.left_class[Index(cl)]].push_back(cl);
    for (DiffId cr = 0; cr < m_.right.computation_count(); ++cr) {
      if (m_.ComputationToLeft(cr) != kNoDiffId) continue;
      const auto found = by_class.find(m_.right_class[Index(cr)]);
      if (found == by_class.end() || found->second.empty()) continue;
      const DiffId cl = found->second.back();
      found->second.pop_back();
      m_.MatchComputations(cl, cr, MatchedBy::Fingerprint);
      TakeCopy(cl, cr);
    }
  }

  [[nodiscard]] bool Done() const { return m_.FreeLeft() == 0 || m_.FreeRight() == 0 || Interrupted(); }

  /// Made when first needed.
  const LevelHashes& meaning() {
    if (!meaning_) meaning_ = Local(DiffLevel::Meaning);
    return *meaning_;
  }
  const LevelHashes& opcode() {
    if (!opcode_) opcode_ = Local(DiffLevel::Opcode);
    return *opcode_;
  }

  [[nodiscard]] LevelHashes Local(DiffLevel level) const {
    LevelHashes hashes;
    hashes.left = DiffHasher{m_.left, m_.options, level}.Local(hashes.left_computations);
    hashes.right = DiffHasher{m_.right, m_.options, level}.Local(hashes.right_computations);
    return hashes;
  }

  /// As if all inline computations had been inlined; parameters of the others agree in pairs only.
  [[nodiscard]] LevelHashes Through(DiffLevel level, const LevelHashes& local) const {
    std::vector<uint64_t> left_tags, right_tags;
    constexpr uint64_t kLeft = uint64_t{1} << 40, kRight = uint64_t{2} << 40;
    for (DiffId c = 0; c < m_.left.computation_count(); ++c) {
      const DiffId pair = m_.ComputationToRight(c);
      left_tags.push_back(pair == kNoDiffId ? kLeft + Index(c) : Index(pair));
    }
    for (DiffId c = 0; c < m_.right.computation_count(); ++c)
      right_tags.push_back(m_.ComputationToLeft(c) == kNoDiffId ? kRight + Index(c) : Index(c));
    LevelHashes hashes;
    hashes.left =
        DiffHasher{m_.left, m_.options, level}.Through(local.left, local.left_computations, left_tags);
    hashes.right =
        DiffHasher{m_.right, m_.options, level}.Through(local.right, local.right_computations, right_tags);
    return hashes;
  }

  void TakeHints() {
    for (const auto& [left, right] : m_.options.computation_hints) {
      const DiffId cl = m_.left.IdOf(left), cr = m_.right.IdOf(right);
      if (m_.ComputationToRight(cl) == kNoDiffId && m_.ComputationToLeft(cr) == kNoDiffId)
        m_.MatchComputations(cl, cr, MatchedBy::Hint);
    }
    for (const auto& [left, right] : m_.options.hints) {
      const DiffId l = m_.left.IdOf(left), r = m_.right.IdOf(right);
      if (m_.Free(l, r)) m_.Match(l, r, MatchedBy::Hint);
    }
  }

  /// Calls `match` for each pair of computations, callers first; what it finds may make more pairs known.
  template <class F>
  void ForEachPair(F&& match) {
    for (DiffId cr = 0; cr < m_.right.computation_count() && !Done(); ++cr) {
      if (m_.ComputationToLeft(cr) == kNoDiffId) MatchCalled(m_, cr);
      const DiffId cl = m_.ComputationToLeft(cr);
      if (cl != kNoDiffId) match(cl, cr);
    }
  }

  /// `exact`: by the hashes of that level, and copies as wholes.
  void Within(const LevelHashes& hashes, bool exact = false) {
    HashMatcher matcher(m_, hashes.left, hashes.right);
    ForEachPair([&](DiffId cl, DiffId cr) {
      const auto left = m_.left.TopologicalOrder(cl), right = m_.right.TopologicalOrder(cr);
      if (exact && m_.SameClass(cl, cr) && TakeCopy(cl, cr)) return;
      if (!exact) {
        MatchTupleElements(m_, cl, cr);
        // A pair that this level has brought about: what is more certain comes first here, too.
        if (!seen_[Index(cr)]) HashMatcher(m_, exact_.left, exact_.right).MatchWithin(left, right);
      }
      seen_[Index(cr)] = true;
      const bool left_done = llvm::none_of(left, [&](DiffId l) { return m_.ToRight(l) == kNoDiffId; });
      const bool right_done = llvm::none_of(right, [&](DiffId r) { return m_.ToLeft(r) == kNoDiffId; });
      if (!left_done && !right_done) matcher.MatchWithin(left, right);
    });
  }

  /// All instructions of two computations that are the same; false if some have other counterparts already.
  bool TakeCopy(DiffId cl, DiffId cr) {
    const auto same = [&](DiffId a, DiffId b) { return m_.SameClass(a, b); };
    const std::vector<DiffId> pairs =
        FindIsomorphism({m_.left, exact_.left, cl}, {m_.right, exact_.right, cr}, m_.options, same);
    const DiffId first = m_.left.first(cl);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const DiffId l = first + static_cast<DiffId>(i);
      if (!m_.Free(l, pairs[i]) && m_.ToRight(l) != pairs[i]) return false;
    }
    for (size_t i = 0; i < pairs.size(); ++i)
      if (const DiffId l = first + static_cast<DiffId>(i); m_.Free(l, pairs[i]))
        m_.Match(l, pairs[i], MatchedBy::Fingerprint);
    return !pairs.empty();
  }

  void MatchThrough(DiffLevel level, const LevelHashes& local) {
    if (Done()) return;
    const LevelHashes through = Through(level, local);
    Within(through);
    if (Done()) return;
    HashMatcher(m_, through.left, through.right)
        .MatchAcross(Movable(
                         m_.left, [&](DiffId l) { return m_.ToRight(l) == kNoDiffId; },
                         [&](DiffId c) { return m_.LeftOriginal(c) == kNoDiffId; }),
                     Movable(
                         m_.right, [&](DiffId r) { return m_.ToLeft(r) == kNoDiffId; },
                         [&](DiffId c) { return m_.RightOriginal(c) == kNoDiffId; }));
  }

  /// Free instructions that can stand in another computation: not its parameters, not what only passes
  /// values through, not copies of what is matched.
  template <class F, class G>
  std::vector<DiffId> Movable(const DiffGraph& graph, F&& is_free, G&& no_copy) {
    std::vector<DiffId> ids;
    for (const DiffId id : graph.TopologicalOrder())
      if (is_free(id) && graph.Source(id) == id && graph[id].kind() != OpKind::Parameter &&
          no_copy(graph.ComputationOf(id)))
        ids.push_back(id);
    return ids;
  }

  void Likely() {
    ForEachPair([&](DiffId cl, DiffId cr) {
      MatchTupleElements(m_, cl, cr);
      MatchLikely(m_, m_.left.TopologicalOrder(cl), m_.right.TopologicalOrder(cr), meaning().left,
                  meaning().right);
    });
  }

  DiffMatching& m_;
  LevelHashes exact_;
  std::vector<bool> seen_;  // right computations whose pairs have been through the exact level
  std::optional<LevelHashes> meaning_, opcode_;
};

}  // namespace

void FindMatching(DiffMatching& matching) { Steps(matching).Run(); }

}  // namespace hlo
