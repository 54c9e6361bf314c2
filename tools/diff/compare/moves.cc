// Instructions that stand elsewhere: in another computation, or later or earlier in the schedule.
#include "tools/diff/compare/entries.h"

namespace hlo {
namespace {

/// What encloses a computation, from the inside out, as far as it is called from one place.
enum class Place : uint8_t { Fusion, Loop, Branch, Called, Top };

Place PlaceOf(const Computation& c) {
  if (c.IsEntry() || c.callers().empty()) return Place::Top;
  switch (c.callers().front()->kind()) {
    case OpKind::Fusion: return Place::Fusion;
    case OpKind::While: return Place::Loop;
    case OpKind::Conditional: return Place::Branch;
    default: return Place::Called;
  }
}

/// Whether `inner` is called by `outer`, directly or through others.
bool IsInside(const Computation& inner, const Computation& outer) {
  const Computation* c = &inner;
  for (int depth = 0; depth < 64 && c != &outer; ++depth) {
    if (c->callers().empty()) return false;
    c = c->callers().front()->parent();
  }
  return c == &outer;
}

}  // namespace

std::string MoveNote(const Computation& from, const Computation& to) {
  const Place before = PlaceOf(from), after = PlaceOf(to);
  if (after == Place::Fusion) return before == Place::Fusion ? "to another fusion" : "fused";
  if (before == Place::Fusion) return "un-fused";
  if (after == Place::Called && before != Place::Called) return "outlined";
  if (before == Place::Called && after != Place::Called) return "inlined";
  // Seen from the module it was in: the names of computations tell which of the right one it is now in.
  if (before == Place::Loop && after != Place::Loop) return "hoisted";
  if (before == Place::Branch && after != Place::Branch) return "hoisted";
  if (after == Place::Loop || after == Place::Branch) return before == Place::Top ? "sunk" : "";
  const Computation* target = from.module()->FindComputation(to.name());
  return target && target != &from && IsInside(from, *target) ? "hoisted" : "";
}

std::vector<DiffId> FindScheduleMoves(const DiffMatching& m, DiffId cl, DiffId cr) {
  const auto &left = m.left.computation(cl).schedule(), &right = m.right.computation(cr).schedule();
  if (left.empty() || right.empty()) return {};
  llvm::DenseMap<DiffId, int32_t> position;
  for (const Instruction* inst : right) position[m.right.IdOf(inst)] = static_cast<int32_t>(position.size());
  std::vector<std::pair<DiffId, int32_t>> order;  // left id, place on the right
  for (const Instruction* inst : left) {
    const DiffId l = m.left.IdOf(inst), r = m.ToRight(l);
    if (r == kNoDiffId) continue;
    if (const auto found = position.find(r); found != position.end()) order.emplace_back(l, found->second);
  }
  // The longest increasing subsequence stays: `ends[k]` is the best end of one of length k + 1.
  std::vector<size_t> ends, before(order.size(), order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto place =
        llvm::lower_bound(ends, order[i].second, [&](size_t e, int32_t p) { return order[e].second < p; });
    if (place != ends.begin()) before[i] = *std::prev(place);
    if (place == ends.end())
      ends.push_back(i);
    else
      *place = i;
  }
  std::vector<bool> stays(order.size(), false);
  for (size_t i = ends.empty() ? order.size() : ends.back(); i < order.size(); i = before[i]) stays[i] = true;
  std::vector<DiffId> moved;
  for (size_t i = 0; i < order.size(); ++i)
    if (!stays[i]) moved.push_back(order[i].first);
  return moved;
}

}  // namespace hlo
