#include "tools/viz/drawing/page.h"

#include "ir/print.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "tools/viz/drawing/layers.h"
#include "tools/viz/drawing/page_code.h"
#include "tools/viz/drawing/palette.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

using llvm::json::OStream;

/// JSON as the contents of a script element: no `<` can end it, no line separator can break it.
std::string ForScript(llvm::StringRef json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (size_t i = 0; i < json.size(); ++i) {
    const llvm::StringRef rest = json.drop_front(i);
    if (rest.front() == '<') {
      out += "\\u003c";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += rest.front();
    }
  }
  return out;
}

void WriteData(llvm::raw_ostream& os, llvm::StringRef id, llvm::function_ref<void(OStream&)> write) {
  std::string json;
  llvm::raw_string_ostream text(json);
  OStream stream(text);
  write(stream);
  stream.flush();
  os << "<script type=\"application/json\" id=\"" << id << "\">" << ForScript(json) << "</script>\n";
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
  return llvm::json::fixUTF8(text);
}

std::string Fragment(const Instruction& inst) {
  return llvm::json::fixUTF8((inst.parent()->name() + "::" + inst.name()).str());
}

/// Facts of the tables that drawing needs: colours by opcode, which opcodes end what others start.
void WriteTables(OStream& json) {
  json.attributeObject("palette", [&] {
#define HLO_SCHEME(Name, fill, border, text) json.attribute(#Name, llvm::json::Array{fill, border, text});
#include "tools/viz/drawing/palette.def"
  });
  json.attributeObject("opcodes", [&] {
#define HLO_COLOUR(Kind, Name) json.attribute(ToString(OpKind::Kind), #Name);
#include "tools/viz/drawing/palette.def"
  });
  json.attribute("largeElements", kLargeElements);
  json.attributeArray("ends", [&] {
    for (const OpInfo& op : AllOps())
      if (op.Is(kDone) || op.kind == OpKind::AsyncUpdate) json.value(op.text);
  });
}

void WriteHeat(OStream& json, const PageInput& input) {
  json.attributeArray("heat", [&] {
    for (const PageHeat& heat : input.heat)
      json.object([&] {
        json.attribute("name", heat.name);
        json.attribute("unit", heat.unit);
        json.attributeObject("values", [&] {
          for (const auto& [inst, value] : heat.values) json.attribute(Fragment(*inst), value);
        });
      });
  });
  json.attributeArray("notes", [&] {
    for (const PageNote& note : input.notes)
      json.value(llvm::json::Array{Fragment(*note.instruction), llvm::json::fixUTF8(note.text)});
  });
}

/// What is said of an entry besides its changes.
std::string NoteOf(const llvm::json::Object& entry) {
  const llvm::StringRef note = entry.getString("note").value_or("");
  if (!entry.getBoolean("moved").value_or(false)) return note.str();
  return note.empty() ? "moved" : ("moved, " + note).str();
}

/// The pairs of computations whose names differ, or that have no counterpart, as [left, right].
void WritePairs(OStream& json, const llvm::json::Object& diff) {
  const llvm::json::Array* matches = diff.getArray("computations");
  json.attributeArray("pairs", [&] {
    for (const llvm::json::Value& value : matches ? *matches : llvm::json::Array()) {
      const llvm::json::Object* match = value.getAsObject();
      if (!match) continue;
      const llvm::StringRef left = match->getString("left").value_or("");
      const llvm::StringRef right = match->getString("right").value_or("");
      if (left != right) json.value(llvm::json::Array{left, right});
    }
  });
}

/// Of every entry what the page uses: [kind, left, right, changes, note]. Unchanged pairs of one name go
/// unsaid.
void WriteDiff(OStream& json, llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) llvm::report_fatal_error(parsed.takeError());
  const llvm::json::Object* top = parsed->getAsObject();
  const llvm::json::Array* entries = top ? top->getArray("entries") : nullptr;
  if (!entries) return;
  auto side = [](const llvm::json::Object& entry, llvm::StringRef which) -> std::string {
    const llvm::json::Object* at = entry.getObject(which);
    if (!at) return "";
    const auto name = at->getString("name"), computation = at->getString("computation");
    return name && computation ? (*computation + "::" + *name).str() : "";
  };
  json.attributeArray("diff", [&] {
    for (const llvm::json::Value& value : *entries) {
      const llvm::json::Object* entry = value.getAsObject();
      if (!entry) continue;
      const llvm::StringRef kind = entry->getString("kind").value_or("");
      const std::string left = side(*entry, "left"), right = side(*entry, "right");
      if (kind == "unchanged" && left == right) continue;
      json.array([&] {
        json.value(kind);
        json.value(left);
        json.value(right);
        const llvm::json::Array* changes = entry->getArray("changes");
        const std::string note = NoteOf(*entry);
        if (changes || !note.empty()) json.value(changes ? llvm::json::Array(*changes) : llvm::json::Array());
        if (!note.empty()) json.value(note);
      });
    }
  });
  WritePairs(json, *top);
}

using Numbers = llvm::DenseMap<const Instruction*, int64_t>;

/// Numbers of the instructions of a module in the order of its text, as runs [how many, number, …]; 0 is that
/// of others.
void WriteNumbers(OStream& json, const Module& module, bool fusion_bodies, const Numbers& numbers) {
  int64_t length = 0, last = 0;
  const auto end_run = [&] {
    if (length == 0) return;
    json.value(length);
    json.value(last);
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
  llvm::json::Array labels;
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
void WriteLayers(OStream& json, const PageInput& input) {
  json.attributeObject("layers", [&] {
    for (const auto& [side, of_side] : {std::pair("left", input.left), {"right", input.module}}) {
      const Module* module = of_side;
      if (!module) continue;
      const LayerTable table = LayersOf(*module, input.fusion_bodies);
      if (table.labels.empty()) continue;
      json.attributeObject(side, [&] {
        json.attribute("labels", llvm::json::Array(table.labels));
        json.attributeArray("runs", [&] { WriteNumbers(json, *module, input.fusion_bodies, table.numbers); });
      });
    }
  });
}

void WriteMerge(OStream& json, const PageInput& input) {
  // 0: nothing is known; 1: drawn one by one; then the regions.
  Numbers numbers;
  for (const Computation* computation : input.merge->computations)
    for (const Instruction* inst : computation->instructions()) numbers[inst] = 1;
  for (size_t r = 0; r < input.merge->regions.size(); ++r)
    for (const Instruction* inst : input.merge->regions[r]) numbers[inst] = static_cast<int64_t>(r) + 2;
  json.attributeArray("regions", [&] {
    for (const Module* side : {input.left, input.module})
      json.array([&] { WriteNumbers(json, *side, input.fusion_bodies, numbers); });
  });
  json.attributeArray("repeats", [&] {
    for (const auto& [inst, count] : input.merge->repeats) {
      const bool is_left = inst->parent()->module() == input.left;
      json.value(llvm::json::Array{is_left ? "left" : "right", Fragment(*inst), count});
    }
  });
}

void WriteOptions(OStream& json, const PageInput& input) {
  const Computation& computation = input.computation ? *input.computation : *input.module->entry();
  if (!input.title.empty()) json.attribute("title", llvm::json::fixUTF8(input.title));
  json.attribute("computation", llvm::json::fixUTF8(computation.name()));
  if (input.selected) json.attribute("selected", Fragment(*input.selected));
  if (!input.only.empty())
    json.attributeArray("only", [&] {
      for (const Instruction* inst : input.only) json.value(Fragment(*inst));
    });
  const bool compared = input.left || !input.diff.empty();
  json.attribute("groupBy", !input.group_by.empty() ? input.group_by : compared ? "diff" : "op-name");
  json.attribute("colorBy", !input.color_by.empty() ? input.color_by : compared ? "diff" : "opcode");
  json.attribute("heatBy", input.heat_by);
  json.attributeArray("show", [&] {
    for (const std::string& word : input.show) json.value(word);
  });
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
            [&](OStream& json) { json.value(PageText(*input.module, input.fusion_bodies)); });
  if (input.left)
    WriteData(os, "left-text",
              [&](OStream& json) { json.value(PageText(*input.left, input.fusion_bodies)); });
  WriteData(os, "page-data", [&](OStream& json) {
    json.object([&] {
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
