#include "tools/diff/compare/merged_graph.h"

#include <map>
#include <numeric>

#include "tools/viz/drawing/label.h"

namespace hlo {
namespace {

constexpr int64_t kManyUsers = 16;     // beyond, users are no context
constexpr int64_t kSmallestGroup = 4;  // fewer changes of one kind are drawn one by one

size_t At(int64_t index) { return static_cast<size_t>(index); }

/// Builds a MergedGraph; entries are known by their numbers in the comparison.
class GraphMerger {
 public:
  explicit GraphMerger(const DiffReport& report)
      : report_(report),
        entries_(report.diff.entries),
        drawn_(entries_.size()),
        repeats_(entries_.size(), 1) {
    const std::vector<ComputationMatch>& matches = report.diff.computations;
    for (size_t c = 0; c < matches.size(); ++c)
      for (const Computation* side : {matches[c].left, matches[c].right})
        if (side) place_of_[side] = static_cast<int32_t>(c);
    for (size_t i = 0; i < entries_.size(); ++i)
      for (const Instruction* side : Sides(i))
        if (side) entry_of_[side] = static_cast<int32_t>(i);
    interesting_.resize(matches.size());
  }

  MergedGraph Merge() {
    ChooseDifferences();
    ChooseCallers();
    ChooseContext();
    FindRegions();
    MakeNodes();
    MakeEdges();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] std::array<const Instruction*, 2> Sides(size_t i) const {
    return {entries_[i].left, entries_[i].right};
  }
  [[nodiscard]] int32_t PlaceOf(size_t i) const {
    return place_of_.lookup((entries_[i].right ? entries_[i].right : entries_[i].left)->parent());
  }
  /// Unchanged constants and tuple elements have no nodes: their users' texts hold them.
  [[nodiscard]] bool IsWritten(size_t i) const {
    // Further copies of a computation have one side.
    return entries_[i].kind == DiffKind::Unchanged &&
           llvm::all_of(Sides(i), [](const Instruction* side) { return !side || IsWrittenIntoUsers(*side); });
  }
  /// The entry whose value an operand is, tuple elements looked through; -1: a constant.
  [[nodiscard]] int32_t ValueEntry(const Instruction* value) const {
    for (;;) {
      const int32_t i = entry_of_.lookup(value);
      if (!IsWritten(At(i))) return i;
      if (value->kind() == OpKind::Constant) return -1;
      value = value->operand(0);
    }
  }

  void Draw(size_t i) {
    drawn_[i] = true;
    interesting_[At(PlaceOf(i))] = true;
  }

  /// Whether drawing one of a group is enough: moves show what belongs together, so all are drawn.
  [[nodiscard]] bool Repeats(const DiffEntry& e) const {
    return e.group >= 0 && report_.options.group && e.kind != DiffKind::Moved;
  }

  void ChooseDifferences() {
    int64_t taken[kDiffKindCount] = {};
    llvm::DenseMap<int32_t, size_t> first_of_group;
    llvm::DenseMap<int32_t, int64_t> group_sizes;
    for (const DiffEntry& e : entries_) ++group_sizes[e.group];
    for (size_t i = 0; i < entries_.size(); ++i) {
      const DiffEntry& e = entries_[i];
      if (e.kind == DiffKind::Unchanged || e.hidden) continue;
      if (Repeats(e) && group_sizes[e.group] >= kSmallestGroup) {
        const auto [first, fresh] = first_of_group.try_emplace(e.group, i);
        if (!fresh) {
          ++repeats_[first->second];
          continue;
        }
      }
      const int64_t most = report_.options.max_entries;
      if (most > 0 && taken[static_cast<size_t>(e.kind)] >= most) {
        ++graph_.not_drawn;
        continue;
      }
      ++taken[static_cast<size_t>(e.kind)];
      Draw(i);
      differences_.push_back(i);
    }
  }

  /// Whoever calls a drawn computation, so that the parts of the drawing hang together.
  void ChooseCallers() {
    std::vector<int32_t> todo;
    for (size_t c = 0; c < interesting_.size(); ++c)
      if (interesting_[c]) todo.push_back(static_cast<int32_t>(c));
    while (!todo.empty()) {
      const ComputationMatch& match = report_.diff.computations[At(todo.back())];
      todo.pop_back();
      for (const Computation* side : {match.left, match.right}) {
        if (!side) continue;
        for (const Instruction* caller : side->callers()) {
          const auto i = At(entry_of_.lookup(caller));
          const int32_t place = PlaceOf(i);
          if (!interesting_[At(place)]) todo.push_back(place);
          if (!drawn_[i]) Draw(i);
        }
      }
    }
  }

  void ChooseContext() {
    std::vector<size_t> border = differences_;
    for (int64_t step = 0; step < report_.options.context; ++step) {
      std::vector<size_t> next;
      const auto add = [&](int32_t i) {
        if (i < 0 || drawn_[At(i)] || entries_[At(i)].kind != DiffKind::Unchanged) return;
        Draw(At(i));
        next.push_back(At(i));
      };
      for (const size_t i : border)
        for (const Instruction* side : Sides(i)) {
          if (!side) continue;
          for (const Instruction* operand : side->operands()) add(ValueEntry(operand));
          if (static_cast<int64_t>(side->users().size()) > kManyUsers) continue;
          for (const Instruction* user : side->users()) add(entry_of_.lookup(user));
        }
      border = std::move(next);
    }
  }

  [[nodiscard]] bool IsFolded(size_t i) const {
    return !drawn_[i] && !IsWritten(i) && interesting_[At(PlaceOf(i))];
  }

  /// How often the way to an instruction has left drawn nodes: regions of one number cannot lie both before
  /// and behind a drawn node.
  void FindLevels() {
    levels_.assign(entries_.size(), 0);
    const auto visit = [&](size_t i, const Instruction& inst) {
      for (const Instruction* operand : inst.operands()) {
        const int32_t from = ValueEntry(operand);
        if (from < 0) continue;
        const int32_t step = drawn_[At(from)] && !drawn_[i] ? 1 : 0;
        levels_[i] = std::max(levels_[i], levels_[At(from)] + step);
      }
    };
    for (const ComputationMatch& match : report_.diff.computations) {
      if (match.right)
        for (const Instruction* inst : match.right->PostOrder()) visit(At(entry_of_.lookup(inst)), *inst);
      if (!match.left) continue;
      for (const Instruction* inst : match.left->PostOrder())
        if (const auto i = At(entry_of_.lookup(inst)); !entries_[i].right) visit(i, *inst);
    }
  }

  size_t Find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  /// Neighbours that are not drawn and lie on one level are one region.
  void FindRegions() {
    FindLevels();
    parent_.resize(entries_.size());
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!IsFolded(i)) continue;
      for (const Instruction* side : Sides(i)) {
        if (!side) continue;
        for (const Instruction* operand : side->operands()) {
          const int32_t from = ValueEntry(operand);
          if (from < 0 || !IsFolded(At(from)) || PlaceOf(At(from)) != PlaceOf(i) ||
              levels_[At(from)] != levels_[i])
            continue;
          // The smaller number stands for both, whatever the order of visits.
          const auto [a, b] = std::minmax({Find(i), Find(At(from))});
          parent_[b] = a;
        }
      }
    }
    // What only feeds the same level and is apart from everything else: parameters, constants.
    std::map<std::pair<int32_t, int32_t>, size_t> scattered;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!IsFolded(i) || Find(i) != i) continue;
      const auto [first, fresh] = scattered.try_emplace({PlaceOf(i), levels_[i]}, i);
      if (!fresh) parent_[i] = Find(first->second);
    }
  }

  void MakeNodes() {
    std::vector<std::vector<size_t>> by_place(interesting_.size());
    for (size_t i = 0; i < entries_.size(); ++i) by_place[At(PlaceOf(i))].push_back(i);
    std::vector<int32_t> region_nodes(entries_.size(), -1);
    for (size_t c = 0; c < interesting_.size(); ++c) {
      if (!interesting_[c]) continue;
      const auto computation = static_cast<int32_t>(graph_.computations.size());
      graph_.computations.push_back(report_.diff.computations[c]);
      for (const size_t i : by_place[c]) {
        if (!drawn_[i] && !IsFolded(i)) continue;
        int32_t node = drawn_[i] ? -1 : region_nodes[Find(i)];
        if (node < 0) {
          node = static_cast<int32_t>(graph_.nodes.size());
          MergedNode& made = graph_.nodes.emplace_back();
          made.computation = computation;
          if (drawn_[i]) {
            made.entry = &entries_[i];
            made.repeats = repeats_[i];
          } else {
            region_nodes[Find(i)] = node;
          }
        }
        if (!drawn_[i]) ++graph_.nodes[At(node)].folded[static_cast<size_t>(entries_[i].kind)];
        for (const Instruction* side : Sides(i))
          if (side) graph_.node_of[side] = node;
      }
    }
  }

  void MakeEdges() {
    std::map<std::tuple<int32_t, int32_t, bool>, MergedEdge> edges;
    const auto add = [&](const Instruction* value, int32_t to, bool left, bool control) {
      const int32_t i = ValueEntry(value);
      if (i < 0) return;
      const int32_t from = graph_.NodeOf(left ? entries_[At(i)].left : entries_[At(i)].right);
      if (from < 0 || from == to) return;
      MergedEdge& edge = edges[{to, from, control}];
      edge.from = from;
      edge.to = to;
      edge.control = control;
      (left ? edge.in_left : edge.in_right) = true;
    };
    for (const DiffEntry& entry : entries_)
      for (const bool left : {true, false}) {
        const Instruction* inst = left ? entry.left : entry.right;
        const int32_t to = inst ? graph_.NodeOf(inst) : -1;
        if (to < 0) continue;
        for (const Instruction* operand : inst->operands()) add(operand, to, left, /*control=*/false);
        for (const Instruction* before : inst->extras().control_predecessors)
          add(before, to, left, /*control=*/true);
      }
    for (const auto& [key, edge] : edges) graph_.edges.push_back(edge);
  }

  const DiffReport& report_;
  llvm::ArrayRef<DiffEntry> entries_;
  MergedGraph graph_;
  llvm::DenseMap<const Computation*, int32_t> place_of_;
  llvm::DenseMap<const Instruction*, int32_t> entry_of_;
  std::vector<bool> drawn_, interesting_;  // by entry; by pair of computations
  std::vector<int64_t> repeats_;
  std::vector<size_t> differences_, parent_;
  std::vector<int32_t> levels_;
};

}  // namespace

int32_t MergedGraph::NodeOf(const Instruction* instruction) const {
  const auto at = node_of.find(instruction);
  return at == node_of.end() ? -1 : at->second;
}

MergedGraph MergeGraphs(const DiffReport& report) { return GraphMerger(report).Merge(); }

}  // namespace hlo
