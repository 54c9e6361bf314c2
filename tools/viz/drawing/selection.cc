#include "tools/viz/drawing/selection.h"

#include <deque>

namespace hlo {
namespace {

size_t At(int32_t node) { return static_cast<size_t>(node); }

}  // namespace

DrawingGraph::DrawingGraph(const Drawing& drawing)
    : drawing_(drawing), users_(Make(drawing, true)), operands_(Make(drawing, false)) {}

DrawingGraph::Adjacency DrawingGraph::Make(const Drawing& drawing, bool forward) {
  Adjacency a;
  a.first.assign(drawing.nodes.size() + 1, 0);
  a.other.resize(drawing.edges.size());
  for (const DrawnEdge& e : drawing.edges) ++a.first[At(forward ? e.from : e.to) + 1];
  for (size_t i = 1; i < a.first.size(); ++i) a.first[i] += a.first[i - 1];
  std::vector<int32_t> next(a.first.begin(), a.first.end() - 1);
  for (const DrawnEdge& e : drawing.edges)
    a.other[At(next[At(forward ? e.from : e.to)]++)] = forward ? e.to : e.from;
  return a;
}

std::vector<int32_t> DrawingGraph::NodesOf(const Instruction& inst) const {
  if (const auto node = drawing_.node_of.find(&inst); node != drawing_.node_of.end()) return {node->second};
  std::vector<int32_t> nodes;
  if (!drawing_.IsExpandedFusion(inst)) return nodes;
  const int32_t body = drawing_.group_of.lookup(inst.callee());
  for (size_t i = 0; i < drawing_.nodes.size(); ++i)
    for (int32_t g = drawing_.nodes[i].group; g >= body; g = drawing_.groups[At(g)].parent)
      if (g == body) nodes.push_back(static_cast<int32_t>(i));
  return nodes;
}

int64_t DrawingGraph::UserCount(int32_t node) const {
  int64_t count = 0;
  int32_t last = -1;
  for (const int32_t user : users_.Of(node)) count += std::exchange(last, user) != user;
  return count;
}

void DrawingGraph::AddNeighbours(NodeSet& set, llvm::ArrayRef<int32_t> centre, int64_t radius,
                                 const NodeSet& boundary) const {
  auto kind = [&](int32_t n) {
    const Instruction* inst = drawing_.nodes[At(n)].instruction;
    return inst ? std::optional(inst->kind()) : std::nullopt;
  };
  std::vector<int64_t> distance(drawing_.nodes.size(), INT64_MAX);
  std::deque<int32_t> queue;
  auto reach = [&](int32_t from, int32_t to) {
    const bool free = kind(from) == OpKind::Bitcast || kind(to) == OpKind::Bitcast || !kind(to);
    const int64_t steps = distance[At(from)] + (free ? 0 : 1);
    if (steps > radius || steps >= distance[At(to)]) return;
    distance[At(to)] = steps;
    free ? queue.push_front(to) : queue.push_back(to);
  };
  for (const int32_t n : centre) distance[At(n)] = 0, queue.push_back(n);
  const llvm::DenseSet<int32_t> centres(centre.begin(), centre.end());
  std::vector<bool> done(drawing_.nodes.size(), false);
  while (!queue.empty()) {
    const int32_t n = queue.front();
    queue.pop_front();
    if (done[At(n)]) continue;
    done[At(n)] = set[At(n)] = true;
    if (boundary[At(n)]) continue;
    const bool is_centre = centres.contains(n);
    if (kind(n) != OpKind::Tuple || is_centre)
      for (const int32_t operand : operands_.Of(n)) reach(n, operand);
    if (UserCount(n) < kManyUsers)
      for (const int32_t user : users_.Of(n)) reach(n, user);
  }
}

void DrawingGraph::AddSlice(NodeSet& set, llvm::ArrayRef<int32_t> start, bool forward) const {
  const std::vector<int32_t> distances = Distances(start, forward ? users_ : operands_);
  for (size_t i = 0; i < distances.size(); ++i)
    if (distances[i] >= 0) set[i] = true;
}

std::vector<int32_t> DrawingGraph::Distances(llvm::ArrayRef<int32_t> start, const Adjacency& edges) const {
  std::vector<int32_t> distances(drawing_.nodes.size(), -1);
  std::vector<int32_t> queue(start.begin(), start.end());
  for (const int32_t n : start) distances[At(n)] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (const int32_t next : edges.Of(queue[i]))
      if (distances[At(next)] < 0) {
        distances[At(next)] = distances[At(queue[i])] + 1;
        queue.push_back(next);
      }
  return distances;
}

DrawingGraph::Paths DrawingGraph::AddPaths(NodeSet& set, llvm::ArrayRef<int32_t> a, llvm::ArrayRef<int32_t> b,
                                           int64_t most) const {
  std::vector<int32_t> from = Distances(a, users_), to = Distances(b, operands_);
  const auto meets = [&](size_t n) { return from[n] >= 0 && to[n] >= 0; };
  std::vector<int32_t> on;
  auto collect = [&] {
    for (size_t n = 0; n < from.size(); ++n)
      if (meets(n)) on.push_back(static_cast<int32_t>(n));
  };
  collect();
  if (on.empty()) {
    from = Distances(b, users_), to = Distances(a, operands_);
    collect();
  }
  llvm::sort(on, [&](int32_t x, int32_t y) {
    return std::pair(from[At(x)] + to[At(x)], x) < std::pair(from[At(y)] + to[At(y)], y);
  });
  Paths paths;
  paths.nodes = static_cast<int64_t>(on.size());
  for (const int32_t n : on) {
    if (set[At(n)]) continue;
    // A shortest path through the node: towards both ends, always to the first neighbour that is nearer.
    std::vector<int32_t> added;
    auto walk = [&](int32_t at, const std::vector<int32_t>& left, const Adjacency& edges) {
      while (true) {
        if (!set[At(at)]) added.push_back(at);
        if (left[At(at)] == 0) return;
        at = *llvm::find_if(edges.Of(at), [&](int32_t x) { return left[At(x)] == left[At(at)] - 1; });
      }
    };
    walk(n, to, users_);
    walk(n, from, operands_);
    llvm::sort(added);
    added.erase(llvm::unique(added), added.end());
    if (paths.shown > 0 && paths.shown + static_cast<int64_t>(added.size()) > most) {
      paths.cut = true;
      break;
    }
    for (const int32_t x : added) set[At(x)] = true;
    paths.shown += static_cast<int64_t>(added.size());
  }
  return paths;
}

}  // namespace hlo
