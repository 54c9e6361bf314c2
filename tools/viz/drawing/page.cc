#include "tools/viz/drawing/page.h"

#include "ir/print.h"
#include "ir/support/json.h"
#include "llvm/Support/ErrorHandling.h"
#include "tools/viz/drawing/layers.h"
#include "tools/viz/drawing/page_code.h"
#include "tools/viz/drawing/palette.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

void WriteData(llvm::raw_ostream& os, llvm::StringRef id, llvm::function_ref<void(JsonWriter&)> write) {
  os << "<script type=\"application/json\" id=\"" << id << "\">";
  JsonWriter json(os, /*indent=*/0, JsonWriter::Place::Script);
  write(json);
  os << "</script>\n";
}

/// The computations in the order of the text; with or without bodies of fusions.
std::vector<const Computation*> TextOrder(const Module& module, bool fusion_bodies) {
  std::vector<const Computation*> order;
  for (const Computation* computation : module.PrintOrder())
    if (fusion_bodies || !computation->IsFusion()) order.push_back(computation);
  return order;
}

/// The instructions of a computation in the order of the text.
std::vector<Instruction*> TextOrder(const Computation& computation) {
  return computation.has_schedule() && !computation.IsFusion() ? computation.schedule()
                                                               : computation.PostOrder();
}

/// The text of a module that the page reads: one line per instruction.
std::string PageText(const Module& module, bool fusion_bodies) {
  PrintOptions options = PrintOptions::ModuleDump();
  options.operand_index_comments = false;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "HloModule " << module.name();
  for (const auto& [name, value] : ModuleAttributeTexts(module)) os << ", " << name << '=' << value;
  os << "\n\n";
  if (!module.stack_tables.empty()) {
    PrintStackTables(os, module.stack_tables);
    os << "\n\n";
  }
  for (const Computation* computation : TextOrder(module, fusion_bodies)) {
    Print(os, *computation, options);
    os << "\n\n";
  }
  return text;
}

std::string Fragment(const Instruction& inst) { return (inst.parent()->name() + "::" + inst.name()).str(); }

/// Facts of the tables that drawing needs: colours by opcode, which opcodes end what others start.
void WriteTables(JsonWriter& json) {
  json.Object("palette", [&] {
#define HLO_SCHEME(Name, fill, border, text) json.List(#Name, {fill, border, text});
#include "tools/viz/drawing/palette.def"
  });
  json.Object("opcodes", [&] {
#define HLO_COLOUR(Kind, Name) json.Member(ToString(OpKind::Kind), #Name);
#include "tools/viz/drawing/palette.def"
  });
  json.Member("largeElements", kLargeElements);
  json.Array("ends", [&] {
    for (const OpInfo& op : AllOps())
      if (op.Is(kDone) || op.kind == OpKind::AsyncUpdate) json.Value(op.text);
  });
}

void WriteHeat(JsonWriter& json, const PageInput& input) {
  json.Array("heat", [&] {
    for (const PageHeat& heat : input.heat)
      json.Object([&] {
        json.Member("name", heat.name);
        json.Member("unit", heat.unit);
        json.Object("values", [&] {
          for (const auto& [inst, value] : heat.values) json.Member(Fragment(*inst), value);
        });
      });
  });
  json.Array("notes", [&] {
    for (const PageNote& note : input.notes) json.List({Fragment(*note.instruction), note.text});
  });
}

/// What is said of an entry besides its changes.
std::string NoteOf(const JsonValue& entry) {
  const llvm::StringRef note = entry.String("note").value_or("");
  if (!entry.Bool("moved").value_or(false)) return note.str();
  return note.empty() ? "moved" : ("moved, " + note).str();
}

/// The pairs of computations whose names differ, or that have no counterpart, as [left, right].
void WritePairs(JsonWriter& json, const JsonValue& diff) {
  const JsonArray* matches = diff.Array("computations");
  json.Array("pairs", [&] {
    if (!matches) return;
    for (const JsonValue& match : *matches) {
      const llvm::StringRef left = match.String("left").value_or("");
      const llvm::StringRef right = match.String("right").value_or("");
      if (left != right) json.List({left, right});
    }
  });
}

/// Of every entry what the page uses: [kind, left, right, changes, note]. Unchanged pairs of one name go
/// unsaid.
void WriteDiff(JsonWriter& json, llvm::StringRef text) {
  const std::optional<JsonValue> top = ParseJson(text);
  if (!top) llvm::report_fatal_error("a comparison that is no JSON");
  const JsonArray* entries = top->Array("entries");
  if (!entries) return;
  auto side = [](const JsonValue& entry, llvm::StringRef which) -> std::string {
    const JsonValue* at = entry.Object(which);
    if (!at) return "";
    const auto name = at->String("name"), computation = at->String("computation");
    return name && computation ? (*computation + "::" + *name).str() : "";
  };
  json.Array("diff", [&] {
    for (const JsonValue& entry : *entries) {
      if (!entry.AsObject()) continue;
      const llvm::StringRef kind = entry.String("kind").value_or("");
      const std::string left = side(entry, "left"), right = side(entry, "right");
      if (kind == "unchanged" && left == right) continue;
      json.Array([&] {
        json.Value(kind);
        json.Value(left);
        json.Value(right);
        const JsonValue* changes = entry.Array("changes") ? entry.Find("changes") : nullptr;
        const std::string note = NoteOf(entry);
        if (changes || !note.empty()) json.Value(changes ? *changes : JsonValue(JsonArray()));
        if (!note.empty()) json.Value(note);
      });
    }
  });
  WritePairs(json, *top);
}

using Numbers = llvm::DenseMap<const Instruction*, int64_t>;

/// Numbers of the instructions of a module in the order of its text, as runs [how many, number, …]; 0 is that
/// of others.
void WriteNumbers(JsonWriter& json, const Module& module, bool fusion_bodies, const Numbers& numbers) {
  int64_t length = 0, last = 0;
  const auto end_run = [&] {
    if (length == 0) return;
    json.Value(length);
    json.Value(last);
  };
  for (const Computation* computation : TextOrder(module, fusion_bodies))
    for (const Instruction* inst : TextOrder(*computation)) {
      const int64_t number = numbers.lookup(inst);
      if (number != last) {
        end_run();
        length = 0;
        last = number;
      }
      ++length;
    }
  end_run();
}

/// Of one module: labels of layers where names do not help, and which instruction is in which, from 1.
struct LayerTable {
  std::vector<std::string> labels;
  Numbers numbers;
};

LayerTable LayersOf(const Module& module, bool fusion_bodies) {
  constexpr int64_t kSmallest = 100;  // smaller computations are drawn whole
  LayerTable table;
  for (const Computation* computation : TextOrder(module, fusion_bodies)) {
    if (computation->instruction_count() <= kSmallest || NamesTell(*computation)) continue;
    const Layers layers = FindLayers(*computation);
    const auto base = static_cast<int64_t>(table.labels.size()) + 1;
    for (const auto& [inst, label] : layers.label_of) table.numbers[inst] = base + label;
    for (const std::string& label : layers.labels) table.labels.push_back(label);
  }
  return table;
}

/// Of the sides that have layers.
void WriteLayers(JsonWriter& json, const PageInput& input) {
  json.Object("layers", [&] {
    for (const auto& [side, of_side] : {std::pair("left", input.left), {"right", input.module}}) {
      const Module* module = of_side;
      if (!module) continue;
      const LayerTable table = LayersOf(*module, input.fusion_bodies);
      if (table.labels.empty()) continue;
      json.Object(side, [&] {
        json.List("labels", table.labels);
        json.Array("runs", [&] { WriteNumbers(json, *module, input.fusion_bodies, table.numbers); });
      });
    }
  });
}

void WriteMerge(JsonWriter& json, const PageInput& input) {
  // 0: nothing is known; 1: drawn one by one; then the regions.
  Numbers numbers;
  for (const Computation* computation : input.merge->computations)
    for (const Instruction* inst : computation->instructions()) numbers[inst] = 1;
  for (size_t r = 0; r < input.merge->regions.size(); ++r)
    for (const Instruction* inst : input.merge->regions[r]) numbers[inst] = static_cast<int64_t>(r) + 2;
  json.Array("regions", [&] {
    for (const Module* side : {input.left, input.module})
      json.Array([&] { WriteNumbers(json, *side, input.fusion_bodies, numbers); });
  });
  json.Array("repeats", [&] {
    for (const auto& [inst, count] : input.merge->repeats) {
      const bool is_left = inst->parent()->module() == input.left;
      json.List({is_left ? "left" : "right", Fragment(*inst), count});
    }
  });
}

void WriteOptions(JsonWriter& json, const PageInput& input) {
  const Computation& computation = input.computation ? *input.computation : *input.module->entry();
  if (!input.title.empty()) json.Member("title", input.title);
  json.Member("computation", computation.name());
  if (input.selected) json.Member("selected", Fragment(*input.selected));
  if (!input.only.empty())
    json.Array("only", [&] {
      for (const Instruction* inst : input.only) json.Value(Fragment(*inst));
    });
  const bool compared = input.left || !input.diff.empty();
  json.Member("groupBy", !input.group_by.empty() ? input.group_by : compared ? "diff" : "op-name");
  json.Member("colorBy", !input.color_by.empty() ? input.color_by : compared ? "diff" : "opcode");
  json.Member("heatBy", input.heat_by);
  json.List("show", input.show);
}

}  // namespace

void WritePage(llvm::raw_ostream& os, const PageInput& input) {
  std::string title;
  AppendHtml(title, PrintableText(input.title.empty() ? input.module->name() : input.title, 200));
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\""
     << kPagePolicy << "\">\n<title>" << title << "</title>\n<style>\n";
  for (const llvm::StringRef style : PageStyles()) os << style;
  os << "</style></head><body>\n<noscript>This page draws with JavaScript.</noscript>\n";
  WriteData(os, "module-text",
            [&](JsonWriter& json) { json.Value(PageText(*input.module, input.fusion_bodies)); });
  if (input.left)
    WriteData(os, "left-text",
              [&](JsonWriter& json) { json.Value(PageText(*input.left, input.fusion_bodies)); });
  WriteData(os, "page-data", [&](JsonWriter& json) {
    json.Object([&] {
      WriteTables(json);
      WriteOptions(json, input);
      WriteHeat(json, input);
      WriteLayers(json, input);
      if (!input.diff.empty()) WriteDiff(json, input.diff);
      if (input.left && input.merge) WriteMerge(json, input);
    });
  });
  os << "<script>\n\"use strict\";\n";
  for (const llvm::StringRef script : PageScripts()) os << script;
  os << "</script></body></html>\n";
}

}  // namespace hlo
