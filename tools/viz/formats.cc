#include "tools/viz/formats.h"

#include "llvm/Support/Path.h"
#include "tools/modules/module_json.h"
#include "tools/viz/drawing/graphviz.h"
#include "tools/viz/drawing/page.h"

namespace hlo {
namespace {

void Warn(llvm::function_ref<void(Diagnostic)> report, const std::string& message) {
  Diagnostic warning = MakeError("graph-simplified", {}, "{0}", message);
  warning.severity = Severity::Warning;
  report(std::move(warning));
}

Status WriteDrawing(llvm::raw_ostream& os, VizTask& task) {
  GroupDrawing(task);
  WriteDot(os, task.selected.drawing,
           MakeDotStyle(task.selected.drawing, task.parts, task.overlay, task.options));
  return {};
}

/// The instructions of the drawing that stand beside the first requested one, or the first of all.
std::vector<const Instruction*> OfOneComputation(const Drawing& drawing, const Instruction* requested) {
  std::vector<const Instruction*> list;
  const Computation* home = requested ? requested->parent() : nullptr;
  for (const DrawnNode& node : drawing.nodes) {
    if (!node.instruction) continue;
    if (!home) home = node.instruction->parent();
    if (node.instruction->parent() == home) list.push_back(node.instruction);
  }
  return list;
}

Status WriteHtml(llvm::raw_ostream& os, VizTask& task) {
  const VizOptions& options = task.options;
  PageInput page;
  page.module = &task.module;
  for (const Heat& heat : task.overlay.heats)
    page.heat.push_back({heat.name.str(), heat.unit.str(), heat.values});
  if (const Heat* heat = ChosenHeat(task.overlay, options)) page.heat_by = heat->name.str();
  for (const InstructionMark& mark : task.overlay.marks)
    if (mark.letter == "!") page.notes.push_back({mark.instruction, llvm::join(mark.lines, "\n")});
  page.diff = task.overlay.diff;
  const Drawing& drawing = task.selected.drawing;
  if (const Computation* first = drawing.groups.front().computation; !first->IsEntry())
    page.computation = first;
  if (!task.selected.requested.empty()) page.selected = task.selected.requested.front();
  if (task.selected.partial) page.only = OfOneComputation(drawing, page.selected);
  if (options.group_by != GroupNodesBy::Unset) page.group_by = WordOf(options.group_by).str();
  if (options.color_by != ColorBy::Opcode) page.color_by = WordOf(options.color_by).str();
  page.show = WordsOf(task.parts);
  WritePage(os, page);
  return {};
}

/// What a drawing shows: its nodes, the constants and tuple elements written into them, fusions around them.
llvm::DenseSet<const Instruction*> Shown(const Drawing& drawing) {
  llvm::DenseSet<const Instruction*> shown;
  llvm::SmallVector<const Instruction*> list;
  const auto add = [&](const Instruction* inst) {
    if (inst && shown.insert(inst).second) list.push_back(inst);
  };
  for (const DrawnNode& node : drawing.nodes) {
    add(node.instruction);
    const DrawnGroup& group = drawing.groups[static_cast<size_t>(node.group)];
    if (group.kind == GroupKind::Fusion) add(group.caller);
  }
  // What is written into a node may have something written into itself: the list grows while it is read.
  while (!list.empty())
    for (const Instruction* operand : list.pop_back_val()->operands())
      if (drawing.IsWritten(*operand)) add(operand);
  return shown;
}

/// The instructions of the selection; without one all of them.
Status WriteJson(llvm::raw_ostream& os, VizTask& task) {
  const bool all = !task.selected.partial && task.options.computation.empty();
  const auto kept = all ? llvm::DenseSet<const Instruction*>() : Shown(task.selected.drawing);
  const auto is_kept = [&](const Instruction& inst) { return all || kept.contains(&inst); };
  WriteGraphJson(os, task.module, PrintOptions::ModuleDump(), static_cast<unsigned>(task.options.json_indent),
                 is_kept, "hlo-viz");
  return {};
}

/// The limit of a layout is shared by attempts with ever fewer nodes.
struct Attempt {
  int64_t most_nodes;  // -1: as --max-nodes says
  double share;        // of the time
  bool quick;
};
constexpr Attempt kAttempts[] = {{-1, 0.4, false}, {-1, 0.2, true}, {120, 0.2, true}, {40, 0.2, true}};

template <const char* kFormat>
Status WritePicture(llvm::raw_ostream& os, VizTask& task) {
  std::string why;
  if (!HasGraphviz(why)) return Error("unavailable-library", {}, "{0} needs Graphviz: {1}", kFormat, why);
  GroupDrawing(task);
  Drawing& drawing = task.selected.drawing;
  for (const Attempt& attempt : kAttempts) {
    if (attempt.most_nodes >= 0) CollapseGroups(drawing, attempt.most_nodes);
    std::string dot;
    llvm::raw_string_ostream text(dot);
    WriteDot(text, drawing, MakeDotStyle(drawing, task.parts, task.overlay, task.options));
    const LayoutEffort effort{
        std::chrono::duration_cast<std::chrono::milliseconds>(task.options.layout_timeout * attempt.share),
        attempt.quick};
    HLO_TRY(const Picture picture, RenderDot(dot, kFormat, effort));
    if (!picture.timed_out) {
      os << picture.bytes;
      return {};
    }
    const Attempt* next = &attempt + 1;
    if (next != std::end(kAttempts))
      Warn(task.report,
           llvm::formatv("the layout takes longer than {0} ms: it is made again {1}", effort.limit.count(),
                         next->most_nodes < 0 ? "with straight edges" : "of fewer groups"));
  }
  return Error("limit-timeout", {}, "no layout within --layout-timeout={0}ms",
               task.options.layout_timeout.count());
}

constexpr char kSvg[] = "svg", kPng[] = "png", kPdf[] = "pdf";

constexpr VizFormat kFormats[] = {
    {"dot", /*binary=*/false, /*single=*/false, &WriteDrawing},
    {"html", /*binary=*/false, /*single=*/true, &WriteHtml},
    {"json", /*binary=*/false, /*single=*/false, &WriteJson},
    {kSvg, /*binary=*/false, /*single=*/true, &WritePicture<kSvg>},
    {kPng, /*binary=*/true, /*single=*/true, &WritePicture<kPng>},
    {kPdf, /*binary=*/true, /*single=*/true, &WritePicture<kPdf>},
    // Not available yet.
    {"ascii", false, false, nullptr},
};

}  // namespace

void CollapseLarge(Drawing& drawing, int64_t most, llvm::StringRef limit,
                   llvm::function_ref<void(Diagnostic)> report) {
  if (most == 0) return;
  const Collapsed collapsed = CollapseGroups(drawing, most);
  if (collapsed.groups > 0)
    Warn(report, llvm::formatv("{0} nodes are more than {1}: {2} groups are drawn as one node each",
                               collapsed.nodes, limit, collapsed.groups));
}

void GroupDrawing(VizTask& task) {
  Drawing& drawing = task.selected.drawing;
  GroupNodes(drawing, task.options.group_by);
  const int64_t most = task.options.max_nodes;
  CollapseLarge(drawing, most, "--max-nodes=" + std::to_string(most), task.report);
}

std::vector<llvm::StringRef> VizFormatWords() {
  std::vector<llvm::StringRef> words;
  for (const VizFormat& known : kFormats)
    if (known.write) words.push_back(known.word);
  return words;
}

Result<const VizFormat*> FindVizFormat(const VizOptions& options) {
  const bool named = !options.output_format.empty();
  llvm::StringRef word = options.output_format;
  if (!named && options.output != "-") {
    word = llvm::sys::path::extension(options.output);
    word.consume_front(".");
  }
  // Files that are no pictures by their names hold DOT, as standard output does.
  if (!named && (word.empty() || word == "gv")) return &kFormats[0];
  const auto* row = llvm::find_if(kFormats, [&](const VizFormat& f) { return f.word == word; });
  if (row == std::end(kFormats)) {
    const std::vector<llvm::StringRef> words = VizFormatWords();
    if (named) return UnknownWord({"--output-format", word}, words);
    return Error("usage-option", {},
                 "output '{0}': no format has the extension '.{1}'; expected one of {2}, or --output-format",
                 options.output, word, llvm::join(words, ", "));
  }
  if (row->write == nullptr)
    return Error("unavailable-feature", {}, "output format '{0}' is not available yet", word);
  return row;
}

}  // namespace hlo
