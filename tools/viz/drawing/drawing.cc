#include "tools/viz/drawing/drawing.h"

#include "tools/viz/drawing/label.h"
#include "tools/viz/drawing/palette.h"

namespace hlo {
namespace {

constexpr int kDeepestGroup = 64;

class DrawingMaker {
 public:
  DrawingMaker(const Module& module, const DrawingScope& scope) : scope_(scope) { d_.module = &module; }

  Drawing Make() {
    if (scope_.computations.empty())
      Start(*d_.module->entry());
    else
      for (const Computation* c : scope_.computations) Start(*c);
    if (scope_.all_computations)
      for (const Computation* c : d_.module->PrintOrder()) Start(*c);
    for (const auto& [computation, order] : drawn_) Edges(*computation, order);
    const Computation& first = *d_.groups.front().computation;
    d_.title = "computation " + first.name().str() + " of module " + d_.module->name().str();
    return std::move(d_);
  }

 private:
  /// A computation on its own, and those that could not be drawn inside of others.
  void Start(const Computation& c) {
    tops_ = {&c};
    // It grows as computations are added.
    while (next_top_ < tops_.size())
      if (const Computation* top = tops_[next_top_++]; !d_.group_of.contains(top))
        Add(*top, {GroupKind::Computation, -1, top, nullptr, "", ""}, 0);
    next_top_ = 0;
  }

  void Add(const Computation& c, DrawnGroup group, int depth) {
    const auto at = static_cast<int32_t>(d_.groups.size());
    d_.groups.push_back(std::move(group));
    d_.group_of[&c] = at;
    const std::vector<Instruction*> order = c.PostOrder();
    drawn_.emplace_back(&c, order);
    for (const Instruction* inst : order) {
      // Bodies of fusions are found before it is decided whether the fusion has a node.
      std::vector<std::pair<const Computation*, GroupKind>> inside;
      Callees(*inst, depth, inside);
      const bool fused = llvm::any_of(inside, [](const auto& i) { return i.second == GroupKind::Fusion; });
      const bool written = IsWrittenIntoUsers(*inst) && !scope_.own_nodes.contains(inst);
      if (!fused && !written) AddNode({inst, at});
      for (const auto& [callee, kind] : inside)
        if (!d_.group_of.contains(callee)) Add(*callee, {kind, at, callee, inst, "", ""}, depth + 1);
    }
    if (c.root() && d_.groups[static_cast<size_t>(at)].kind != GroupKind::Fusion) {
      tag_of_[&c] = static_cast<int32_t>(d_.nodes.size());
      d_.nodes.push_back({nullptr, at});
    }
  }

  void AddNode(DrawnNode node) {
    d_.node_of[node.instruction] = static_cast<int32_t>(d_.nodes.size());
    d_.nodes.push_back(node);
  }

  /// The computations called by an instruction that are drawn within its own; others become tops.
  void Callees(const Instruction& inst, int depth,
               std::vector<std::pair<const Computation*, GroupKind>>& inside) {
    if (inst.callees().empty()) return;
    const DotExpand bit = ExpandBit(inst.kind());
    if ((scope_.expand & bit) == 0) return;
    for (const Computation* callee : inst.callees()) {
      if (d_.group_of.contains(callee) || (bit == kExpandReduce && !NamedReducer(*callee).empty())) continue;
      const bool alone = callee->callers().size() == 1 && llvm::count(inst.callees(), callee) == 1;
      const bool fits = alone && depth < kDeepestGroup;
      if (bit == kExpandFusion) {
        if (fits && callee->root()) inside.emplace_back(callee, GroupKind::Fusion);
      } else if (fits) {
        inside.emplace_back(callee, GroupKind::Computation);
      } else {
        tops_.push_back(callee);
      }
    }
  }

  void Edges(const Computation& c, llvm::ArrayRef<Instruction*> order) {
    for (const Instruction* inst : order) {
      if (d_.IsExpandedFusion(*inst)) {
        const auto inner = static_cast<int64_t>(inst->callee()->parameters().size());
        for (int64_t i = 0; i < std::min(inner, inst->operand_count()); ++i)
          Value(*inst->operand(i), d_.NodeOf(inst->callee()->parameter(i)), -1);
      } else if (const auto node = d_.node_of.find(inst); node != d_.node_of.end()) {
        Operands(*inst, node->second);
      }
      if (scope_.control)
        for (const Instruction* before : inst->extras().control_predecessors)
          Edge({d_.NodeOf(before), d_.NodeOf(inst), EdgeKind::Control});
    }
    const auto tag = tag_of_.find(&c);
    if (tag == tag_of_.end()) return;
    Value(*c.root(), tag->second, -1);
    if (d_.group_of.lookup(&c) == 0) return;
    std::vector<int32_t> callers;
    for (const Instruction* caller : c.callers())
      if (const auto node = d_.node_of.find(caller); node != d_.node_of.end())
        callers.push_back(node->second);
    llvm::sort(callers);
    for (const int32_t caller : callers) Edge({tag->second, caller, EdgeKind::Result});
  }

  void Operands(const Instruction& inst, int32_t to) {
    llvm::SmallDenseMap<int32_t, int, 4> parallel;
    for (int64_t i = 0; i < inst.operand_count(); ++i) {
      const int32_t from = d_.NodeOf(inst.operand(i));
      if (from < 0 || ++parallel[from] > kMostParallelEdges) continue;
      Value(*inst.operand(i), to, inst.operand_count() > 1 ? static_cast<int32_t>(i) : -1);
    }
  }

  void Value(const Instruction& value, int32_t to, int32_t operand) {
    Edge({d_.NodeOf(&value), to, EdgeKind::Value, TotalElements(value.shape()) >= kLargeElements, operand});
  }

  void Edge(const DrawnEdge& edge) {
    if (edge.from >= 0 && edge.to >= 0) d_.edges.push_back(edge);
  }

  const DrawingScope& scope_;
  Drawing d_;
  std::vector<std::pair<const Computation*, std::vector<Instruction*>>> drawn_;
  std::vector<const Computation*> tops_;  // to be drawn on their own
  size_t next_top_ = 0;
  llvm::DenseMap<const Computation*, int32_t> tag_of_;
};

}  // namespace

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

bool Drawing::IsExpandedFusion(const Instruction& inst) const {
  if (inst.kind() != OpKind::Fusion || inst.callees().empty()) return false;
  const auto at = group_of.find(inst.callee());
  if (at == group_of.end()) return false;
  const DrawnGroup& group = groups[static_cast<size_t>(at->second)];
  return group.kind == GroupKind::Fusion && group.caller == &inst;
}

bool Drawing::IsWritten(const Instruction& inst) const {
  return IsWrittenIntoUsers(inst) && !node_of.contains(&inst);
}

int32_t Drawing::NodeOf(const Instruction* value) const {
  while (true) {
    if (const auto node = node_of.find(value); node != node_of.end()) return node->second;
    if (IsExpandedFusion(*value))
      value = value->callee()->root();
    else if (value->kind() == OpKind::GetTupleElement && value->operand_count() == 1)
      value = value->operand(0);
    else
      return -1;
  }
}

void Drawing::Keep(llvm::ArrayRef<bool> kept) {
  std::vector<int32_t> moved(nodes.size(), -1);
  int32_t next = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (kept[i]) moved[i] = next++;
  std::vector<DrawnEdge> inner;
  for (DrawnEdge edge : edges) {
    const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
    if (kept[from] != kept[to]) {
      if (nodes[from].instruction && nodes[to].instruction) nodes[kept[from] ? from : to].omitted = true;
    } else if (kept[from]) {
      edge.from = moved[from], edge.to = moved[to];
      inner.push_back(edge);
    }
  }
  edges = std::move(inner);
  std::vector<DrawnNode> rest;
  node_of.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!kept[i]) continue;
    if (nodes[i].instruction) node_of[nodes[i].instruction] = static_cast<int32_t>(rest.size());
    rest.push_back(nodes[i]);
  }
  nodes = std::move(rest);
}

Drawing MakeDrawing(const Module& module, const DrawingScope& scope) {
  return DrawingMaker(module, scope).Make();
}

}  // namespace hlo
