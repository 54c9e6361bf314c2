#include "tools/viz/dot.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "tools/viz/palette.h"
#include "tools/viz/quote.h"

namespace hlo {
namespace {

constexpr int kDeepestCluster = 64;
constexpr int kMostParallelEdges = 64;

/// The bit that decides about the computations an instruction calls.
DotExpand ExpandBit(OpKind kind) {
  static constexpr std::pair<OpKind, DotExpand> kBits[] = {{OpKind::Fusion, kExpandFusion},
                                                           {OpKind::While, kExpandWhile},
                                                           {OpKind::Conditional, kExpandConditional},
                                                           {OpKind::Call, kExpandCall},
                                                           {OpKind::AsyncStart, kExpandCall}};
  for (const auto& [op, bit] : kBits)
    if (op == kind) return bit;
  return kExpandReduce;
}

/// Draws one module.
class DotWriter {
 public:
  DotWriter(llvm::raw_ostream& os, const Module& module, const DotOptions& options)
      : os_(os), module_(module), options_(options) {}

  void Write() {
    os_ << "digraph " << DotQuoted(module_.name()) << " {\n"
        << "rankdir=TB;\ncompound=true;\nlabelloc=t;\nlabel=" << DotQuoted(Title())
        << ";\nnode [fontname=\"Helvetica\", fontsize=10, style=filled];\n"
        << "edge [fontname=\"Helvetica\", fontsize=8];\n";
    const Computation* start = options_.computation ? options_.computation : module_.entry();
    Plan(*start, 0);
    if (options_.all_computations)
      for (const Computation* c : module_.PrintOrder())
        if (!places_.contains(c)) Plan(*c, 0);
    const std::vector<const Computation*> tops = tops_;
    for (const Computation* top : tops) Cluster(*top, nullptr, 0);
    for (const Computation* c : drawn_) Edges(*c);
    os_ << "}\n";
  }

 private:
  /// Where a computation is drawn: in the cluster of its only caller, or beside the others.
  struct Place {
    const Instruction* caller = nullptr;
    bool fused = false;  // stands in the caller's place
  };

  [[nodiscard]] std::string Title() const {
    const Computation& start = *(options_.computation ? options_.computation : module_.entry());
    return "computation " + start.name().str() + " of module " + module_.name().str();
  }

  /// Decides what is drawn, callers first.
  void Plan(const Computation& top, int depth) {
    if (depth == 0) {
      places_[&top] = {};
      tops_.push_back(&top);
    }
    drawn_.push_back(&top);
    for (const Instruction* inst : top.instructions()) {
      const DotExpand bit = ExpandBit(inst->kind());
      if ((options_.expand & bit) == 0) continue;
      for (const Computation* callee : inst->callees()) {
        if (places_.contains(callee) || (bit == kExpandReduce && !NamedReducer(*callee).empty())) continue;
        const bool alone = callee->callers().size() == 1 && llvm::count(inst->callees(), callee) == 1;
        if (bit == kExpandFusion && (!alone || depth >= kDeepestCluster)) continue;
        const bool inside = alone && depth < kDeepestCluster;
        places_[callee] = {inside ? inst : nullptr, bit == kExpandFusion};
        if (!inside) tops_.push_back(callee);
        Plan(*callee, inside ? depth + 1 : 1);
      }
    }
  }

  [[nodiscard]] bool IsDrawn(const Computation& c) const { return places_.contains(&c); }
  [[nodiscard]] bool IsExpandedFusion(const Instruction& inst) const {
    if (inst.kind() != OpKind::Fusion || inst.callees().empty()) return false;
    const auto at = places_.find(inst.callee());
    return at != places_.end() && at->second.caller == &inst;
  }

  static std::string Id(const Instruction& inst) {
    return DotQuoted((inst.parent()->name() + "::" + inst.name()).str());
  }
  static std::string RootTagId(const Computation& c) { return DotQuoted((c.name() + "::<root>").str()); }

  /// The node whose result a value is; null if there is none.
  const Instruction* NodeOf(const Instruction* value) const {
    while (true) {
      if (IsWrittenIntoUsers(*value)) {
        if (value->kind() == OpKind::Constant) return nullptr;
        value = value->operand(0);
      } else if (IsExpandedFusion(*value)) {
        value = value->callee()->root();
      } else {
        return value;
      }
    }
  }

  void Cluster(const Computation& c, const Instruction* fusion, int depth) {
    const bool outermost = depth == 0 && &c == tops_.front();
    if (!outermost) {
      const SchemeColours& colours = ColoursOf(Scheme::Grey);
      os_ << "subgraph " << DotQuoted(("cluster_" + c.name()).str())
          << " {\nstyle=\"rounded,filled\";\nfillcolor=\"" << (fusion ? "#f5f5f5" : "white")
          << "\";\ncolor=" << DotQuoted(colours.border) << ";\nlabel="
          << DotQuoted(fusion ? NodeLabel(*fusion, options_.labels,
                                          [&](const Computation& x) { return IsDrawn(x); })
                              : "computation " + c.name().str())
          << ";\nlabelloc=t;\n";
      if (fusion)
        if (const std::string tip = NodeTooltip(*fusion); !tip.empty())
          os_ << "tooltip=" << DotQuoted(tip) << ";\n";
    }
    // Operands before users, so that files compare well.
    const std::vector<Instruction*> order = c.PostOrder();
    for (const Instruction* inst : order) {
      if (!IsWrittenIntoUsers(*inst) && !IsExpandedFusion(*inst)) Node(*inst);
      for (const Computation* callee : inst->callees()) {
        const auto at = places_.find(callee);
        if (at != places_.end() && at->second.caller == inst)
          Cluster(*callee, at->second.fused ? inst : nullptr, depth + 1);
      }
    }
    if (c.root() && !fusion) RootTag(c);
    if (!outermost) os_ << "}\n";
  }

  void Node(const Instruction& inst) {
    const SchemeColours& colours = ColoursOf(SchemeOf(inst));
    os_ << Id(inst) << " [label="
        << DotQuoted(NodeLabel(inst, options_.labels, [&](const Computation& c) { return IsDrawn(c); }))
        << ", shape=" << (inst.kind() == OpKind::While ? "ellipse" : "box") << ", fillcolor=\""
        << colours.fill << "\", color=\"" << colours.border << "\", fontcolor=\"" << colours.text << '"';
    if (const std::string tip = NodeTooltip(inst); !tip.empty()) os_ << ", tooltip=" << DotQuoted(tip);
    os_ << "];\n";
  }

  void RootTag(const Computation& c) {
    const SchemeColours& colours = ColoursOf(Scheme::Brown);
    os_ << RootTagId(c) << " [label=\"ROOT\", shape=circle, fillcolor=\"" << colours.fill << "\", color=\""
        << colours.border << "\", fontcolor=\"" << colours.text << "\"];\n";
  }

  /// One arrow; `number`: of the operand, where there are several.
  void Edge(const Instruction& from, const std::string& to, const Shape& value,
            std::optional<int64_t> number) {
    os_ << Id(from) << " -> " << to
        << " [arrowhead=" << (TotalElements(value) < kLargeElements ? "empty" : "normal");
    if (number) os_ << ", headlabel=\"" << *number << "\", labeldistance=2";
    os_ << "];\n";
  }

  void Edges(const Computation& c) {
    const auto place = places_.find(&c);
    const std::vector<Instruction*> order = c.PostOrder();
    for (const Instruction* inst : order) {
      if (IsExpandedFusion(*inst)) {
        const auto inner = static_cast<int64_t>(inst->callee()->parameters().size());
        for (int64_t i = 0; i < std::min(inner, inst->operand_count()); ++i)
          if (const Instruction* from = NodeOf(inst->operand(i)))
            Edge(*from, Id(*inst->callee()->parameter(i)), inst->operand(i)->shape(), {});
      } else if (!IsWrittenIntoUsers(*inst)) {
        OperandEdges(*inst);
      }
      if (options_.control) ControlEdges(*inst);
    }
    if (!c.root() || place->second.fused) return;
    const Instruction* root = NodeOf(c.root());
    if (!root) return;
    Edge(*root, RootTagId(c), c.root()->shape(), {});
    if (&c == tops_.front()) return;
    for (const Instruction* caller : c.callers())
      if (IsDrawn(*caller->parent())) os_ << RootTagId(c) << " -> " << Id(*caller) << " [style=dashed];\n";
  }

  void OperandEdges(const Instruction& inst) {
    llvm::SmallDenseMap<const Instruction*, int, 4> parallel;
    for (int64_t i = 0; i < inst.operand_count(); ++i) {
      const Instruction* from = NodeOf(inst.operand(i));
      if (!from || ++parallel[from] > kMostParallelEdges) continue;
      Edge(*from, Id(inst), inst.operand(i)->shape(),
           inst.operand_count() > 1 ? std::optional<int64_t>(i) : std::nullopt);
    }
  }

  void ControlEdges(const Instruction& inst) {
    for (const Instruction* before : inst.extras().control_predecessors) {
      const Instruction* from = NodeOf(before);
      const Instruction* to = NodeOf(&inst);
      if (from && to)
        os_ << Id(*from) << " -> " << Id(*to)
            << " [style=dotted, color=\"gray\", label=\"ctrl\", fontcolor=\"gray\"];\n";
    }
  }

  llvm::raw_ostream& os_;
  const Module& module_;
  const DotOptions& options_;
  llvm::DenseMap<const Computation*, Place> places_;  // of what is drawn
  std::vector<const Computation*> drawn_, tops_;      // in order; tops: in no other's cluster
};

}  // namespace

void WriteDot(llvm::raw_ostream& os, const Module& module, const DotOptions& options) {
  DotWriter(os, module, options).Write();
}

}  // namespace hlo
