#include "tools/viz/select.h"

#include "tools/common/instruction_filter.h"
#include "tools/modules/transform.h"
#include "tools/viz/drawing/selection.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr int64_t kRadius = 2, kMostPathNodes = 100;

struct ExpandRow {
  llvm::StringLiteral word;
  uint8_t bits;
};
constexpr ExpandRow kExpandRows[] = {
    {"fusion", kExpandFusion}, {"while", kExpandWhile},   {"conditional", kExpandConditional},
    {"call", kExpandCall},     {"reduce", kExpandReduce}, {"none", kExpandNone},
    {"all", kExpandAll},
};

Result<uint8_t> ExpandOf(const VizOptions& options) {
  // Costs are those of whole fusions.
  if (!options.expand) return options.heat.empty() ? kExpandFusion : kExpandNone;
  unsigned bits = 0;
  for (const std::string& word : options.expand->items) {
    const auto* row = llvm::find_if(kExpandRows, [&](const ExpandRow& r) { return r.word == word; });
    if (row == std::end(kExpandRows)) return UnknownWord({"--expand", word}, VizExpandWords());
    bits |= row->bits;
  }
  return static_cast<uint8_t>(bits);
}

/// `NAME,N`: the number if there is one.
std::pair<StringRef, std::optional<int64_t>> SplitNumber(StringRef text) {
  const auto [name, number] = text.rsplit(',');
  int64_t value = 0;
  if (number.empty() || number.getAsInteger(10, value)) return {text, std::nullopt};
  return {name, value};
}

/// One run over the options.
class Selector {
 public:
  Selector(const Module& module, const VizOptions& options, llvm::function_ref<void(Diagnostic)> report)
      : module_(module), options_(options), report_(report) {}

  Result<VizDrawing> Run(bool control) {
    HLO_TRY(scope_.expand, ExpandOf(options_));
    scope_.control = control;
    scope_.all_computations = options_.all_computations;
    HLO_CHECK_OK(FindNames());
    HLO_CHECK_OK(ChooseComputations());
    result_.partial = !around_.empty() || path_ends_[0] || slice_ || filter_;
    for (const Instruction* inst : result_.requested) scope_.own_nodes.insert(inst);
    result_.drawing = MakeDrawing(module_, scope_);
    if (result_.partial) HLO_CHECK_OK(Select());
    return std::move(result_);
  }

 private:
  Result<const Instruction*> Find(StringRef name) {
    HLO_TRY(const Instruction* inst, FindInstruction(module_, name));
    if (!llvm::is_contained(result_.requested, inst)) result_.requested.push_back(inst);
    return inst;
  }

  Status FindNames() {
    for (const std::string& text : options_.around) {
      const auto [name, radius] = SplitNumber(text);
      if (radius.value_or(0) < 0)
        return Error("usage-option", {}, "option '--around': found radius {0}, expected 0 or more", *radius);
      HLO_TRY(const Instruction* centre, Find(name));
      around_.emplace_back(centre, radius.value_or(kRadius));
    }
    for (const std::string& name : options_.boundary.items) {
      HLO_TRY(const Instruction* inst, FindInstruction(module_, name));
      boundary_.push_back(inst);
    }
    if (!options_.paths.empty()) HLO_CHECK_OK(FindPathEnds());
    if (!options_.slice.empty()) {
      const auto [direction, name] = StringRef(options_.slice).split(':');
      slice_forward_ = direction == "forward";
      if ((!slice_forward_ && direction != "backward") || name.empty())
        return Error("usage-option", {},
                     "option '--slice': found '{0}', expected forward:NAME or backward:NAME", options_.slice);
      HLO_TRY(slice_, Find(name));
    }
    if (!options_.select.empty()) {
      HLO_TRY(filter_, InstructionFilter::Parse(options_.select, "--select"));
    }
    if (options_.context < 0)
      return Error("usage-option", {}, "option '--context': found {0}, expected 0 or more", options_.context);
    return {};
  }

  Status FindPathEnds() {
    const auto [names, most] = SplitNumber(options_.paths);
    const auto [a, b] = names.split(',');
    if (a.empty() || b.empty() || b.contains(',') || most.value_or(1) < 1)
      return Error("usage-option", {}, "option '--paths': found '{0}', expected A,B or A,B,MAX",
                   options_.paths);
    most_path_nodes_ = most.value_or(kMostPathNodes);
    HLO_TRY(path_ends_[0], Find(a));
    HLO_TRY(path_ends_[1], Find(b));
    return {};
  }

  Status ChooseComputations() {
    if (!options_.computation.empty()) {
      HLO_TRY(const Computation* computation, FindComputation(module_, options_.computation));
      scope_.computations = {computation};
      return {};
    }
    for (const Instruction* inst : result_.requested) AddHome(*inst->parent());
    if (filter_)
      for (const Computation* c : module_.PrintOrder())
        if (llvm::any_of(c->instructions(), [&](const Instruction* i) { return filter_->Matches(*i); }))
          AddHome(*c);
    return {};
  }

  /// The computation in whose drawing this one stands.
  void AddHome(const Computation& c) {
    const Computation* home = &c;
    while (!home->IsEntry() && home->callers().size() == 1 &&
           (scope_.expand & ExpandBit(home->callers().front()->kind())) != 0)
      home = home->callers().front()->parent();
    if (!llvm::is_contained(scope_.computations, home)) scope_.computations.push_back(home);
  }

  Status Select() {
    const DrawingGraph graph(result_.drawing);
    const size_t count = result_.drawing.nodes.size();
    NodeSet kept(count, false), boundary(count, false);
    for (const Instruction* inst : boundary_)
      for (const int32_t node : graph.NodesOf(*inst)) boundary[static_cast<size_t>(node)] = true;
    for (const auto& [centre, radius] : around_) {
      HLO_TRY(const auto nodes, Nodes(graph, *centre));
      graph.AddNeighbours(kept, nodes, radius, boundary);
    }
    if (slice_) {
      HLO_TRY(const auto nodes, Nodes(graph, *slice_));
      graph.AddSlice(kept, nodes, slice_forward_);
    }
    if (path_ends_[0]) HLO_CHECK_OK(AddPaths(graph, kept));
    if (filter_) {
      std::vector<int32_t> matches;
      for (size_t i = 0; i < count; ++i)
        if (const Instruction* inst = result_.drawing.nodes[i].instruction; inst && filter_->Matches(*inst))
          matches.push_back(static_cast<int32_t>(i));
      if (matches.empty())
        Report("graph-empty", "--select='" + options_.select + "' matches nothing that is drawn");
      graph.AddNeighbours(kept, matches, options_.context, boundary);
    }
    Highlight(graph);
    KeepResultTags(kept);
    result_.drawing.Keep(llvm::ArrayRef<bool>(kept.data(), kept.size()));
    result_.drawing.title = Title();
    return {};
  }

  Result<std::vector<int32_t>> Nodes(const DrawingGraph& graph, const Instruction& inst) {
    auto nodes = graph.NodesOf(inst);
    if (nodes.empty())
      return Error("usage-name", {}, "'%{0}' of %{1} is not in the drawing of '%{2}'", inst.name(),
                   inst.parent()->name(), result_.drawing.groups.front().computation->name());
    return nodes;
  }

  Status AddPaths(const DrawingGraph& graph, NodeSet& kept) {
    HLO_TRY(const auto a, Nodes(graph, *path_ends_[0]));
    HLO_TRY(const auto b, Nodes(graph, *path_ends_[1]));
    NodeSet on(kept.size(), false);
    const DrawingGraph::Paths paths = graph.AddPaths(on, a, b, most_path_nodes_);
    for (size_t i = 0; i < on.size(); ++i) kept[i] |= on[i];
    for (const auto& ends : {a, b})
      for (const int32_t node : ends) kept[static_cast<size_t>(node)] = true;
    if (paths.nodes == 0)
      Report("graph-empty", llvm::formatv("no path between '%{0}' and '%{1}'", path_ends_[0]->name(),
                                          path_ends_[1]->name()));
    if (paths.cut)
      Report("graph-simplified",
             llvm::formatv(
                 "{0} of the {1} nodes on paths between '%{2}' and '%{3}' are shown: those on the shortest",
                 paths.shown, paths.nodes, path_ends_[0]->name(), path_ends_[1]->name()));
    return {};
  }

  void Report(DiagnosticId id, const std::string& message) {
    Diagnostic warning = MakeError(id, {}, "{0}", message);
    warning.severity = Severity::Warning;
    report_(std::move(warning));
  }

  void Highlight(const DrawingGraph& graph) {
    Drawing& drawing = result_.drawing;
    for (const Instruction* inst : result_.requested) {
      if (drawing.IsExpandedFusion(*inst))
        drawing.groups[static_cast<size_t>(drawing.group_of.lookup(inst->callee()))].requested = true;
      else
        for (const int32_t node : graph.NodesOf(*inst))
          drawing.nodes[static_cast<size_t>(node)].requested = true;
    }
  }

  /// The tag of a result stays with its value, and only with it.
  void KeepResultTags(NodeSet& kept) {
    const Drawing& drawing = result_.drawing;
    for (const DrawnEdge& edge : drawing.edges)
      if (!drawing.nodes[static_cast<size_t>(edge.to)].instruction)
        kept[static_cast<size_t>(edge.to)] = kept[static_cast<size_t>(edge.from)];
  }

  [[nodiscard]] std::string Title() const {
    std::vector<std::string> parts;
    for (const auto& [centre, radius] : around_)
      parts.push_back(llvm::formatv("{0} steps around %{1}", radius, centre->name()));
    if (path_ends_[0])
      parts.push_back(
          llvm::formatv("paths between %{0} and %{1}", path_ends_[0]->name(), path_ends_[1]->name()));
    if (slice_)
      parts.push_back(
          llvm::formatv("what {0} %{1}", slice_forward_ ? "depends on" : "is needed by", slice_->name()));
    if (filter_) parts.push_back("what matches " + options_.select);
    return llvm::join(parts, ", ") + "\n" + result_.drawing.title;
  }

  const Module& module_;
  const VizOptions& options_;
  llvm::function_ref<void(Diagnostic)> report_;
  DrawingScope scope_;
  std::vector<std::pair<const Instruction*, int64_t>> around_;
  std::vector<const Instruction*> boundary_;
  const Instruction* path_ends_[2] = {nullptr, nullptr};
  int64_t most_path_nodes_ = kMostPathNodes;
  const Instruction* slice_ = nullptr;
  bool slice_forward_ = false;
  std::optional<InstructionFilter> filter_;
  VizDrawing result_;
};

}  // namespace

std::vector<StringRef> VizExpandWords() {
  std::vector<StringRef> words;
  for (const ExpandRow& row : kExpandRows) words.push_back(row.word);
  return words;
}

Result<VizDrawing> SelectDrawing(const Module& module, const VizOptions& options, bool control,
                                 llvm::function_ref<void(Diagnostic)> report) {
  return Selector(module, options, report).Run(control);
}

}  // namespace hlo
