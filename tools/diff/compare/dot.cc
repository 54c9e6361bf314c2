// --output-format=dot: both graphs in one, differences in colours and with their marks (tools.md §4.3).
#include "tools/diff/compare/merged_graph.h"
#include "tools/viz/drawing/label.h"
#include "tools/viz/drawing/palette.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr size_t kMostChanges = 12, kLongestChange = 96;

class MergedDot {
 public:
  MergedDot(llvm::raw_ostream& os, const DiffReport& report)
      : os_(os), report_(report), graph_(MergeGraphs(report)) {}

  void Write() {
    os_ << "digraph " << DotQuoted(report_.diff.right->name())
        << " {\nfontname=\"Helvetica\";\nrankdir=TB;\ncompound=true;\nlabelloc=t;\nlabel="
        << DotQuoted(Title())
        << ";\nnode [fontname=\"Helvetica\", fontsize=10, style=filled, shape=box, fillcolor=white, "
           "color=\"#9e9e9e\"];\nedge [fontname=\"Helvetica\", fontsize=8];\n";
    for (size_t c = 0; c < graph_.computations.size(); ++c) Cluster(static_cast<int32_t>(c));
    for (const MergedEdge& edge : graph_.edges) Edge(edge);
    for (size_t c = 0; c < graph_.computations.size(); ++c) CallEdges(c);
    os_ << "}\n";
  }

 private:
  [[nodiscard]] std::string Title() const {
    std::string title;
    llvm::raw_string_ostream os(title);
    WriteDiffHeading(os, report_);
    for (const PropertyChange& change : report_.diff.header)
      os << "\n~ " << PrintableText(change.path, kLongestChange) << ": "
         << PrintableText(change.left, kLongestChange) << " -> "
         << PrintableText(change.right, kLongestChange);
    if (graph_.nodes.empty()) os << "\nno differences to draw";
    if (graph_.not_drawn > 0)
      os << "\n" << graph_.not_drawn << " more differences are folded (--max-entries=0 draws all)";
    return title;
  }

  /// What the colours mean is also said by a mark.
  static std::string Marked(DiffKind kind, llvm::StringRef text) {
    return kind == DiffKind::Unchanged ? text.str() : (llvm::Twine(MarkOf(kind)) + " " + text).str();
  }
  static std::string Colours(DiffKind kind) {
    const SchemeColours* colours = ColoursOfMark(ToString(kind));
    if (!colours) return "";
    return (", fillcolor=\"" + colours->fill + "\", color=\"" + colours->border + "\", penwidth=2").str();
  }

  static std::string Id(const MergedNode& node, size_t number) {
    if (!node.entry) return DotQuoted("<region " + std::to_string(number) + ">");
    const auto name = [](const Instruction* inst) {
      return inst ? (inst->parent()->name() + "::" + inst->name()).str() : "";
    };
    // Names of both sides: an added and a removed instruction may share theirs.
    return DotQuoted(name(node.entry->left) + " -> " + name(node.entry->right));
  }
  [[nodiscard]] std::string IdOf(int32_t node) const {
    return Id(graph_.nodes[static_cast<size_t>(node)], static_cast<size_t>(node));
  }

  /// The kind of a pair of computations, and how both are called.
  static std::pair<DiffKind, std::string> Describe(const ComputationMatch& match) {
    if (!match.left) return {DiffKind::Added, "computation " + match.right->name().str()};
    if (!match.right) return {DiffKind::Removed, "computation " + match.left->name().str()};
    const llvm::StringRef left = match.left->name(), right = match.right->name();
    return {DiffKind::Unchanged, ((match.right->IsEntry() ? "ENTRY " : "computation ") + left +
                                  (left == right ? "" : " -> " + right.str()))
                                     .str()};
  }

  void Cluster(int32_t computation) {
    const auto [kind, name] = Describe(graph_.computations[static_cast<size_t>(computation)]);
    const SchemeColours* colours = ColoursOfMark(ToString(kind));
    os_ << "subgraph " << DotQuoted("cluster_" + std::to_string(computation))
        << " {\nlabel=" << DotQuoted(Marked(kind, name)) << ";\nstyle=rounded;\ncolor=\""
        << (colours ? colours->border : llvm::StringRef("#9e9e9e")) << "\";\n";
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].computation == computation) Node(i);
    os_ << "}\n";
  }

  void Node(size_t number) {
    const MergedNode& node = graph_.nodes[number];
    os_ << Id(node, number) << " [label=";
    if (!node.entry) {
      std::string text;
      for (int kind = 0; kind < kDiffKindCount; ++kind)
        if (node.folded[kind] > 0)
          text += (text.empty() ? "" : "\n") + std::to_string(node.folded[kind]) + " " +
                  ToString(static_cast<DiffKind>(kind)).str();
      os_ << DotQuoted(text) << ", style=\"filled,dashed\", fontcolor=\"#757575\"];\n";
      return;
    }
    const Instruction& shown = node.entry->right ? *node.entry->right : *node.entry->left;
    os_ << DotQuoted(EntryLabel(node)) << Colours(node.entry->kind);
    if (shown.IsRoot()) os_ << ", peripheries=2";
    if (const std::string tip = NodeTooltip(shown); !tip.empty()) os_ << ", tooltip=" << DotQuoted(tip);
    os_ << "];\n";
  }

  std::string EntryLabel(const MergedNode& node) {
    const DiffEntry& e = *node.entry;
    const Instruction& shown = e.right ? *e.right : *e.left;
    LabelOptions options;
    options.layout = false;
    std::string label = NodeLabel(
        shown, options, [](const Computation&) { return false; },
        [this](const Instruction& operand) {
          return graph_.NodeOf(&operand) < 0 && IsWrittenIntoUsers(operand);
        });
    label = Marked(e.kind, label);
    if (node.repeats > 1) label += "\nx" + std::to_string(node.repeats);
    if (e.left && e.right && e.left->parent() != e.right->parent() && e.moved)
      label += ("\nfrom " + e.left->parent()->name() + (e.note.empty() ? "" : " (" + e.note + ")")).str();
    else if (!e.note.empty())
      label += "\n(" + e.note + ")";
    size_t written = 0;
    for (const PropertyChange& change : e.changes) {
      if (written++ == kMostChanges) {
        label += llvm::formatv("\n... {0} more", e.changes.size() - kMostChanges).str();
        break;
      }
      label += "\n" + PrintableText(change.path, kLongestChange) + ": " +
               PrintableText(change.left, kLongestChange) + " -> " +
               PrintableText(change.right, kLongestChange);
      if (!change.note.empty()) label += " (" + change.note + ")";
    }
    return label;
  }

  void Edge(const MergedEdge& edge) {
    os_ << IdOf(edge.from) << " -> " << IdOf(edge.to);
    std::string attributes = edge.control ? "style=dotted" : "";
    if (edge.in_left != edge.in_right) {
      const DiffKind kind = edge.in_left ? DiffKind::Removed : DiffKind::Added;
      const llvm::StringRef colour = ColoursOfMark(ToString(kind))->border;
      attributes += (attributes.empty() ? "" : ", ") + ("color=\"" + colour + "\"").str();
      if (edge.in_left && !edge.control) attributes += ", style=dashed";
      // Where neither end says it.
      if (!IsOfKind(edge.from, kind) && !IsOfKind(edge.to, kind))
        attributes += llvm::formatv(", label=\"{0}\", fontcolor=\"{1}\"", MarkOf(kind), colour).str();
    }
    if (!attributes.empty()) os_ << " [" << attributes << ']';
    os_ << ";\n";
  }

  [[nodiscard]] bool IsOfKind(int32_t node, DiffKind kind) const {
    const DiffEntry* entry = graph_.nodes[static_cast<size_t>(node)].entry;
    return entry && entry->kind == kind;
  }

  /// From the root of a called computation to those who call it.
  void CallEdges(size_t computation) {
    const ComputationMatch& match = graph_.computations[computation];
    for (const Computation* side : {match.left, match.right}) {
      if (!side || (side == match.left && match.right)) continue;
      const int32_t root = graph_.NodeOf(side->root());
      std::vector<int32_t> callers;
      for (const Instruction* caller : side->callers()) callers.push_back(graph_.NodeOf(caller));
      llvm::sort(callers);
      callers.erase(llvm::unique(callers), callers.end());
      for (const int32_t caller : callers)
        if (root >= 0 && caller >= 0)
          os_ << IdOf(root) << " -> " << IdOf(caller) << " [style=dashed, arrowhead=empty, ltail="
              << DotQuoted("cluster_" + std::to_string(computation)) << "];\n";
    }
  }

  llvm::raw_ostream& os_;
  const DiffReport& report_;
  MergedGraph graph_;
};

}  // namespace

Status WriteDiffDot(llvm::raw_ostream& os, const DiffReport& report) {
  MergedDot(os, report).Write();
  return {};
}

}  // namespace hlo
