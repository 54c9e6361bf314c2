#include "tools/viz/drawing/groups.h"

#include <map>

#include "ir/print.h"
#include "ir/source_frames.h"
#include "llvm/Support/Path.h"
#include "tools/viz/drawing/layers.h"
#include "tools/viz/drawing/op_names.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr size_t kLongestLabel = 64, kLongestName = 160, kLongestDevices = 128;
constexpr int64_t kSteps = 50;            // of a schedule, in one group
constexpr size_t kLongestPieceName = 48;  // after `part 3 of 12: `

size_t At(int32_t index) { return static_cast<size_t>(index); }

/// Names as a tree: every part of a name below what stands before it.
class NameTree {
 public:
  struct Part {
    int32_t parent = -1, depth = 0;
    std::string name;
    int64_t members = 0;  // below it too
    int32_t group = -1;   // that its members belong to
    bool owns = false;    // the group is its own
    bool shared = false;  // nearly all names begin with it
  };

  int32_t Add(llvm::ArrayRef<std::string> path) {
    int32_t at = 0;
    for (const std::string& name : path.take_front(kDeepestOpName)) {
      const auto [found, added] = index_.try_emplace({at, name}, static_cast<int32_t>(parts.size()));
      if (added) parts.push_back({at, parts[At(at)].depth + 1, name});
      at = found->second;
    }
    return at;
  }
  /// The longest name that both begin with.
  [[nodiscard]] int32_t Common(int32_t a, int32_t b) const {
    while (a != b)
      (parts[At(a)].depth >= parts[At(b)].depth ? a : b) =
          parts[At(parts[At(a)].depth >= parts[At(b)].depth ? a : b)].parent;
    return a;
  }

  std::vector<Part> parts = {{}};

 private:
  std::map<std::pair<int32_t, std::string>, int32_t> index_;
};

using Path = std::vector<std::string>;

Path SourcePath(const Instruction& inst) {
  const SourceFrame source = SourceOf(inst);
  if (source.file.empty()) return {};
  return {source.file.str(), (llvm::sys::path::filename(source.file) + ":" + llvm::Twine(source.line)).str()};
}

Path DevicePath(const Instruction& inst) {
  const ShardingPtr& sharding = inst.extras().sharding;
  if (!sharding) return {};
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintSharding(os, *sharding, /*with_metadata=*/false);
  return {PrintableText(text, kLongestDevices)};
}

Path NoPath(const Instruction& /*inst*/) { return {}; }

constexpr std::pair<GroupNodesBy, Path (*)(const Instruction&)> kPaths[] = {
    {GroupNodesBy::OpName, &OpNamePath},
    {GroupNodesBy::Source, &SourcePath},
    {GroupNodesBy::Device, &DevicePath},
    {GroupNodesBy::Schedule, &NoPath},
};

/// Divides what belongs directly to one computation.
class Divider {
 public:
  Divider(Drawing& drawing, int32_t group) : d_(drawing), group_(group) {}

  void ByPath(GroupNodesBy by) {
    const auto* row = llvm::find_if(kPaths, [&](const auto& p) { return p.first == by; });
    if (row == std::end(kPaths)) return;
    int64_t step = computation().instruction_count();
    Assign([&](const Instruction& inst) {
      return by == GroupNodesBy::Schedule ? Path{StepsText(--step)} : row->second(inst);
    });
    MakeGroups(by == GroupNodesBy::OpName || by == GroupNodesBy::Source, by == GroupNodesBy::OpName);
  }

  /// By parts that repeat.
  void ByLayers() {
    const Layers layers = FindLayers(computation());
    if (layers.labels.empty()) return;
    Assign([&](const Instruction& inst) {
      const auto at = layers.label_of.find(&inst);
      return at == layers.label_of.end() ? Path{} : Path{layers.labels[At(at->second)]};
    });
    MakeGroups(/*nested=*/false, /*op_names=*/false);
  }

 private:
  [[nodiscard]] const Computation& computation() const { return *d_.groups[At(group_)].computation; }

  void Assign(llvm::function_ref<Path(const Instruction&)> path_of) {
    const Computation& c = computation();
    const std::vector<Instruction*> order = c.has_schedule() ? c.schedule() : c.PostOrder();
    // Users first: they decide about what has no name of its own.
    for (const Instruction* inst : llvm::reverse(order)) {
      const Path path = path_of(*inst);
      if (!path.empty()) {
        part_of_[inst] = tree_.Add(path);
        continue;
      }
      int32_t common = -1;
      for (const Instruction* user : inst->users())
        if (const auto at = part_of_.find(user); at != part_of_.end())
          common = common < 0 ? at->second : tree_.Common(common, at->second);
      part_of_[inst] = std::max(common, 0);
    }
  }

  static std::string StepsText(int64_t step) {
    const int64_t first = step / kSteps * kSteps;
    return llvm::formatv("steps {0} to {1}", first, first + kSteps - 1).str();
  }

  /// What the members are: `belongs` gives the group of each to be changed.
  void ForEachMember(llvm::function_ref<void(const Instruction&, int32_t& belongs)> f) {
    for (DrawnNode& node : d_.nodes)
      if (node.group == group_ && node.instruction) f(*node.instruction, node.group);
    for (DrawnGroup& group : d_.groups)
      if (group.parent == group_ && group.caller) f(*group.caller, group.parent);
  }

  /// `nested`: names have a beginning that says little if nearly all share it.
  void MakeGroups(bool nested, bool op_names) {
    int64_t named = 0;
    ForEachMember([&](const Instruction& inst, int32_t&) {
      const int32_t part = part_of_.lookup(&inst);
      named += part != 0;
      for (int32_t p = part; p >= 0; p = tree_.parts[At(p)].parent) ++tree_.parts[At(p)].members;
    });
    std::vector<int64_t> largest_child(tree_.parts.size(), 0);
    for (size_t i = 1; i < tree_.parts.size(); ++i) {
      int64_t& largest = largest_child[At(tree_.parts[i].parent)];
      largest = std::max(largest, tree_.parts[i].members);
    }
    const auto first = static_cast<int32_t>(d_.groups.size());
    std::vector<DrawnGroup> added;
    tree_.parts[0].group = group_;
    for (size_t i = 1; i < tree_.parts.size(); ++i) {
      NameTree::Part& part = tree_.parts[i];
      part.group = tree_.parts[At(part.parent)].group;
      // No group for one node, for what one group below holds too, nor for the beginning that nearly all
      // share.
      part.shared = nested && part.group == group_ && part.members * 10 >= named * 9;
      if (part.members < 2 || largest_child[i] == part.members || part.shared) continue;
      const auto at = static_cast<int32_t>(i);
      const std::string name = NameBelow(at);
      added.push_back({GroupKind::Part, part.group, d_.groups[At(group_)].computation, nullptr, FullName(at),
                       PrintableText(op_names ? OpNameTitle(name) : name, kLongestLabel)});
      part.group = first + static_cast<int32_t>(added.size()) - 1;
      part.owns = true;
    }
    ForEachMember([&](const Instruction& inst, int32_t& belongs) {
      belongs = tree_.parts[At(part_of_.lookup(&inst))].group;
    });
    llvm::append_range(d_.groups, added);
  }

  /// The name up to the group around this part.
  [[nodiscard]] std::string NameBelow(int32_t part) const {
    std::string name = tree_.parts[At(part)].name;
    for (int32_t p = tree_.parts[At(part)].parent; p > 0; p = tree_.parts[At(p)].parent) {
      if (tree_.parts[At(p)].owns || tree_.parts[At(p)].shared) break;
      name.insert(0, tree_.parts[At(p)].name + "/");
    }
    return name;
  }
  /// All of it, cut so that it stays unique.
  [[nodiscard]] std::string FullName(int32_t part) const {
    std::string name = tree_.parts[At(part)].name;
    for (int32_t p = tree_.parts[At(part)].parent; p > 0 && name.size() <= kLongestName;
         p = tree_.parts[At(p)].parent)
      name.insert(0, tree_.parts[At(p)].name + "/");
    const bool cut = name.size() > kLongestName;
    return PrintableText(name, kLongestName) + (cut ? "#" + std::to_string(part) : "");
  }

  Drawing& d_;
  int32_t group_;
  NameTree tree_;
  llvm::DenseMap<const Instruction*, int32_t> part_of_;
};

/// Opens groups from the outermost on while there is room.
class Collapser {
 public:
  Collapser(Drawing& drawing, int64_t most) : d_(drawing), most_(most) {}

  Collapsed Run() {
    Collapsed result{static_cast<int64_t>(d_.nodes.size())};
    if (result.nodes <= most_) return result;
    for (DrawnGroup& group : d_.groups) group.collapsed = true;
    Count();
    DivideTops();
    std::vector<int32_t> level = children_.back();
    shown_ = static_cast<int64_t>(level.size());
    while (!level.empty()) level = Open(level);
    for (const DrawnGroup& group : d_.groups)
      result.groups += group.collapsed && (group.parent < 0 || !d_.groups[At(group.parent)].collapsed);
    return result;
  }

 private:
  /// Nodes that a collapsed group takes.
  [[nodiscard]] int64_t Weight(int32_t group) const {
    const DrawnGroup& g = d_.groups[At(group)];
    return g.kind == GroupKind::Computation && g.caller ? 0 : 1;
  }
  /// Nodes that an open group takes, those within collapsed.
  [[nodiscard]] int64_t Cost(int32_t group) const {
    int64_t cost = direct_[At(group)];
    for (const int32_t child : children_[At(group)]) cost += Weight(child);
    return cost;
  }

  /// The groups and nodes directly within each group; the last entry: of the drawing.
  void Count() {
    children_.assign(d_.groups.size() + 1, {});
    direct_.assign(d_.groups.size(), 0);
    for (size_t i = 0; i < d_.groups.size(); ++i) {
      const int32_t parent = d_.groups[i].parent;
      (parent < 0 ? children_.back() : children_[At(parent)]).push_back(static_cast<int32_t>(i));
    }
    for (const DrawnNode& node : d_.nodes) ++direct_[At(node.group)];
  }

  /// Opens what there is room for and returns what stands in it. Groups that look alike open together.
  std::vector<int32_t> Open(llvm::ArrayRef<int32_t> level) {
    std::map<std::string, std::vector<int32_t>> alike;
    for (const int32_t group : level) {
      if (d_.groups[At(group)].kind > GroupKind::Part) continue;
      Divide(group);
      alike[Kind(group)].push_back(group);
    }
    std::vector<std::pair<int64_t, std::vector<int32_t>>> kinds;
    for (auto& [kind, groups] : alike) {
      int64_t more = 0;
      for (const int32_t group : groups) more += Cost(group) - Weight(group);
      kinds.emplace_back(more, std::move(groups));
    }
    llvm::sort(kinds);
    std::vector<int32_t> next;
    for (const auto& [more, groups] : kinds) {
      if (shown_ + more > most_) break;
      shown_ += more;
      for (const int32_t group : groups) {
        d_.groups[At(group)].collapsed = false;
        llvm::append_range(next, children_[At(group)]);
      }
    }
    return next;
  }

  /// What groups that are alike have in common: the label up to numbers.
  [[nodiscard]] std::string Kind(int32_t group) const {
    const DrawnGroup& g = d_.groups[At(group)];
    std::string kind = std::to_string(static_cast<int>(g.kind)) + ":";
    if (g.kind == GroupKind::Fusion) return kind;
    const llvm::StringRef name = IsPart(g.kind) ? llvm::StringRef(g.label) : g.computation->name();
    for (const char c : name)
      if (!llvm::isDigit(c)) kind += c;
    return kind;
  }

  /// A group that would not fit even alone is divided: computations by name or by what repeats first, then
  /// everything in order.
  void Divide(int32_t group) {
    if (Cost(group) <= most_ || d_.groups[At(group)].kind == GroupKind::Fusion) return;
    const size_t before = d_.groups.size();
    if (d_.groups[At(group)].kind == GroupKind::Computation) {
      Divider(d_, group).ByPath(GroupNodesBy::OpName);
      if (d_.groups.size() == before) Divider(d_, group).ByLayers();
    }
    if (d_.groups.size() > before) {
      Added(before);
      Absorb(group);
    }
    if (Cost(group) <= most_) return;
    GroupSources(group);
    if (Cost(group) > most_) DivideInOrder(group);
  }

  /// Nodes beside groups go into the one that all their users, or all their operands, are in; sources that
  /// several groups use get groups of their own. This repeats as groups grow.
  void Absorb(int32_t group) {
    std::vector<std::vector<int32_t>> users(d_.nodes.size()), operands(d_.nodes.size());
    for (const DrawnEdge& edge : d_.edges) {
      users[At(edge.from)].push_back(edge.to);
      operands[At(edge.to)].push_back(edge.from);
    }
    const auto only_group = [&](llvm::ArrayRef<int32_t> neighbours) {
      int32_t only = -1;
      for (const int32_t n : neighbours) {
        const int32_t at = Below(group, d_.nodes[At(n)].group);
        if (at < 0 || (only >= 0 && at != only)) return -1;
        only = at;
      }
      return only;
    };
    const auto absorb = [&](size_t i) {
      if (d_.nodes[i].group != group || !d_.nodes[i].instruction) return false;
      int32_t into = only_group(users[i]);
      if (into < 0) into = only_group(operands[i]);
      if (into >= 0) d_.nodes[i].group = into;
      return into >= 0;
    };
    constexpr int kRounds = 8;
    bool changed = true;
    for (int round = 0; changed && round < kRounds; ++round) {
      changed = false;
      for (size_t i = d_.nodes.size(); i-- > 0;) changed |= absorb(i);
      for (size_t i = 0; i < d_.nodes.size(); ++i) changed |= absorb(i);
    }
    GroupSources(group);
  }

  /// What is left of parameters and of values that depend on nothing drawn.
  void GroupSources(int32_t group) {
    const size_t before = d_.groups.size();
    std::vector<bool> depends(d_.nodes.size(), false);
    for (const DrawnEdge& edge : d_.edges) depends[At(edge.to)] = true;
    for (const auto& [label, parameters] : {std::pair("parameters", true), {"constants", false}}) {
      std::vector<DrawnNode*> nodes;
      for (size_t i = 0; i < d_.nodes.size(); ++i) {
        const Instruction* inst = d_.nodes[i].instruction;
        if (d_.nodes[i].group == group && inst && !depends[i] &&
            (inst->kind() == OpKind::Parameter) == parameters)
          nodes.push_back(&d_.nodes[i]);
      }
      if (nodes.size() < 2) continue;
      for (DrawnNode* node : nodes) node->group = static_cast<int32_t>(d_.groups.size());
      d_.groups.push_back(
          {GroupKind::Sources, group, d_.groups[At(group)].computation, nullptr, label, label, true});
    }
    Added(before);
  }

  /// The group directly within `above` that holds this one; -1: none.
  [[nodiscard]] int32_t Below(int32_t above, int32_t group) const {
    while (group >= 0 && d_.groups[At(group)].parent != above) group = d_.groups[At(group)].parent;
    return group;
  }

  void Added(size_t before) {
    for (size_t i = before; i < d_.groups.size(); ++i) d_.groups[i].collapsed = true;
    Count();
  }

  /// Pieces of consecutive nodes and groups.
  void DivideInOrder(int32_t group) {
    constexpr int64_t kPiece = 16, kMostPieces = 40;
    const size_t before = d_.groups.size();
    // Groups stand where their first node does.
    std::map<int32_t, int32_t> first_of;
    for (size_t i = 0; i < d_.nodes.size(); ++i)
      for (int32_t g = d_.nodes[i].group; g >= 0; g = d_.groups[At(g)].parent)
        if (d_.groups[At(g)].parent == group) first_of.try_emplace(g, static_cast<int32_t>(i));
    std::vector<std::pair<int32_t, int32_t*>> items;
    for (size_t i = 0; i < d_.nodes.size(); ++i)
      if (d_.nodes[i].group == group) items.emplace_back(static_cast<int32_t>(i), &d_.nodes[i].group);
    for (const auto& [child, first] : first_of) items.emplace_back(first, &d_.groups[At(child)].parent);
    llvm::sort(items, llvm::less_first());
    const auto count = static_cast<int64_t>(items.size());
    const int64_t pieces =
        std::clamp<int64_t>(count / kPiece, 2, std::min(kMostPieces, std::max<int64_t>(most_, 2)));
    const int64_t size = (count + pieces - 1) / pieces;
    std::vector<DrawnGroup> added;
    for (int64_t i = 0; i < count; ++i) {
      if (i % size == 0) {
        std::vector<Path> paths;
        for (int64_t k = i; k < std::min(i + size, count); ++k)
          if (const Instruction* inst = d_.nodes[At(items[static_cast<size_t>(k)].first)].instruction)
            paths.push_back(OpNamePath(*inst));
        std::string label = llvm::formatv("part {0} of {1}", i / size + 1, (count + size - 1) / size).str();
        if (const std::string common = OpNameTitle(CommonOpName(paths)); !common.empty())
          label += ": " + PrintableText(common, kLongestPieceName);
        const DrawnGroup& whole = d_.groups[At(group)];
        added.push_back({GroupKind::Piece, group, whole.computation, nullptr,
                         whole.name + (whole.name.empty() ? "" : "/") + label, label, true});
      }
      *items[static_cast<size_t>(i)].second = static_cast<int32_t>(before + added.size() - 1);
    }
    llvm::append_range(d_.groups, added);
    Added(before);
  }

  /// Many computations on their own are put together, too.
  void DivideTops() {
    const std::vector<int32_t> tops = children_.back();
    const auto count = static_cast<int64_t>(tops.size());
    if (count <= most_) return;
    const size_t before = d_.groups.size();
    const int64_t pieces = std::max<int64_t>(most_ / 2, 1), size = (count + pieces - 1) / pieces;
    for (int64_t i = 0; i < count; ++i) {
      if (i % size == 0) {
        const std::string label =
            llvm::formatv("computations {0} to {1}", i + 1, std::min(i + size, count)).str();
        d_.groups.push_back({GroupKind::Piece, -1, nullptr, nullptr, label, label, true});
      }
      d_.groups[At(tops[static_cast<size_t>(i)])].parent = static_cast<int32_t>(d_.groups.size() - 1);
    }
    Added(before);
  }

  Drawing& d_;
  int64_t most_, shown_ = 0;
  std::vector<std::vector<int32_t>> children_;
  std::vector<int64_t> direct_;
};

}  // namespace

void GroupNodes(Drawing& drawing, GroupNodesBy by) {
  if (by == GroupNodesBy::None) {
    // Everything belongs to the first group, which has no frame.
    for (DrawnNode& node : drawing.nodes) node.group = 0;
    return;
  }
  const size_t computations = drawing.groups.size();
  for (size_t g = 0; g < computations; ++g)
    if (drawing.groups[g].kind == GroupKind::Computation)
      Divider(drawing, static_cast<int32_t>(g)).ByPath(by);
}

Collapsed CollapseGroups(Drawing& drawing, int64_t most) { return Collapser(drawing, most).Run(); }

ShownItems::ShownItems(const Drawing& drawing)
    : stand_in_(drawing.groups.size(), -1), left_out_(drawing.groups.size(), false) {
  for (size_t g = 0; g < drawing.groups.size(); ++g) {
    for (int32_t at = static_cast<int32_t>(g); at >= 0; at = drawing.groups[At(at)].parent)
      if (drawing.groups[At(at)].collapsed) stand_in_[g] = at;
    if (stand_in_[g] < 0) continue;
    const DrawnGroup& stand_in = drawing.groups[At(stand_in_[g])];
    left_out_[g] = stand_in.kind == GroupKind::Computation && stand_in.caller;
  }
}

}  // namespace hlo
