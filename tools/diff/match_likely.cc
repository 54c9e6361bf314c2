// Matching what was edited: by its place among what is matched, then by likeness.
#include "llvm/ADT/StringMap.h"
#include "tools/diff/matching.h"

namespace hlo {
namespace {

size_t Index(DiffId id) { return static_cast<size_t>(id); }

constexpr int kEnough = 6;              // points that two instructions need to be a pair
constexpr size_t kMostCandidates = 64;  // per instruction

class LikelyMatcher {
 public:
  LikelyMatcher(DiffMatching& m, llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids,
                const DiffHashes& left, const DiffHashes& right)
      : m_(m), left_ids_(left_ids), right_ids_(right_ids), left_(left), right_(right) {}

  void Run() {
    MatchByOperands();
    MatchInPlace();
    while (MatchByScore()) MatchInPlace();
  }

 private:
  [[nodiscard]] bool LeftFree(DiffId l) const { return m_.ToRight(l) == kNoDiffId; }
  [[nodiscard]] bool RightFree(DiffId r) const { return m_.ToLeft(r) == kNoDiffId; }
  [[nodiscard]] bool SameSource(DiffId l, DiffId r) const {
    return m_.ToRight(m_.left.Source(l)) == m_.right.Source(r);
  }

  /// Instructions of one opcode that take the same values, in order.
  void MatchByOperands() {
    llvm::DenseMap<uint64_t, std::vector<DiffId>> waiting;
    const auto key = [&](const DiffGraph& graph, DiffId id, auto&& pair_of) -> uint64_t {
      uint64_t h = static_cast<uint64_t>(graph[id].kind());
      if (graph.Operands(id).empty()) return 0;
      for (const DiffId operand : graph.Operands(id)) {
        const DiffId pair = pair_of(operand);
        if (pair == kNoDiffId) return 0;
        h = CombineHashes(h, Index(pair));
      }
      return h | 1;
    };
    for (const DiffId r : llvm::reverse(right_ids_)) {
      if (!RightFree(r)) continue;
      const uint64_t h = key(m_.right, r, [&](DiffId o) { return RightFree(o) ? kNoDiffId : o; });
      if (h != 0) waiting[h].push_back(r);
    }
    if (waiting.empty()) return;
    for (const DiffId l : left_ids_) {
      if (!LeftFree(l)) continue;
      const auto found = waiting.find(key(m_.left, l, [&](DiffId o) { return m_.ToRight(o); }));
      if (found == waiting.end() || found->second.empty()) continue;
      const DiffId r = found->second.back();
      if (left_.own[Index(l)] != right_.own[Index(r)] && found->second.size() > 1) continue;
      if (m_.left[l].kind() != m_.right[r].kind()) continue;
      found->second.pop_back();
      m_.Match(l, r, MatchedBy::Operands);
    }
  }

  /// Whether one may have been edited into the other, given that both stand at the same place of a user.
  [[nodiscard]] bool Replaces(DiffId l, DiffId r) const {
    if (!LeftFree(l) || !RightFree(r) || !m_.SamePlace(l, r)) return false;
    if (m_.left[l].kind() == m_.right[r].kind()) return true;
    const llvm::ArrayRef<DiffId> a = m_.left.Operands(l), b = m_.right.Operands(r);
    const auto shared = llvm::count_if(
        a, [&](DiffId x) { return llvm::any_of(b, [&](DiffId y) { return SameSource(x, y); }); });
    return shared > 0 && (shared == static_cast<int64_t>(std::max(a.size(), b.size())) ||
                          Compatible(m_.left[l].shape(), m_.right[r].shape()));
  }

  /// What took the place of something among the operands of a matched instruction, or as the root.
  void MatchInPlace() {
    if (left_ids_.empty() || right_ids_.empty()) return;
    const DiffId left_root = m_.left.root(m_.left.ComputationOf(left_ids_.front()));
    const DiffId right_root = m_.right.root(m_.right.ComputationOf(right_ids_.front()));
    if (left_root != kNoDiffId && right_root != kNoDiffId && Replaces(left_root, right_root))
      m_.Match(left_root, right_root, MatchedBy::Operands);
    for (const DiffId u : llvm::reverse(left_ids_)) {
      if (LeftFree(u)) continue;
      const llvm::ArrayRef<DiffId> a = m_.left.Operands(u), b = m_.right.Operands(m_.ToRight(u));
      if (a.size() != b.size()) continue;
      for (size_t k = 0; k < a.size(); ++k)
        if (Replaces(a[k], b[k])) m_.Match(a[k], b[k], MatchedBy::Operands);
    }
  }

  /// A name without its number.
  static llvm::StringRef Stem(llvm::StringRef name) { return name.rtrim("0123456789."); }

  static llvm::StringRef OpName(const Instruction& inst) {
    return inst.metadata() ? inst.metadata()->op_name : llvm::StringRef();
  }

  /// Points for what the two have in common; 0 where that says nothing.
  int Score(DiffId l, DiffId r) const {
    const Instruction &a = m_.left[l], &b = m_.right[r];
    int near = 0;
    const llvm::ArrayRef<DiffId> x = m_.left.Operands(l), y = m_.right.Operands(r);
    for (size_t k = 0; k < std::min({x.size(), y.size(), size_t{4}}); ++k)
      near += SameSource(x[k], y[k]) ? 3 : 0;
    for (const DiffUse& use : m_.left.Uses(l).take_front(4)) {
      const DiffId user = m_.ToRight(use.user);
      if (user == kNoDiffId || use.position >= static_cast<int32_t>(m_.right.Operands(user).size())) continue;
      near += m_.right.Operands(user)[static_cast<size_t>(use.position)] == r ? 3 : 0;
    }
    if (m_.left.IsRoot(l) && m_.right.IsRoot(r)) near += 3;
    if (!OpName(a).empty() && OpName(a) == OpName(b)) near += 3;
    const bool named_alike = a.name() == b.name();
    if (near == 0 && !named_alike) return 0;
    int score = std::min(near, 9) + (named_alike ? 2 : 0);
    if (Compatible(a.shape(), b.shape()) ||
        (near > 0 && a.shape().IsArray() && b.shape().IsArray() && SameDims(a.shape(), b.shape())))
      score += 2;
    if (a.shape() == b.shape()) score += 1;
    if (near > 0 && !named_alike && Stem(a.name()) == Stem(b.name())) score += 1;
    if (left_.own[Index(l)] == right_.own[Index(r)]) score += 2;
    if (a.kind() == OpKind::Parameter && a.attr<ParameterAttrs>().number == b.attr<ParameterAttrs>().number)
      score += 3;
    return score;
  }

  /// The best pairs among those that share a neighbour or a name. False if there were none, or no time.
  bool MatchByScore() {
    struct Candidate {
      int score;
      DiffId l, r;
    };
    llvm::StringMap<DiffId> by_name;
    llvm::StringMap<llvm::SmallVector<DiffId, 2>> by_op_name;
    int64_t free = 0;
    for (const DiffId r : right_ids_) {
      if (!RightFree(r)) continue;
      ++free;
      by_name[m_.right[r].name()] = r;
      if (const llvm::StringRef name = OpName(m_.right[r]); !name.empty())
        if (auto& list = by_op_name[name]; list.size() < kMostCandidates) list.push_back(r);
    }
    if (free == 0) return false;
    std::vector<Candidate> found;
    for (const DiffId l : left_ids_) {
      if (!LeftFree(l)) continue;
      llvm::SmallVector<DiffId, 16> candidates;
      Gather(l, candidates);
      if (const auto it = by_name.find(m_.left[l].name()); it != by_name.end())
        candidates.push_back(it->second);
      if (const auto it = by_op_name.find(OpName(m_.left[l])); it != by_op_name.end())
        candidates.append(it->second.begin(), it->second.end());
      llvm::sort(candidates);
      candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
      if (!m_.Spend(static_cast<int64_t>(candidates.size()) * 16 + 1)) return false;
      for (const DiffId r : candidates)
        if (RightFree(r) && m_.left[l].kind() == m_.right[r].kind())
          if (const int score = Score(l, r); score >= kEnough) found.push_back({score, l, r});
    }
    llvm::sort(found, [](const Candidate& a, const Candidate& b) {
      return std::tuple(-a.score, a.l, a.r) < std::tuple(-b.score, b.l, b.r);
    });
    bool any = false;
    for (const Candidate& c : found)
      if (m_.Free(c.l, c.r)) {
        m_.Match(c.l, c.r, MatchedBy::Similarity);
        any = true;
      }
    return any;
  }

  /// Free right instructions that share an operand or a user with `l`.
  void Gather(DiffId l, llvm::SmallVectorImpl<DiffId>& candidates) const {
    const DiffId cr = m_.ComputationToRight(m_.left.ComputationOf(l));
    for (const DiffId operand : m_.left.Operands(l)) {
      const DiffId r = m_.ToRight(operand);
      if (r == kNoDiffId) continue;
      for (const DiffUse& use : m_.right.Uses(r).take_front(4 * kMostCandidates)) {
        if (candidates.size() >= kMostCandidates) return;
        if (RightFree(use.user) && m_.right.ComputationOf(use.user) == cr) candidates.push_back(use.user);
      }
    }
    for (const DiffUse& use : m_.left.Uses(l).take_front(kMostCandidates)) {
      const DiffId user = m_.ToRight(use.user);
      if (user == kNoDiffId || use.position >= static_cast<int32_t>(m_.right.Operands(user).size())) continue;
      const DiffId r = m_.right.Operands(user)[static_cast<size_t>(use.position)];
      if (RightFree(r) && m_.right.ComputationOf(r) == cr) candidates.push_back(r);
    }
  }

  DiffMatching& m_;
  llvm::ArrayRef<DiffId> left_ids_, right_ids_;
  const DiffHashes &left_, &right_;
};

}  // namespace

void MatchLikely(DiffMatching& matching, llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids,
                 const DiffHashes& left, const DiffHashes& right) {
  LikelyMatcher(matching, left_ids, right_ids, left, right).Run();
}

}  // namespace hlo
