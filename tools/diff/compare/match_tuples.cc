// Matching elements of tuples of which one has more than the other: loops that lost or won a value.
#include "ir/support/edit_script.h"
#include "tools/diff/compare/matching.h"

namespace hlo {
namespace {

constexpr size_t kMostEdits = 256;
constexpr int kMostSteps = 16;  // from a tuple-shaped value back to the tuple it comes from

/// The tuple instruction whose elements a value has at the start: through loops; kNoDiffId if there is none.
DiffId TupleBehind(const DiffGraph& graph, DiffId id) {
  for (int step = 0; step < kMostSteps && id != kNoDiffId; ++step) {
    const Instruction& inst = graph[id];
    if (inst.kind() == OpKind::Tuple) return id;
    if (inst.kind() == OpKind::While || inst.kind() == OpKind::OptimizationBarrier) {
      id = graph.Operands(id)[0];
    } else if (inst.kind() == OpKind::Parameter) {
      const llvm::ArrayRef<DiffUse> callers = graph.Callers(graph.ComputationOf(id));
      const DiffId caller = callers.size() == 1 ? callers.front().user : kNoDiffId;
      id = caller != kNoDiffId && graph[caller].kind() == OpKind::While ? caller : kNoDiffId;
    } else {
      return kNoDiffId;
    }
  }
  return kNoDiffId;
}

class TupleMatcher {
 public:
  explicit TupleMatcher(DiffMatching& m) : m_(m) {}

  void Run(DiffId cl, DiffId cr) {
    MatchParameters(cl, cr);
    for (const DiffId l : m_.left.TopologicalOrder(cl)) {
      const DiffId r = m_.ToRight(l);
      if (r != kNoDiffId && m_.left[l].kind() != OpKind::Tuple && m_.right.ComputationOf(r) == cr)
        MatchElements(l, r);
    }
  }

 private:
  /// The parameters of computations that have one each.
  void MatchParameters(DiffId cl, DiffId cr) {
    const auto left = m_.left.computation(cl).parameters(), right = m_.right.computation(cr).parameters();
    if (left.size() != 1 || right.size() != 1) return;
    const DiffId l = m_.left.IdOf(left.front()), r = m_.right.IdOf(right.front());
    if (m_.Free(l, r)) m_.Match(l, r, MatchedBy::Operands);
  }

  void MatchElements(DiffId l, DiffId r) {
    const Shape &a = m_.left[l].shape(), &b = m_.right[r].shape();
    if (!a.IsTuple() || !b.IsTuple() || a.tuple_shapes().size() == b.tuple_shapes().size()) return;
    for (const auto& [i, j] : ElementPairs(l, r)) {
      const DiffId x = ElementUser(m_.left, l, i, [&](DiffId id) { return m_.ToRight(id) == kNoDiffId; });
      const DiffId y = ElementUser(m_.right, r, j, [&](DiffId id) { return m_.ToLeft(id) == kNoDiffId; });
      if (x != kNoDiffId && y != kNoDiffId) m_.Match(x, y, MatchedBy::Operands);
    }
  }

  /// Which elements correspond: by the values they start with, else by their shapes.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> ElementPairs(DiffId l, DiffId r) const {
    const llvm::ArrayRef<Shape> a = m_.left[l].shape().tuple_shapes(), b = m_.right[r].shape().tuple_shapes();
    const DiffId x = TupleBehind(m_.left, l), y = TupleBehind(m_.right, r);
    llvm::ArrayRef<DiffId> from, to;
    if (x != kNoDiffId && y != kNoDiffId) {
      from = m_.left.Operands(x);
      to = m_.right.Operands(y);
    }
    const bool by_value = from.size() == a.size() && to.size() == b.size();
    return KeptPairs(a.size(), b.size(), kMostEdits, [&](size_t i, size_t j) {
      if (!(a[i] == b[j])) return false;
      return !by_value || m_.ToRight(from[i]) == to[j] || m_.Free(from[i], to[j]);
    });
  }

  /// The free instruction that takes this element; kNoDiffId if there is none or several.
  template <class F>
  static DiffId ElementUser(const DiffGraph& graph, DiffId tuple, size_t index, F&& is_free) {
    DiffId found = kNoDiffId;
    for (const DiffUse& use : graph.Uses(tuple)) {
      const Instruction& user = graph[use.user];
      if (user.kind() != OpKind::GetTupleElement ||
          user.attr<GetTupleElementAttrs>().index != static_cast<int64_t>(index) || !is_free(use.user))
        continue;
      if (found != kNoDiffId) return kNoDiffId;
      found = use.user;
    }
    return found;
  }

  DiffMatching& m_;
};

}  // namespace

void MatchTupleElements(DiffMatching& matching, DiffId cl, DiffId cr) { TupleMatcher(matching).Run(cl, cr); }

}  // namespace hlo
