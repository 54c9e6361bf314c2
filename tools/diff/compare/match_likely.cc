// Matching what was edited: by its place among what is matched, then by likeness.
#include "ir/support/edit_script.h"
#include "llvm/ADT/StringMap.h"
#include "tools/diff/compare/matching.h"

namespace hlo {
namespace {

constexpr int kEnough = 6;              // points that two instructions need to be a pair
constexpr size_t kMostCandidates = 64;  // per instruction
constexpr size_t kMostEdits = 64;       // between the operands of two instructions
constexpr int kMostForms = 16;          // that a value takes one after the other

class LikelyMatcher {
 public:
  LikelyMatcher(DiffMatching& m, llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids,
                const DiffHashes& left, const DiffHashes& right)
      : m_(m), left_ids_(left_ids), right_ids_(right_ids), left_(left), right_(right) {}

  void Run() {
    MatchByOperands(/*reshaped=*/false);
    Follow();
    MatchByOperands(/*reshaped=*/true);
    Follow();
    while (MatchByScore()) Follow();
  }

 private:
  [[nodiscard]] bool LeftFree(DiffId l) const { return m_.ToRight(l) == kNoDiffId; }
  [[nodiscard]] bool RightFree(DiffId r) const { return m_.ToLeft(r) == kNoDiffId; }
  [[nodiscard]] bool SameSource(DiffId l, DiffId r) const {
    return m_.ToRight(m_.left.Source(l)) == m_.right.Source(r);
  }

  /// What stands behind free instructions that only reshape, or take apart a tuple made here.
  template <class F>
  static DiffId Behind(const DiffGraph& graph, DiffId id, F&& is_free) {
    for (int step = 0; step < kMostForms && is_free(id); ++step) {
      const DiffId source = graph[id].kind() == OpKind::GetTupleElement ? graph.Source(id) : id;
      if (source != id && graph.ComputationOf(source) == graph.ComputationOf(id))
        id = source;
      else if (Reshapes(graph[id]))
        id = graph.Operands(id)[0];
      else
        break;
    }
    return id;
  }
  [[nodiscard]] DiffId LeftBehind(DiffId l) const {
    return Behind(m_.left, l, [&](DiffId id) { return LeftFree(id); });
  }
  [[nodiscard]] DiffId RightBehind(DiffId r) const {
    return Behind(m_.right, r, [&](DiffId id) { return RightFree(id); });
  }

  void Take(DiffId l, DiffId r, MatchedBy by) {
    m_.Match(l, r, by);
    work_.push_back(l);
  }

  /// A number for the opcode and the values that an instruction takes, as ids of the right side; 0 if not all
  /// of them have a counterpart.
  template <class F>
  static uint64_t OperandKey(const DiffGraph& graph, DiffId id, F&& pair_of) {
    uint64_t h = static_cast<uint64_t>(graph[id].kind());
    if (graph.Operands(id).empty()) return 0;
    for (const DiffId operand : graph.Operands(id)) {
      const DiffId pair = pair_of(operand);
      if (pair == kNoDiffId) return 0;
      h = CombineHashes(h, Index(pair));
    }
    return h | 1;
  }
  [[nodiscard]] uint64_t LeftKey(DiffId l, bool reshaped) const {
    return OperandKey(m_.left, l, [&](DiffId o) { return m_.ToRight(reshaped ? LeftBehind(o) : o); });
  }
  [[nodiscard]] uint64_t RightKey(DiffId r, bool reshaped) const {
    return OperandKey(m_.right, r, [&](DiffId o) {
      if (reshaped) o = RightBehind(o);
      return RightFree(o) ? kNoDiffId : o;
    });
  }

  /// Instructions of one opcode that take the same values, in order; `reshaped`: or these in another form.
  void MatchByOperands(bool reshaped) {
    llvm::DenseMap<uint64_t, std::vector<DiffId>> waiting;
    for (const DiffId r : llvm::reverse(right_ids_)) {
      if (!RightFree(r) || (reshaped && Reshapes(m_.right[r]))) continue;
      if (const uint64_t h = RightKey(r, reshaped); h != 0) waiting[h].push_back(r);
    }
    if (waiting.empty()) return;
    for (const DiffId l : left_ids_) {
      if (!LeftFree(l)) continue;
      const auto found = waiting.find(LeftKey(l, reshaped));
      if (found == waiting.end() || found->second.empty()) continue;
      const DiffId r = found->second.back();
      if (left_.own[Index(l)] != right_.own[Index(r)] && found->second.size() > 1) continue;
      if (m_.left[l].kind() != m_.right[r].kind()) continue;
      found->second.pop_back();
      Take(l, r, MatchedBy::Operands);
    }
  }

  /// From what has been matched to what takes it and is taken by it, until nothing is found any more.
  void Follow() {
    do {
      MatchInPlace();
      for (size_t next = 0; next < work_.size();) FollowUsers(work_[next++]);
    } while (!std::exchange(work_, {}).empty());
  }

  /// Free instructions that take the value, in another form too; not those that take very many.
  template <class F>
  static llvm::SmallVector<DiffId, 8> FreeUsers(const DiffGraph& graph, DiffId id, F&& is_free) {
    llvm::SmallVector<DiffId, 8> users, todo = {id};
    while (!todo.empty() && users.size() < kMostCandidates) {
      for (const DiffUse& use : graph.Uses(todo.pop_back_val()).take_front(kMostCandidates)) {
        if (!is_free(use.user) || graph.Operands(use.user).size() > kMostCandidates) continue;
        (Reshapes(graph[use.user]) ? todo : users).push_back(use.user);
      }
    }
    llvm::sort(users);
    users.erase(std::unique(users.begin(), users.end()), users.end());
    return users;
  }

  /// Users of a pair that take the same values otherwise, too.
  void FollowUsers(DiffId l) {
    const DiffId r = m_.ToRight(l);
    const auto right_users = FreeUsers(m_.right, r, [&](DiffId id) { return RightFree(id); });
    if (right_users.empty()) return;
    llvm::SmallVector<std::pair<uint64_t, DiffId>, 8> keys;
    for (const DiffId y : right_users)
      if (const uint64_t key = RightKey(y, /*reshaped=*/true); key != 0) keys.emplace_back(key, y);
    if (keys.empty()) return;
    for (const DiffId x : FreeUsers(m_.left, l, [&](DiffId id) { return LeftFree(id); })) {
      const uint64_t key = LeftKey(x, /*reshaped=*/true);
      for (const auto& [right_key, y] : keys) {
        if (right_key != key || !RightFree(y) || !m_.SamePlace(x, y)) continue;
        Take(x, y, MatchedBy::Operands);
        break;
      }
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
    if (left_root != kNoDiffId && right_root != kNoDiffId) MatchOperand(left_root, right_root);
    for (const DiffId u : llvm::reverse(left_ids_)) {
      if (LeftFree(u)) continue;
      const llvm::ArrayRef<DiffId> a = m_.left.Operands(u), b = m_.right.Operands(m_.ToRight(u));
      if (a.size() == b.size())
        for (size_t k = 0; k < a.size(); ++k) MatchOperand(a[k], b[k]);
      else
        MatchOperandList(a, b);
    }
  }

  /// Two values at one place of matched users; behind what only reshapes if they are not of one opcode.
  void MatchOperand(DiffId l, DiffId r) {
    if (m_.ToRight(l) == r) return;
    if (!LeftFree(l) || !RightFree(r) || m_.left[l].kind() != m_.right[r].kind()) {
      MatchForms(l, r);
      const DiffId x = LeftBehind(l), y = RightBehind(r);
      if ((x != l || y != r) && m_.left[x].kind() == m_.right[y].kind() && Replaces(x, y)) {
        l = x;
        r = y;
      }
    }
    if (Replaces(l, r)) Take(l, r, MatchedBy::Operands);
  }

  /// What only reshapes on the ways from a pair to two values: steps that changed places.
  void MatchForms(DiffId l, DiffId r) {
    const DiffId left_end = LeftBehind(l), right_end = RightBehind(r);
    if (m_.ToRight(left_end) != right_end || !m_.SamePlace(left_end, right_end)) return;
    for (DiffId x = l; x != left_end && Reshapes(m_.left[x]); x = m_.left.Operands(x)[0])
      for (DiffId y = r; y != right_end && Reshapes(m_.right[y]); y = m_.right.Operands(y)[0])
        if (m_.Free(x, y) && m_.left[x].kind() == m_.right[y].kind()) Take(x, y, MatchedBy::Operands);
  }

  /// Operands of which some came or went.
  void MatchOperandList(llvm::ArrayRef<DiffId> a, llvm::ArrayRef<DiffId> b) {
    const auto free = [&](size_t i, size_t j) { return LeftFree(a[i]) && RightFree(b[j]); };
    if (llvm::none_of(a, [&](DiffId l) { return LeftFree(l); })) return;
    const auto pairs = KeptPairs(a.size(), b.size(), kMostEdits, [&](size_t i, size_t j) {
      return m_.ToRight(a[i]) == b[j] || (free(i, j) && left_.own[Index(a[i])] == right_.own[Index(b[j])]);
    });
    for (const auto& [i, j] : pairs) MatchOperand(a[i], b[j]);
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
      near += SameSource(x[k], y[k]) ? 3 : m_.ToRight(LeftBehind(x[k])) == RightBehind(y[k]) ? 2 : 0;
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
        Take(c.l, c.r, MatchedBy::Similarity);
        any = true;
      }
    return any;
  }

  /// Free right instructions that share an operand or a user with `l`.
  void Gather(DiffId l, llvm::SmallVectorImpl<DiffId>& candidates) const {
    const DiffId cr = m_.ComputationToRight(m_.left.ComputationOf(l));
    for (const DiffId operand : m_.left.Operands(l)) {
      DiffId r = m_.ToRight(operand);
      if (r == kNoDiffId) {
        r = m_.ToRight(LeftBehind(operand));
        if (r == kNoDiffId) continue;
        for (const DiffId user : FreeUsers(m_.right, r, [&](DiffId id) { return RightFree(id); }))
          if (m_.right.ComputationOf(user) == cr) candidates.push_back(user);
      }
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
  std::vector<DiffId> work_;  // left ids of new pairs
};

}  // namespace

void MatchLikely(DiffMatching& matching, llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids,
                 const DiffHashes& left, const DiffHashes& right) {
  LikelyMatcher(matching, left_ids, right_ids, left, right).Run();
}

}  // namespace hlo
