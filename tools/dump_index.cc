#include "tools/dump_index.h"

#include <map>
#include <set>

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "passes/analysis/cost.h"
#include "tools/diff/report.h"
#include "tools/dump_directory.h"
#include "tools/inputs.h"
#include "tools/output_file.h"
#include "tools/viz/index/index_page.h"
#include "tools/viz/page.h"
#include "tools/viz/quote.h"

namespace hlo {
namespace {

constexpr size_t kMostEntries = 200;  // listed of one step; the counts are complete
constexpr size_t kLongestText = 240;  // of an instruction or a property on the page

std::string Shown(llvm::StringRef text) { return PrintableText(text, kLongestText); }

/// An instruction in one line, without what comparisons ignore.
std::string Line(const Instruction& inst) {
  PrintOptions options;
  options.metadata = options.backend_config = options.origin = false;
  return Shown(ToString(inst, options));
}

/// How many instructions of each opcode a module has.
std::map<llvm::StringRef, int64_t> Opcodes(const Module& module) {
  std::map<llvm::StringRef, int64_t> counts;
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) ++counts[inst->info().text];
  return counts;
}

class IndexWriter {
 public:
  IndexWriter(const CommonOptions& options, DiagnosticSink& sink, llvm::raw_ostream& standard_output)
      : options_(options), sink_(sink), standard_output_(standard_output) {
    folder_ = llvm::sys::path::stem(options.output).str() + "_files";
  }
  ~IndexWriter() {
    // Drawings that were not committed are gone by now; a folder made for them goes too, if it is empty.
    drawings_.clear();
    [[maybe_unused]] const std::error_code kept = llvm::sys::fs::remove(FolderPath());
  }
  IndexWriter(const IndexWriter&) = delete;
  IndexWriter& operator=(const IndexWriter&) = delete;

  Status Write(llvm::StringRef directory) {
    HLO_TRY(const std::vector<DumpSeries> all, Select(directory));
    HLO_TRY(OutputFile page, OutputFile::Open(options_.output, standard_output_));
    for (const DumpSeries& series : all) count_ += series.steps.size();
    BeginIndexPage(page.stream(), directory);
    const char* separator = "[";
    for (const DumpSeries& series : all) {
      page.stream() << separator << '\n';
      separator = ",";
      HLO_CHECK_OK(WriteSeries(page.stream(), series));
    }
    page.stream() << "\n]";
    EndIndexPage(page.stream());
    HLO_CHECK_OK(page.Close());
    for (OutputFile& drawing : drawings_) HLO_CHECK_OK(drawing.Commit());
    return page.Commit();
  }

 private:
  using Json = llvm::json::OStream;

  /// A module and the text it was read from.
  struct Loaded {
    std::unique_ptr<Module> module;
    SourcePtr source;
    llvm::StringRef text;
  };

  [[nodiscard]] std::string FolderPath() const {
    llvm::SmallString<128> path(llvm::sys::path::parent_path(options_.output));
    llvm::sys::path::append(path, folder_);
    return path.str().str();
  }

  /// The compilations that --module selects.
  Result<std::vector<DumpSeries>> Select(llvm::StringRef directory) {
    HLO_TRY(const std::vector<DumpFile> files, ReadDumpDirectory(directory));
    const std::vector<DumpSeries> all = GroupDumps(files);
    HLO_TRY(std::vector<DumpSeries> chosen, SelectDumps(all, options_.module));
    if (!chosen.empty()) return chosen;
    if (!all.empty()) return Error(NoSuchDump(options_.module, all));
    Diagnostic problem = MakeError("input-empty", {}, "no HLO module in dump directory");
    problem.file = directory.str();
    return Error(std::move(problem));
  }

  Status WriteSeries(llvm::raw_ostream& os, const DumpSeries& series) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    Json json(stream);
    Loaded before;
    opcodes_.clear();
    Status status;
    json.object([&] {
      json.attribute("name", Shown(series.module));
      if (series.occurrence > 0) json.attribute("occurrence", static_cast<int64_t>(series.occurrence) + 1);
      json.attributeArray("steps", [&] {
        for (const DumpFile& file : series.steps) {
          if (status = WriteStep(json, file, before); !status) return;
        }
      });
    });
    HLO_CHECK_OK(status);
    WriteIndexData(os, text);
    return {};
  }

  Status WriteStep(Json& json, const DumpFile& file, Loaded& before) {
    if (Interrupted()) return Error(InterruptedError());
    sink_.progress().Update(
        [&] { return llvm::formatv("reading {0}/{1} {2}", done_ + 1, count_, file.module).str(); });
    ++done_;
    json.objectBegin();
    WriteName(json, file);
    Loaded now = Load(file, json);
    Status status;
    if (now.module) {
      status = WriteModuleFacts(json, file, now, before);
      before = std::move(now);
    }
    json.objectEnd();
    return status;
  }

  static void WriteName(Json& json, const DumpFile& file) {
    static constexpr llvm::StringLiteral kStages[] = {"before", "pass", "after"};
    json.attribute("file", Shown(llvm::sys::path::filename(file.path)));
    json.attribute("stage", kStages[static_cast<size_t>(file.stage)]);
    if (!file.target.empty()) json.attribute("target", Shown(file.target));
    if (file.stage != DumpStage::Pass) return;
    json.attribute("order", Shown(file.order));
    json.attribute("pipeline", Shown(file.pipeline));
    json.attribute("pass", Shown(file.pass));
    json.attribute("next", Shown(file.next));
  }

  /// Reads a dump; without module if that failed, which is reported.
  Loaded Load(const DumpFile& file, Json& json) {
    CommonOptions one = options_;
    one.module.clear();  // selected already
    InputReader reader(one, {file.path}, {}, sink_);
    auto input = reader.Next();
    if (!input || !input->module) {
      llvm::StringRef why = "no module";
      for (const Diagnostic& d : input ? input->diagnostics : std::vector<Diagnostic>())
        if (d.severity == Severity::Error) json.attribute("error", Shown(d.message));
      if (!input || input->diagnostics.empty()) json.attribute("error", why);
      return {};
    }
    return {std::move(input->module), input->source, input->source->text().slice(input->begin, input->end)};
  }

  Status WriteModuleFacts(Json& json, const DumpFile& file, const Loaded& now, const Loaded& before) {
    const Module& module = *now.module;
    json.attribute("bytes", static_cast<int64_t>(now.text.size()));
    json.attribute("instructions", module.InstructionCount());
    json.attribute("computations", static_cast<int64_t>(module.computations().size()));
    if (module.entry()) {
      const CostAnalysis analysis(module);
      const Cost& cost = analysis.Of(*module.entry());
      json.attribute("flops", cost.flops);
      json.attribute("moved_bytes", cost.bytes);
    }
    WriteOpcodes(json, module);
    if (!before.module) return WriteDrawing(json, file, module, "");
    if (before.text == now.text) return {};
    ModuleDiff diff = CompareModules(*before.module, module);
    WriteDiff(json, diff);
    return diff.Equal() ? Status() : WriteDrawing(json, file, module, ChangesOf(diff));
  }

  /// The opcodes whose number is another than at the step before.
  void WriteOpcodes(Json& json, const Module& module) {
    auto now = Opcodes(module);
    json.attributeObject("opcodes", [&] {
      for (const auto& [opcode, count] : now)
        if (const auto it = opcodes_.find(opcode); it == opcodes_.end() || it->second != count)
          json.attribute(opcode, count);
      for (const auto& [opcode, count] : opcodes_)
        if (!now.contains(opcode)) json.attribute(opcode, 0);
    });
    opcodes_ = std::move(now);
  }

  static void WriteDiff(Json& json, const ModuleDiff& diff) {
    json.attributeArray("counts", [&] {
      for (const int64_t count : diff.counts) json.value(count);
    });
    if (!diff.header.empty()) json.attributeArray("header", [&] { WriteChanges(json, diff.header); });
    size_t listed = 0, differing = 0;
    json.attributeArray("entries", [&] {
      for (const DiffEntry& entry : diff.entries) {
        if (entry.kind == DiffKind::Unchanged || ++differing > kMostEntries) continue;
        ++listed;
        json.object([&] { WriteEntry(json, entry); });
      }
    });
    if (listed < differing) json.attribute("more", static_cast<int64_t>(differing - listed));
  }

  /// What differs, as `hlo.diff/1`.
  static std::string ChangesOf(ModuleDiff& diff) {
    for (DiffEntry& entry : diff.entries) entry.hidden = entry.kind == DiffKind::Unchanged;
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!WriteDiffJson(os, {diff, "", "", {}})) text.clear();
    return text;
  }

  static void WriteEntry(Json& json, const DiffEntry& entry) {
    const Instruction& inst = entry.right ? *entry.right : *entry.left;
    json.attribute("mark", std::string(1, MarkOf(entry.kind)));
    json.attribute("in", Shown(inst.parent()->name()));
    json.attribute("text", Line(inst));
    if (entry.left && entry.right) json.attribute("was", Shown(entry.left->name()));
    if (!entry.note.empty()) json.attribute("note", Shown(entry.note));
    if (!entry.changes.empty()) json.attributeArray("changes", [&] { WriteChanges(json, entry.changes); });
  }

  static void WriteChanges(Json& json, llvm::ArrayRef<PropertyChange> changes) {
    for (const PropertyChange& change : changes)
      json.array([&] {
        for (const llvm::StringRef text : {llvm::StringRef(change.path), llvm::StringRef(change.left),
                                           llvm::StringRef(change.right), llvm::StringRef(change.note)})
          json.value(Shown(text));
      });
  }

  /// The module with marks at what `changes` tells; the page's reader finds both sides by name.
  Status WriteDrawing(Json& json, const DumpFile& file, const Module& module, const std::string& changes) {
    const std::string name = (llvm::sys::path::stem(file.path) + ".html").str();
    HLO_TRY(OutputFile drawing, OutputFile::Open(FolderPath() + "/" + name, standard_output_));
    PageInput input;
    input.module = &module;
    input.diff = changes;
    input.title = file.module + (file.stage == DumpStage::Pass    ? " after " + file.pass
                                 : file.stage == DumpStage::After ? " after optimizations"
                                                                  : "");
    WritePage(drawing.stream(), input);
    HLO_CHECK_OK(drawing.Close());
    drawings_.push_back(std::move(drawing));
    json.attribute("graph", folder_ + "/" + name);
    return {};
  }

  const CommonOptions& options_;
  DiagnosticSink& sink_;
  llvm::raw_ostream& standard_output_;
  std::string folder_;  // of the drawings, beside the page
  std::vector<OutputFile> drawings_;
  std::map<llvm::StringRef, int64_t> opcodes_;  // of the module before
  size_t done_ = 0, count_ = 0;
};

}  // namespace

Status WriteDumpIndex(const CommonOptions& options, const std::string& directory, DiagnosticSink& sink,
                      llvm::raw_ostream& standard_output) {
  if (options.output == "-")
    return Error(
        "usage-option", {},
        "the page of dump directory '{0}' needs a file for its drawings to lie beside: -o index.html",
        directory);
  return IndexWriter(options, sink, standard_output).Write(directory);
}

}  // namespace hlo
