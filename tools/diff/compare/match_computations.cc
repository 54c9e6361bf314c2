// Which computation became which: by their callers, by what they hold.
#include "ir/print.h"
#include "tools/diff/compare/matching.h"

namespace hlo {
namespace {

/// Of free computations the one with the most votes; more certain votes first, then the earlier.
struct Vote {
  int64_t certain = 0, count = 0;
};

DiffId Winner(const llvm::SmallVectorImpl<std::pair<DiffId, Vote>>& votes) {
  DiffId best = kNoDiffId;
  Vote most;
  for (const auto& [c, vote] : votes)
    if (best == kNoDiffId ||
        std::tuple(vote.certain, vote.count, -c) > std::tuple(most.certain, most.count, -best)) {
      best = c;
      most = vote;
    }
  return best;
}

void AddVote(llvm::SmallVectorImpl<std::pair<DiffId, Vote>>& votes, DiffId c, bool certain) {
  auto found = llvm::find_if(votes, [&](const auto& entry) { return entry.first == c; });
  if (found == votes.end()) found = votes.insert(votes.end(), {c, {}});
  ++found->second.count;
  found->second.certain += certain;
}

/// How the computation is used: opcode of the caller and place among its callees.
std::pair<int, size_t> UseOf(const DiffGraph& graph, DiffId c) {
  if (graph.computation(c).IsEntry()) return {-2, 0};
  if (graph.Callers(c).empty()) return {-1, 0};
  const Instruction& caller = graph[graph.Callers(c).front()];
  const auto callees = caller.callees();
  const auto place = llvm::find(callees, &graph.computation(c)) - callees.begin();
  return {static_cast<int>(caller.kind()), static_cast<size_t>(place)};
}

/// Program shape as text, for comparing.
std::string ProgramShape(const Computation& c) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Shape& shape : c.ParameterShapes()) Print(os << ',', shape, /*with_layout=*/false);
  if (c.root()) Print(os << "->", c.root()->shape(), /*with_layout=*/false);
  return text;
}

}  // namespace

void MatchCalled(DiffMatching& m, DiffId cr) {
  llvm::SmallVector<std::pair<DiffId, Vote>, 4> votes;
  for (const DiffId r : m.right.Callers(cr)) {
    const DiffId l = m.ToLeft(r);
    if (l == kNoDiffId) continue;
    const auto left_callees = m.left[l].callees(), right_callees = m.right[r].callees();
    for (size_t i = 0; i < std::min(left_callees.size(), right_callees.size()); ++i) {
      if (m.right.IdOf(right_callees[i]) != cr) continue;
      const DiffId cl = m.left.IdOf(left_callees[i]);
      if (m.ComputationToRight(cl) == kNoDiffId) AddVote(votes, cl, m.SameClass(cl, cr));
    }
  }
  const DiffId cl = Winner(votes);
  if (cl != kNoDiffId)
    m.MatchComputations(cl, cr, m.SameClass(cl, cr) ? MatchedBy::Fingerprint : MatchedBy::Operands);
}

/// Much of the same contents, as far as instructions are matched already.
static void MatchBySharedContent(DiffMatching& m, llvm::ArrayRef<DiffId> right_free) {
  for (const DiffId cr : right_free) {
    if (m.ComputationToLeft(cr) != kNoDiffId) continue;
    llvm::SmallVector<std::pair<DiffId, Vote>, 4> votes;
    for (const DiffId r : m.right.TopologicalOrder(cr)) {
      if (m.ToLeft(r) == kNoDiffId) continue;
      const DiffId cl = m.left.ComputationOf(m.ToLeft(r));
      if (m.ComputationToRight(cl) == kNoDiffId && UseOf(m.left, cl) == UseOf(m.right, cr))
        AddVote(votes, cl, false);
    }
    const DiffId cl = Winner(votes);
    if (cl == kNoDiffId) continue;
    const int64_t shared = llvm::find_if(votes, [&](const auto& v) { return v.first == cl; })->second.count;
    if (2 * shared >= std::min(m.left.count(cl), m.right.count(cr)))
      m.MatchComputations(cl, cr, MatchedBy::Similarity);
  }
}

void MatchByContent(DiffMatching& m, bool copies_too) {
  std::vector<DiffId> left_free, right_free;
  for (DiffId c = 0; c < m.left.computation_count(); ++c)
    if (m.ComputationToRight(c) == kNoDiffId && (copies_too || m.LeftOriginal(c) == kNoDiffId))
      left_free.push_back(c);
  for (DiffId c = 0; c < m.right.computation_count(); ++c)
    if (m.ComputationToLeft(c) == kNoDiffId && (copies_too || m.RightOriginal(c) == kNoDiffId))
      right_free.push_back(c);
  // The same contents.
  llvm::DenseMap<int32_t, std::vector<DiffId>> by_class;
  for (const DiffId cl : llvm::reverse(left_free)) by_class[m.left_class[Index(cl)]].push_back(cl);
  for (const DiffId cr : right_free) {
    const auto found = by_class.find(m.right_class[Index(cr)]);
    if (found == by_class.end() || found->second.empty()) continue;
    m.MatchComputations(found->second.back(), cr, MatchedBy::Fingerprint);
    found->second.pop_back();
  }
  MatchBySharedContent(m, right_free);
  // The same use, shape and name, or the only ones of that use and shape.
  llvm::StringMap<std::vector<DiffId>> by_use;
  const auto key = [](const DiffGraph& graph, DiffId c) {
    const auto [opcode, place] = UseOf(graph, c);
    return std::to_string(opcode) + ":" + std::to_string(place) + ProgramShape(graph.computation(c));
  };
  for (const DiffId cl : left_free)
    if (m.ComputationToRight(cl) == kNoDiffId) by_use[key(m.left, cl)].push_back(cl);
  llvm::StringMap<int64_t> right_uses;
  for (const DiffId cr : right_free)
    if (m.ComputationToLeft(cr) == kNoDiffId) ++right_uses[key(m.right, cr)];
  for (const DiffId cr : right_free) {
    if (m.ComputationToLeft(cr) != kNoDiffId) continue;
    const std::string use = key(m.right, cr);
    const auto found = by_use.find(use);
    if (found == by_use.end()) continue;
    for (const DiffId cl : found->second) {
      // Called ones have been settled by their callers.
      if (copies_too && !(m.left.Callers(cl).empty() && m.right.Callers(cr).empty())) continue;
      const bool only = found->second.size() == 1 && right_uses[use] == 1;
      if (m.ComputationToRight(cl) != kNoDiffId ||
          !(only || m.left.computation(cl).name() == m.right.computation(cr).name()))
        continue;
      m.MatchComputations(cl, cr, MatchedBy::Similarity);
      break;
    }
  }
}

}  // namespace hlo
