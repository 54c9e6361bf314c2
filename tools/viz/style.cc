// How the nodes of a drawing look: parts, classes, heat, marks.
#include <map>

#include "ir/print.h"
#include "tools/viz/drawing/groups.h"
#include "tools/viz/drawing/palette.h"
#include "tools/viz/drawing/quote.h"
#include "tools/viz/overlay.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kLongestClass = 64;

struct PartRow {
  llvm::StringLiteral word;
  bool& (*part)(ShownParts& parts);
};
constexpr PartRow kParts[] = {
    {"shape", [](ShownParts& p) -> bool& { return p.labels.shape; }},
    {"layout", [](ShownParts& p) -> bool& { return p.labels.layout; }},
    {"metadata", [](ShownParts& p) -> bool& { return p.labels.metadata; }},
    {"backend-config", [](ShownParts& p) -> bool& { return p.labels.backend_config; }},
    {"sharding", [](ShownParts& p) -> bool& { return p.labels.sharding; }},
    {"control", [](ShownParts& p) -> bool& { return p.control; }},
    {"constants", [](ShownParts& p) -> bool& { return p.labels.constants; }},
    {"schedule", [](ShownParts& p) -> bool& { return p.schedule; }},
    {"bytes", [](ShownParts& p) -> bool& { return p.bytes; }},
};

std::string TypeOf(const Instruction& inst) {
  const Shape& shape = inst.shape();
  return shape.IsArray()   ? Info(shape.element_type()).text.str()
         : shape.IsTuple() ? "tuple"
                           : "token or opaque";
}

std::string ShardingOf(const Instruction& inst) {
  const ShardingPtr& sharding = inst.extras().sharding;
  if (!sharding) return "no sharding";
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintSharding(os, *sharding, /*with_metadata=*/false);
  return text;
}

std::string MemoryOf(const Instruction& inst) {
  const Shape& shape = inst.shape();
  const int64_t space = shape.IsArray() && shape.has_layout() ? shape.layout().memory_space : 0;
  return space == 0 ? "default memory" : "memory space " + std::to_string(space);
}

std::string HomeOf(const Instruction& inst) { return inst.parent()->name().str(); }

constexpr std::pair<ColorBy, std::string (*)(const Instruction&)> kClassOf[] = {
    {ColorBy::Type, &TypeOf},
    {ColorBy::Sharding, &ShardingOf},
    {ColorBy::Memory, &MemoryOf},
    {ColorBy::Computation, &HomeOf},
};

/// What the functions of a style look into. Shared, as these are copied.
struct StyleData {
  std::map<std::string, size_t> classes;  // numbered as they are met in the drawing
  std::string (*class_of)(const Instruction&) = nullptr;
  const Heat* heat = nullptr;
  llvm::DenseMap<const Instruction*, double> heat_of;
  double hottest = 0;
  llvm::DenseMap<const Instruction*, const InstructionMark*> marks;
  llvm::DenseMap<const Instruction*, int64_t> steps;
  ColorBy color_by = ColorBy::Opcode;
  bool bytes = false;
};

void PaintWith(NodeLook& look, const SchemeColours& colours) {
  look.fill = colours.fill.str(), look.border = colours.border.str(), look.text = colours.text.str();
  look.painted = true;
}

void PaintHeat(NodeLook& look, const StyleData& data, std::optional<double> value) {
  look.painted = true;
  if (!value) {
    look.fill = "#bdbdbd", look.border = "#8d8d8d", look.text = "black";
    return;
  }
  const HeatColours colours = ColoursOfHeat(HeatStep(data.hottest > 0 ? *value / data.hottest : 0));
  look.fill = colours.fill, look.border = colours.border, look.text = colours.text.str();
  look.lines.push_back(data.heat->text(*value));
}

void PaintInstruction(const Instruction& inst, NodeLook& look, const StyleData& data) {
  if (data.color_by == ColorBy::None) {
    PaintWith(look, ColoursOf(Scheme::Plain));
    look.painted = false;
  } else if (data.class_of) {
    const auto at = data.classes.find(data.class_of(inst));
    if (at != data.classes.end()) PaintWith(look, ColoursOfClass(at->second));
  }
  if (const auto step = data.steps.find(&inst); step != data.steps.end())
    look.lines.push_back("step " + std::to_string(step->second));
  if (data.bytes) look.lines.push_back(FormatBytes(static_cast<int64_t>(std::min(ResultBytes(inst), 9e18))));
  if (data.heat) {
    const auto at = data.heat_of.find(&inst);
    PaintHeat(look, data, at == data.heat_of.end() ? std::nullopt : std::optional(at->second));
  }
  if (const auto at = data.marks.find(&inst); at != data.marks.end()) {
    PaintWith(look, *ColoursOfMark(at->second->kind));
    look.mark = at->second->letter;
    llvm::append_range(look.lines, at->second->lines);
  }
}

/// The value of a group: the sum; shares have none.
std::optional<double> HeatOf(llvm::ArrayRef<const Instruction*> group, const StyleData& data) {
  if (!data.heat || data.heat->metric == HeatMetric::Roofline) return std::nullopt;
  double sum = 0;
  bool known = false;
  for (const Instruction* inst : group)
    if (const auto at = data.heat_of.find(inst); at != data.heat_of.end()) sum += at->second, known = true;
  return known ? std::optional(sum) : std::nullopt;
}

void PaintGroup(llvm::ArrayRef<const Instruction*> group, NodeLook& look, const StyleData& data) {
  if (data.heat) PaintHeat(look, data, HeatOf(group, data));
  std::map<StringRef, int64_t> kinds;
  for (const Instruction* inst : group)
    if (const auto at = data.marks.find(inst); at != data.marks.end()) ++kinds[at->second->kind];
  if (kinds.empty()) return;
  for (const auto& [kind, count] : kinds) look.lines.push_back(llvm::formatv("{0} {1}", count, kind).str());
  PaintWith(look, *ColoursOfMark(kinds.size() == 1 ? kinds.begin()->first : "changed"));
}

/// What stands in the groups that are drawn as one node, with fusions in the place of their bodies.
double Hottest(const Drawing& drawing, const StyleData& data) {
  const ShownItems shown(drawing);
  std::map<int32_t, std::vector<const Instruction*>> groups;
  double hottest = 0;
  auto see = [&](const Instruction& inst) {
    if (const auto at = data.heat_of.find(&inst); at != data.heat_of.end())
      hottest = std::max(hottest, at->second);
  };
  for (const DrawnNode& node : drawing.nodes) {
    if (!node.instruction) continue;
    if (const int32_t group = shown.StandIn(node.group); group >= 0)
      groups[group].push_back(node.instruction);
    else
      see(*node.instruction);
  }
  for (const DrawnGroup& group : drawing.groups)
    if (group.caller && group.kind == GroupKind::Fusion) see(*group.caller);
  for (const auto& [group, instructions] : groups)
    if (drawing.groups[static_cast<size_t>(group)].kind != GroupKind::Fusion)
      hottest = std::max(hottest, HeatOf(instructions, data).value_or(0));
  return hottest;
}

void HeatLegend(DotStyle& style, const StyleData& data) {
  style.legend_title =
      llvm::formatv("{0}: shares of {1}", data.heat->name, data.heat->text(data.hottest)).str();
  for (int step = 0; step <= kHeatSteps; ++step) {
    const HeatColours c = ColoursOfHeat(step);
    const std::string text = step == 0 ? "0" : llvm::formatv("{0} %", step * 100 / kHeatSteps).str();
    style.legend.push_back({text, c.fill, c.border, c.text.str()});
  }
  NodeLook unknown;
  PaintHeat(unknown, data, std::nullopt);
  style.legend.push_back({"not measured", unknown.fill, unknown.border, unknown.text});
}

void MarkLegend(DotStyle& style, const VizOverlay& overlay) {
  std::map<StringRef, std::pair<std::string, int64_t>> kinds;
  for (const InstructionMark& mark : overlay.marks) {
    auto& [letter, count] = kinds[mark.kind];
    letter = mark.letter;
    ++count;
  }
  for (const auto& [kind, what] : kinds) {
    const SchemeColours& c = *ColoursOfMark(kind);
    style.legend.push_back({llvm::formatv("{0} {1}: {2}", what.first, kind, what.second).str(), c.fill.str(),
                            c.border.str(), c.text.str()});
  }
  for (const std::string& note : overlay.notes) style.legend.push_back({note, "white", "#9e9e9e"});
  if (style.legend_title.empty() && !style.legend.empty()) style.legend_title = "differences";
}

void ClassLegend(DotStyle& style, const StyleData& data, ColorBy by) {
  std::vector<StringRef> names(data.classes.size());
  for (const auto& [name, number] : data.classes) names[number] = name;
  for (size_t i = 0; i < std::min(names.size(), kClassColours); ++i) {
    const SchemeColours& c = ColoursOfClass(i);
    const bool rest = i + 1 == kClassColours && names.size() > kClassColours;
    style.legend.push_back(
        {rest ? llvm::formatv("{0} others", names.size() - i).str() : PrintableText(names[i], kLongestClass),
         c.fill.str(), c.border.str(), c.text.str()});
  }
  style.legend_title = "colours by " + WordOf(by).str();
}

}  // namespace

std::vector<StringRef> VizPartWords() {
  std::vector<StringRef> words;
  for (const PartRow& row : kParts) words.push_back(row.word);
  return words;
}

Result<ShownParts> PartsOf(const VizOptions& options) {
  ShownParts parts;
  for (const auto& [option, list, shown] :
       {std::tuple("--show", &options.show, true), {"--hide", &options.hide, false}})
    for (const std::string& word : list->items) {
      std::string name = word;
      std::replace(name.begin(), name.end(), '_', '-');
      const auto* row = llvm::find_if(kParts, [&](const PartRow& r) { return r.word == name; });
      if (row == std::end(kParts)) return UnknownWord({option, word}, VizPartWords());
      row->part(parts) = shown;
    }
  return parts;
}

std::vector<std::string> WordsOf(const ShownParts& parts) {
  ShownParts copy = parts;
  std::vector<std::string> words;
  for (const PartRow& row : kParts)
    if (row.part(copy)) words.push_back(row.word.str());
  return words;
}

DotStyle MakeDotStyle(const Drawing& drawing, const ShownParts& parts, const VizOverlay& overlay,
                      const VizOptions& options) {
  auto data = std::make_shared<StyleData>();
  DotStyle style;
  style.labels = parts.labels;
  data->color_by = options.color_by;
  data->bytes = parts.bytes;
  for (const auto& [by, class_of] : kClassOf)
    if (by == options.color_by) data->class_of = class_of;
  if (data->class_of) {
    for (const DrawnNode& node : drawing.nodes)
      if (node.instruction)
        data->classes.try_emplace(data->class_of(*node.instruction), data->classes.size());
    ClassLegend(style, *data, options.color_by);
  }
  if (parts.schedule)
    for (const auto& [computation, group] : drawing.group_of) {
      int64_t step = 0;
      for (const Instruction* inst : computation->schedule()) data->steps[inst] = step++;
    }
  if (const Heat* heat = ChosenHeat(overlay, options)) {
    data->heat = heat;
    for (const auto& [inst, value] : heat->values) data->heat_of[inst] = value;
    data->hottest = heat->metric == HeatMetric::Roofline ? 1 : Hottest(drawing, *data);
    style.legend.clear();
    HeatLegend(style, *data);
  }
  for (const InstructionMark& mark : overlay.marks) data->marks[mark.instruction] = &mark;
  MarkLegend(style, overlay);
  style.paint = [data](const Instruction& inst, NodeLook& look) { PaintInstruction(inst, look, *data); };
  style.paint_group = [data](llvm::ArrayRef<const Instruction*> group, NodeLook& look) {
    PaintGroup(group, look, *data);
  };
  return style;
}

}  // namespace hlo
