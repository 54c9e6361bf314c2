#include "tools/viz/drawing/dot.h"

#include <map>

#include "tools/viz/drawing/groups.h"
#include "tools/viz/drawing/palette.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr size_t kMostOpcodes = 5;  // named in a collapsed group
constexpr llvm::StringLiteral kGrey = "#757575";

size_t At(int32_t index) { return static_cast<size_t>(index); }

std::string InstructionId(const Instruction& inst) {
  return DotQuoted((inst.parent()->name() + "::" + inst.name()).str());
}

/// Writes one drawing.
class DotWriter {
 public:
  DotWriter(llvm::raw_ostream& os, const Drawing& drawing, const DotStyle& style)
      : os_(os), d_(drawing), style_(style), shown_(drawing) {}

  void Write() {
    os_ << "digraph " << DotQuoted(d_.module->name()) << " {\n"
        << "fontname=\"Helvetica\";\nfontsize=10;\nrankdir=TB;\ncompound=true;\nlabelloc=t;\nlabel="
        << DotQuoted(d_.title) << ";\nnode [fontname=\"Helvetica\", fontsize=10, style=filled];\n"
        << "edge [fontname=\"Helvetica\", fontsize=8];\n";
    Arrange();
    for (const Item& item : top_) Show(item);
    Edges();
    Legend();
    os_ << "}\n";
  }

 private:
  /// A node, or a group with what is in it.
  struct Item {
    int32_t node = -1, group = -1;
  };
  /// What a collapsed group holds.
  struct Contents {
    std::vector<const Instruction*> instructions;
    std::map<llvm::StringRef, int64_t> opcodes;
    std::map<llvm::StringRef, size_t> sources;  // that are used, by the name of their group
  };

  /// Where everything stands: groups where their first node does.
  void Arrange() {
    items_.resize(d_.groups.size());
    std::vector<bool> placed(d_.groups.size(), false);
    for (size_t i = 0; i < d_.nodes.size(); ++i) {
      const DrawnNode& node = d_.nodes[i];
      if (shown_.IsLeftOut(node.group)) continue;
      int32_t at = node.group;
      Item item{static_cast<int32_t>(i), -1};
      if (const int32_t stand_in = shown_.StandIn(node.group); stand_in >= 0) {
        if (node.instruction) {
          Contents& contents = contents_[stand_in];
          contents.instructions.push_back(node.instruction);
          ++contents.opcodes[node.instruction->info().text];
        }
        if (placed[At(stand_in)]) continue;
        placed[At(stand_in)] = true;
        at = d_.groups[At(stand_in)].parent;
        item = {-1, stand_in};
      }
      // Groups around it that nothing has stood in so far.
      for (; at >= 0; at = d_.groups[At(at)].parent) {
        items_[At(at)].push_back(item);
        if (placed[At(at)]) break;
        placed[At(at)] = true;
        item = {-1, at};
      }
      if (at < 0) top_.push_back(item);
    }
    CountSources();
  }

  void CountSources() {
    std::map<std::pair<int32_t, llvm::StringRef>, llvm::DenseSet<int32_t>> used;
    for (const DrawnEdge& edge : d_.edges) {
      const int32_t from = shown_.StandIn(d_.nodes[At(edge.from)].group);
      const int32_t to = shown_.StandIn(d_.nodes[At(edge.to)].group);
      if (IsSources(from) && to >= 0) used[{to, d_.groups[At(from)].label}].insert(edge.from);
    }
    for (const auto& [place, nodes] : used) contents_[place.first].sources[place.second] = nodes.size();
  }

  void Show(const Item& item) {
    if (item.node >= 0)
      Node(item.node);
    else if (shown_.StandIn(item.group) == item.group)
      CollapsedNode(item.group);
    else
      Cluster(item.group);
  }

  void Cluster(int32_t at) {
    const DrawnGroup& group = d_.groups[At(at)];
    const bool framed = at != 0;  // the drawing is about the first one
    if (framed) {
      NodeLook look{group.kind == GroupKind::Fusion ? "#f5f5f5"
                    : IsPart(group.kind)            ? "#fafafa"
                                                    : "white",
                    ColoursOf(Scheme::Grey).border.str(),
                    "black",
                    "",
                    {},
                    false};
      std::string label = IsPart(group.kind) ? group.label : "computation " + group.computation->name().str();
      if (group.kind == GroupKind::Fusion) {
        if (style_.paint) {
          NodeLook painted = look;
          style_.paint(*group.caller, painted);
          if (painted.painted) look = painted;
        }
        label = Label(*group.caller, look);
      }
      if (group.requested) look.border = "#b71c1c";
      os_ << "subgraph " << DotQuoted("cluster_" + GroupName(at))
          << " {\nstyle=\"rounded,filled\";\nfillcolor=\"" << look.fill
          << "\";\ncolor=" << DotQuoted(look.border) << ";\n";
      if (look.text != "black") os_ << "fontcolor=" << DotQuoted(look.text) << ";\n";
      if (group.requested) os_ << "penwidth=3;\n";
      os_ << "label=" << DotQuoted(label) << ";\nlabelloc=t;\n";
      const std::string tip = group.kind == GroupKind::Fusion ? NodeTooltip(*group.caller) : group.name;
      if (!tip.empty()) os_ << "tooltip=" << DotQuoted(tip) << ";\n";
    }
    for (const Item& item : items_[At(at)]) Show(item);
    if (framed) os_ << "}\n";
  }

  std::string Label(const Instruction& inst, const NodeLook& look) const {
    std::string label = NodeLabel(
        inst, style_.labels, [&](const Computation& c) { return IsDrawn(c); },
        [&](const Instruction& i) { return d_.IsWritten(i) || IsSource(i); });
    if (!look.mark.empty()) label = look.mark + " " + label;
    for (const std::string& line : look.lines) label += "\n" + line;
    return label;
  }

  /// True for what stands in a collapsed group of sources: it is written into its users, as edges from there
  /// would lead everywhere.
  [[nodiscard]] bool IsSource(const Instruction& inst) const {
    const auto node = d_.node_of.find(&inst);
    return node != d_.node_of.end() && IsSources(shown_.StandIn(d_.nodes[At(node->second)].group));
  }
  [[nodiscard]] bool IsSources(int32_t group) const {
    return group >= 0 && d_.groups[At(group)].kind == GroupKind::Sources;
  }

  [[nodiscard]] bool IsDrawn(const Computation& c) const {
    const auto at = d_.group_of.find(&c);
    return at != d_.group_of.end() && shown_.StandIn(at->second) < 0;
  }

  void Node(int32_t at) {
    const DrawnNode& node = d_.nodes[At(at)];
    if (!node.instruction) {
      RootTag(at);
      return;
    }
    const Instruction& inst = *node.instruction;
    const SchemeColours& colours = ColoursOf(SchemeOf(inst));
    NodeLook look{colours.fill.str(), colours.border.str(), colours.text.str(), "", {}, false};
    if (style_.paint) style_.paint(inst, look);
    llvm::StringRef shape = inst.kind() == OpKind::While ? "ellipse" : "box";
    if (node.requested) {
      shape = "diamond";
      look.fill = "#b71c1c", look.border = "#7f0000", look.text = "white";
    } else if (node.omitted) {
      look.border = look.text = kGrey.str();
      if (!look.painted) look.fill = "white";
    }
    os_ << Id(at) << " [label=" << DotQuoted(Label(inst, look)) << ", shape=" << shape;
    Colours(look, node.omitted && !node.requested ? "filled,dashed" : "");
    if (const std::string tip = NodeTooltip(inst); !tip.empty()) os_ << ", tooltip=" << DotQuoted(tip);
    os_ << "];\n";
  }

  void Colours(const NodeLook& look, llvm::StringRef style) {
    if (!style.empty()) os_ << ", style=" << DotQuoted(style);
    os_ << ", fillcolor=\"" << look.fill << "\", color=\"" << look.border << "\", fontcolor=\"" << look.text
        << '"';
  }

  void RootTag(int32_t at) {
    const SchemeColours& colours = ColoursOf(Scheme::Brown);
    os_ << Id(at) << " [label=\"ROOT\", shape=circle";
    Colours({colours.fill.str(), colours.border.str(), colours.text.str(), "", {}, false}, "");
    os_ << "];\n";
  }

  /// A fusion's node, or a box with what is in the group.
  void CollapsedNode(int32_t at) {
    const DrawnGroup& group = d_.groups[At(at)];
    const SchemeColours& colours = ColoursOf(Scheme::Grey);
    NodeLook look{colours.fill.str(), colours.border.str(), colours.text.str(), "", {}, false};
    if (group.kind == GroupKind::Fusion) {
      if (style_.paint) style_.paint(*group.caller, look);
      os_ << GroupId(at) << " [label=" << DotQuoted(Label(*group.caller, look)) << ", shape=box";
      Colours(look, "");
      if (const std::string tip = NodeTooltip(*group.caller); !tip.empty())
        os_ << ", tooltip=" << DotQuoted(tip);
      os_ << "];\n";
      return;
    }
    const Contents& contents = contents_[at];
    if (style_.paint_group) style_.paint_group(contents.instructions, look);
    std::string label = IsPart(group.kind) ? group.label : "computation " + group.computation->name().str();
    if (!look.mark.empty()) label = look.mark + " " + label;
    label += llvm::formatv("\n{0} instructions", contents.instructions.size()).str() + OpcodesText(contents);
    if (IsSources(at)) label += "\nwritten into their users";
    for (const auto& [sources, count] : contents.sources)
      label += llvm::formatv("\nuses {0} {1}", count, sources);
    for (const std::string& line : look.lines) label += "\n" + line;
    os_ << GroupId(at) << " [label=" << DotQuoted(label) << ", shape=box, peripheries=2";
    Colours(look, "rounded,filled");
    if (!group.name.empty()) os_ << ", tooltip=" << DotQuoted(group.name);
    os_ << "];\n";
  }

  /// The most frequent opcodes, two in a line.
  static std::string OpcodesText(const Contents& contents) {
    std::vector<std::pair<int64_t, llvm::StringRef>> counts;
    for (const auto& [opcode, count] : contents.opcodes) counts.emplace_back(-count, opcode);
    llvm::sort(counts);
    std::string text;
    for (size_t i = 0; i < std::min(counts.size(), kMostOpcodes); ++i)
      text += llvm::formatv("{0}{1} {2}", i % 2 == 0 ? "\n" : ", ", -counts[i].first, counts[i].second).str();
    return text + (counts.size() > kMostOpcodes ? ", ..." : "");
  }

  [[nodiscard]] std::string GroupName(int32_t at) const {
    const DrawnGroup& group = d_.groups[At(at)];
    const std::string computation = group.computation ? group.computation->name().str() : "";
    return IsPart(group.kind) ? computation + "::<" + group.name + ">" : computation;
  }
  [[nodiscard]] std::string GroupId(int32_t at) const {
    const DrawnGroup& group = d_.groups[At(at)];
    if (group.kind == GroupKind::Fusion) return InstructionId(*group.caller);
    return DotQuoted(IsPart(group.kind) ? GroupName(at) : GroupName(at) + "::<all>");
  }
  [[nodiscard]] std::string Id(int32_t at) const {
    const DrawnNode& node = d_.nodes[At(at)];
    if (node.instruction) return InstructionId(*node.instruction);
    return DotQuoted((d_.groups[At(node.group)].computation->name() + "::<root>").str());
  }

  void Edges() {
    struct Merged {
      DrawnEdge edge;
      int64_t count = 0;
    };
    std::map<std::tuple<std::string, std::string, EdgeKind>, size_t> index;
    std::vector<std::pair<std::pair<std::string, std::string>, Merged>> merged;
    for (const DrawnEdge& edge : d_.edges) {
      const int32_t from_group = d_.nodes[At(edge.from)].group, to_group = d_.nodes[At(edge.to)].group;
      const int32_t from = shown_.StandIn(from_group), to = shown_.StandIn(to_group);
      if (from < 0 && to < 0) {
        Edge(Id(edge.from), Id(edge.to), edge, 1);
        continue;
      }
      if (from == to || IsSources(from) || shown_.IsLeftOut(from_group) || shown_.IsLeftOut(to_group))
        continue;
      std::string from_id = from < 0 ? Id(edge.from) : GroupId(from),
                  to_id = to < 0 ? Id(edge.to) : GroupId(to);
      const auto [at, added] = index.try_emplace({from_id, to_id, edge.kind}, merged.size());
      if (added) merged.push_back({{std::move(from_id), std::move(to_id)}, {edge}});
      Merged& m = merged[at->second].second;
      m.edge.large |= edge.large;
      // Numbers are those of one instruction.
      if (++m.count > 1 || to >= 0) m.edge.operand = -1;
    }
    for (const auto& [ids, m] : merged) Edge(ids.first, ids.second, m.edge, m.count);
  }

  /// One arrow for `count` values.
  void Edge(const std::string& from, const std::string& to, const DrawnEdge& edge, int64_t count) {
    os_ << from << " -> " << to;
    switch (edge.kind) {
      case EdgeKind::Value:
        os_ << " [arrowhead=" << (edge.large ? "normal" : "empty");
        if (edge.operand >= 0) os_ << ", headlabel=\"" << edge.operand << "\", labeldistance=2";
        // A label would take a rank of its own.
        if (count > 1)
          os_ << ", tooltip=\"" << count << " values\", penwidth=" << (count < 10 ? "1.5" : "2.5");
        os_ << "];\n";
        return;
      case EdgeKind::Control:
        os_ << " [style=dotted, color=\"gray\", label=\"ctrl\", fontcolor=\"gray\"];\n";
        return;
      case EdgeKind::Result: os_ << " [style=dashed];\n"; return;
    }
  }

  void Legend() {
    if (style_.legend.empty()) return;
    os_ << "subgraph \"cluster_<legend>\" {\nstyle=filled;\nfillcolor=\"white\";\ncolor=\"#9e9e9e\";\nlabel="
        << DotQuoted(style_.legend_title) << ";\n";
    // Edges that are not seen keep the entries in their order.
    os_ << "{ rank=same;\n";
    for (size_t i = 0; i < style_.legend.size(); ++i) {
      const LegendEntry& entry = style_.legend[i];
      os_ << "\"<legend>::" << i << "\" [label=" << DotQuoted(entry.text)
          << ", shape=box, height=0.2, width=0.3, fillcolor=\"" << entry.fill << "\", color=\""
          << entry.border << "\", fontcolor=\"" << entry.font << "\"];\n";
    }
    for (size_t i = 1; i < style_.legend.size(); ++i)
      os_ << "\"<legend>::" << i - 1 << "\" -> \"<legend>::" << i << "\" [style=invis];\n";
    os_ << "}\n}\n";
  }

  llvm::raw_ostream& os_;
  const Drawing& d_;
  const DotStyle& style_;
  ShownItems shown_;
  std::vector<Item> top_;
  std::vector<std::vector<Item>> items_;  // of each group
  std::map<int32_t, Contents> contents_;  // of collapsed groups
};

}  // namespace

void WriteDot(llvm::raw_ostream& os, const Drawing& drawing, const DotStyle& style) {
  DotWriter(os, drawing, style).Write();
}

}  // namespace hlo
