// Which computation became which: by their callers, by what they hold.
#include "ir/print.h"
#include "llvm/ADT/MapVector.h"
#include "tools/diff/compare/matching.h"

namespace hlo {
namespace {

/// Of free computations the one with the most votes; more certain votes first, then the earlier.
struct Vote {
  int64_t certain = 0, count = 0;
};

using Votes = llvm::SmallMapVector<DiffId, Vote, 4>;

DiffId Winner(const Votes& votes) {
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

void AddVote(Votes& votes, DiffId c, bool certain) {
  Vote& vote = votes[c];
  ++vote.count;
  vote.certain += certain;
}

/// How the computation is used: opcode of the caller and place among its callees.
std::pair<int, int> UseOf(const DiffGraph& graph, DiffId c) {
  if (graph.computation(c).IsEntry()) return {-2, 0};
  if (graph.Callers(c).empty()) return {-1, 0};
  const DiffUse call = graph.Callers(c).front();
  return {static_cast<int>(graph[call.user].kind()), call.position};
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
  Votes votes;
  for (const DiffUse& call : m.right.Callers(cr)) {
    const DiffId l = m.ToLeft(call.user);
    if (l == kNoDiffId) continue;
    const auto place = static_cast<size_t>(call.position);
    const auto left_callees = m.left[l].callees();
    if (place >= left_callees.size()) continue;
    const DiffId cl = m.left.IdOf(left_callees[place]);
    if (m.ComputationToRight(cl) == kNoDiffId) AddVote(votes, cl, m.SameClass(cl, cr));
  }
  const DiffId cl = Winner(votes);
  if (cl != kNoDiffId)
    m.MatchComputations(cl, cr, m.SameClass(cl, cr) ? MatchedBy::Fingerprint : MatchedBy::Operands);
}

/// Much of the same contents, as far as instructions are matched already.
static void MatchBySharedContent(DiffMatching& m, llvm::ArrayRef<DiffId> right_free) {
  for (const DiffId cr : right_free) {
    if (m.ComputationToLeft(cr) != kNoDiffId) continue;
    Votes votes;
    for (const DiffId r : m.right.TopologicalOrder(cr)) {
      if (m.ToLeft(r) == kNoDiffId) continue;
      const DiffId cl = m.left.ComputationOf(m.ToLeft(r));
      if (m.ComputationToRight(cl) == kNoDiffId && UseOf(m.left, cl) == UseOf(m.right, cr))
        AddVote(votes, cl, false);
    }
    const DiffId cl = Winner(votes);
    if (cl == kNoDiffId) continue;
    if (2 * votes.lookup(cl).count >= std::min(m.left.count(cl), m.right.count(cr)))
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
  struct Used {
    int64_t count = 0;
    DiffId first = kNoDiffId;
  };
  llvm::StringMap<Used> by_use;
  llvm::StringMap<DiffId> by_name;
  const auto key = [](const DiffGraph& graph, DiffId c) {
    const auto [opcode, place] = UseOf(graph, c);
    return std::to_string(opcode) + ":" + std::to_string(place) + ProgramShape(graph.computation(c));
  };
  for (const DiffId cl : left_free) {
    if (m.ComputationToRight(cl) != kNoDiffId) continue;
    Used& used = by_use[key(m.left, cl)];
    if (used.count++ == 0) used.first = cl;
    by_name[m.left.computation(cl).name()] = cl;
  }
  llvm::StringMap<int64_t> right_uses;
  for (const DiffId cr : right_free)
    if (m.ComputationToLeft(cr) == kNoDiffId) ++right_uses[key(m.right, cr)];
  for (const DiffId cr : right_free) {
    if (m.ComputationToLeft(cr) != kNoDiffId) continue;
    const std::string use = key(m.right, cr);
    const auto found = by_use.find(use);
    if (found == by_use.end()) continue;
    DiffId cl = found->second.first;
    if (found->second.count > 1 || right_uses[use] > 1) {
      const auto named = by_name.find(m.right.computation(cr).name());
      if (named == by_name.end() || key(m.left, named->second) != use) continue;
      cl = named->second;
    }
    // Called ones have been settled by their callers.
    if (copies_too && !(m.left.Callers(cl).empty() && m.right.Callers(cr).empty())) continue;
    if (m.ComputationToRight(cl) == kNoDiffId) m.MatchComputations(cl, cr, MatchedBy::Similarity);
  }
}

}  // namespace hlo
