// Matching by hashes, and from matched instructions along edges.
#include "ir/support/edit_script.h"
#include "tools/diff/compare/matching.h"

namespace hlo {

static constexpr size_t kMostEdits = 64;  // between the operands of two instructions

uint64_t HashMatcher::KeyOf(const DiffHashes& hashes, DiffId id, Key key) const {
  switch (key) {
    case Key::Up: return hashes.up[Index(id)];
    case Key::Down: return hashes.down[Index(id)];
    case Key::UpDown: break;
  }
  return CombineHashes(hashes.up[Index(id)], hashes.down[Index(id)]);
}

HashMatcher::Keys HashMatcher::SortedKeys(const DiffHashes& hashes, llvm::ArrayRef<DiffId> ids, Key key,
                                          bool left) const {
  Keys keys;
  for (const DiffId id : ids)
    if ((left ? m_.ToRight(id) : m_.ToLeft(id)) == kNoDiffId) keys.emplace_back(KeyOf(hashes, id, key), id);
  llvm::sort(keys);
  return keys;
}

void HashMatcher::Take(DiffId l, DiffId r, MatchedBy by) {
  m_.Match(l, r, by);
  work_.push_back(l);
}

/// The ids whose key only they have, on both sides; in an order that does not depend on hashes.
static std::vector<std::pair<DiffId, DiffId>> UniquePairs(const HashMatcher::Keys& a,
                                                          const HashMatcher::Keys& b) {
  const auto unique = [](const HashMatcher::Keys& keys, size_t i) {
    return (i == 0 || keys[i - 1].first != keys[i].first) &&
           (i + 1 == keys.size() || keys[i + 1].first != keys[i].first);
  };
  std::vector<std::pair<DiffId, DiffId>> found;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first < b[j].first) {
      ++i;
    } else if (b[j].first < a[i].first) {
      ++j;
    } else {
      if (unique(a, i) && unique(b, j)) found.emplace_back(a[i].second, b[j].second);
      ++i;
      ++j;
    }
  }
  llvm::sort(found);
  return found;
}

void HashMatcher::MatchUnique(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids, Key key) {
  const Keys a = SortedKeys(left_, left_ids, key, true), b = SortedKeys(right_, right_ids, key, false);
  for (const auto& [l, r] : UniquePairs(a, b))
    if (SameOwn(l, r)) Take(l, r, MatchedBy::Fingerprint);
}

void HashMatcher::MatchInOrder(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids, Key key) {
  struct Group {
    std::vector<DiffId> members;
    size_t next = 0;
  };
  llvm::DenseMap<uint64_t, Group> groups;
  for (const DiffId r : right_ids)
    if (m_.ToLeft(r) == kNoDiffId) groups[KeyOf(right_, r, key)].members.push_back(r);
  if (groups.empty()) return;
  for (auto& entry : groups) std::reverse(entry.second.members.begin(), entry.second.members.end());
  // Users first: what they take as operands follows from them.
  for (const DiffId l : llvm::reverse(left_ids)) {
    if (m_.ToRight(l) != kNoDiffId) continue;
    const auto found = groups.find(KeyOf(left_, l, key));
    if (found == groups.end()) continue;
    Group& group = found->second;
    while (group.next < group.members.size() && m_.ToLeft(group.members[group.next]) != kNoDiffId)
      ++group.next;
    if (group.next == group.members.size() || !SameOwn(l, group.members[group.next])) continue;
    Take(l, group.members[group.next++], MatchedBy::Fingerprint);
    Propagate(Trust::Either);
  }
}

bool HashMatcher::SameOwn(DiffId l, DiffId r) const {
  if (left_.own[Index(l)] != right_.own[Index(r)]) return false;
  if (m_.left[l].kind() != OpKind::GetTupleElement) return true;
  // Elements of tuples that won or lost some are not known by their numbers.
  const llvm::ArrayRef<DiffId> a = m_.left.Operands(l), b = m_.right.Operands(r);
  return a.size() == b.size() && llvm::equal(a, b, [&](DiffId x, DiffId y) {
           return m_.left[x].shape().tuple_shapes().size() == m_.right[y].shape().tuple_shapes().size();
         });
}

bool HashMatcher::Acceptable(DiffId l, DiffId r, Trust trust) const {
  if (!m_.Free(l, r) || !SameOwn(l, r)) return false;
  if (!across_ && !m_.SamePlace(l, r)) return false;
  return trust == Trust::Own || left_.up[Index(l)] == right_.up[Index(r)] ||
         (trust == Trust::Either && left_.down[Index(l)] == right_.down[Index(r)]);
}

void HashMatcher::PropagateToOperands(DiffId l, DiffId r, Trust trust) {
  const llvm::ArrayRef<DiffId> a = m_.left.Operands(l), b = m_.right.Operands(r);
  const bool commutes =
      !m_.options.strict_order && m_.left[l].info().Is(kCommutative) && a.size() >= 2 && b.size() >= 2;
  const auto left_at = [&](size_t k) { return across_ ? m_.left.Source(a[k]) : a[k]; };
  const auto right_at = [&](size_t k) { return across_ ? m_.right.Source(b[k]) : b[k]; };
  if (commutes && !Acceptable(left_at(0), right_at(0), trust) &&
      !Acceptable(left_at(1), right_at(1), trust)) {
    for (size_t k = 0; k < 2; ++k)
      if (Acceptable(left_at(k), right_at(1 - k), trust))
        Take(left_at(k), right_at(1 - k), MatchedBy::Operands);
  }
  if (a.size() == b.size()) {
    for (size_t k = 0; k < a.size(); ++k)
      if (Acceptable(left_at(k), right_at(k), trust)) Take(left_at(k), right_at(k), MatchedBy::Operands);
    return;
  }
  if (llvm::none_of(a, [&](DiffId id) { return m_.ToRight(id) == kNoDiffId; })) return;
  // Where operands came or went, places have shifted.
  const auto same = [&](size_t i, size_t j) {
    return m_.ToRight(left_at(i)) == right_at(j) || Acceptable(left_at(i), right_at(j), trust);
  };
  for (const auto& [i, j] : KeptPairs(a.size(), b.size(), kMostEdits, same))
    if (Acceptable(left_at(i), right_at(j), trust)) Take(left_at(i), right_at(j), MatchedBy::Operands);
}

void HashMatcher::PropagateToUsers(DiffId l, DiffId r, Trust trust) {
  const auto keys = [&](const DiffGraph& graph, const DiffHashes& hashes, DiffId id, bool left, Key key) {
    Keys found;
    for (const DiffUse& use : graph.Uses(id)) {
      if ((left ? m_.ToRight(use.user) : m_.ToLeft(use.user)) != kNoDiffId) continue;
      const bool any_order = !m_.options.strict_order && graph[use.user].info().Is(kCommutative);
      uint64_t h =
          CombineHashes(hashes.own[Index(use.user)], any_order ? 0 : static_cast<uint64_t>(use.position));
      if (trust != Trust::Own) h = CombineHashes(h, KeyOf(hashes, use.user, key));
      found.emplace_back(h, use.user);
    }
    llvm::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  };
  for (const Key key : {Key::Up, Key::Down}) {
    const Keys a = keys(m_.left, left_, l, true, key);
    if (a.empty()) return;
    const Keys b = keys(m_.right, right_, r, false, key);
    for (const auto& [x, y] : UniquePairs(a, b))
      if (Acceptable(x, y, trust)) Take(x, y, MatchedBy::Operands);
    if (trust != Trust::Either) return;
  }
}

void HashMatcher::Propagate(Trust trust) {
  // First come, first served: where values are alike, those of earlier users get the earlier ones.
  size_t next = 0;
  while (next < work_.size()) {
    const DiffId l = work_[next++];
    const DiffId r = m_.ToRight(l);
    PropagateToOperands(l, r, trust);
    PropagateToUsers(l, r, trust);
  }
  work_.clear();
}

void HashMatcher::MatchWithin(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids) {
  const auto all_pairs = [&] {
    work_.clear();
    for (const DiffId l : left_ids)
      if (m_.ToRight(l) != kNoDiffId && m_.SamePlace(l, m_.ToRight(l))) work_.push_back(l);
  };
  across_ = false;
  // The same value first: what becomes of a value tells less, as it does not look at what else its users
  // take.
  all_pairs();
  Propagate(Trust::Value);
  MatchUnique(left_ids, right_ids, Key::Up);
  Propagate(Trust::Value);
  MatchUnique(left_ids, right_ids, Key::UpDown);
  all_pairs();
  Propagate(Trust::Either);
  MatchInOrder(left_ids, right_ids, Key::UpDown);
  MatchUnique(left_ids, right_ids, Key::Up);
  Propagate(Trust::Either);
  MatchUnique(left_ids, right_ids, Key::Down);
  Propagate(Trust::Either);
  all_pairs();
  Propagate(Trust::Own);
}

void HashMatcher::MatchAcross(llvm::ArrayRef<DiffId> left_ids, llvm::ArrayRef<DiffId> right_ids) {
  across_ = true;
  work_.clear();
  MatchUnique(left_ids, right_ids, Key::UpDown);
  Propagate(Trust::Either);
  MatchInOrder(left_ids, right_ids, Key::UpDown);
  MatchUnique(left_ids, right_ids, Key::Up);
  Propagate(Trust::Either);
}

}  // namespace hlo
