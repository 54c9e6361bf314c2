#include "tools/viz/dump_index.h"

#include <map>
#include <set>

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "ir/support/json.h"
#include "ir/support/parallel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "passes/analysis/cost.h"
#include "tools/common/dump_directory.h"
#include "tools/common/output_file.h"
#include "tools/diff/compare/report.h"
#include "tools/modules/inputs.h"
#include "tools/viz/drawing/page.h"
#include "tools/viz/drawing/quote.h"
#include "tools/viz/index/index_page.h"
#include "tools/viz/options.h"

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
    stale_ = DrawingsOfOldPage();
    HLO_TRY(OutputFile page, OutputFile::Open(options_.output, standard_output_));
    for (const DumpSeries& series : all) count_ += series.steps.size();
    BeginIndexPage(page.stream(), directory);
    Status status;
    {
      Json json(page.stream(), /*indent=*/0, Json::Place::Script);
      json.Array([&] { status = WriteAll(json, all); });
    }
    HLO_CHECK_OK(status);
    EndIndexPage(page.stream());
    HLO_CHECK_OK(page.Close());
    for (OutputFile& drawing : drawings_) HLO_CHECK_OK(drawing.Commit());
    HLO_CHECK_OK(page.Commit());
    RemoveStale();
    return {};
  }

 private:
  using Json = JsonWriter;

  /// A module and the text it was read from.
  struct Loaded {
    std::unique_ptr<Module> module;
    SourcePtr source;
    llvm::StringRef text;
  };
  /// One dump on the way to the page.
  struct Step {
    const DumpFile* file = nullptr;
    Loaded now;
    const Loaded* before = nullptr;  // the last one that could be read; without module: there is none
    std::string error;               // why it could not be read
    SourcePtr source;                // what the diagnostics point into
    std::vector<Diagnostic> diagnostics;
    std::string json, drawing;  // what the page tells; the page of the module, empty: as the step before
  };

  [[nodiscard]] std::string FolderPath() const {
    llvm::SmallString<128> path(llvm::sys::path::parent_path(options_.output));
    llvm::sys::path::append(path, folder_);
    return path.str().str();
  }

  /// The compilations that --module selects.
  Result<std::vector<DumpSeries>> Select(llvm::StringRef directory) {
    HLO_TRY(const std::vector<DumpFile> files, ReadDumpDirectory(directory));
    std::vector<DumpSeries> all = GroupDumps(files);
    if (!options_.stage_in.empty()) {
      HLO_TRY(const std::vector<std::string> paths, ListDumps(directory, options_.stage_in));
      const std::set<llvm::StringRef> wanted(paths.begin(), paths.end());
      for (DumpSeries& series : all)
        llvm::erase_if(series.steps, [&](const DumpFile& file) { return !wanted.contains(file.path); });
      llvm::erase_if(all, [](const DumpSeries& series) { return series.steps.empty(); });
    }
    HLO_TRY(std::vector<DumpSeries> chosen, SelectDumps(all, options_.module));
    if (!chosen.empty()) return chosen;
    if (!all.empty()) return Error(NoSuchDump(options_.module, all));
    return Error(NoDumps(directory, /*found=*/0, /*stage=*/""));
  }

  Status WriteAll(Json& json, llvm::ArrayRef<DumpSeries> all) {
    for (const DumpSeries& series : all) {
      json.BreakLine();
      Status status;
      json.Object([&] { status = WriteSeries(json, series); });
      HLO_CHECK_OK(status);
    }
    json.BreakLine();
    return {};
  }

  /// The members of one compilation.
  Status WriteSeries(Json& json, const DumpSeries& series) {
    json.Member("name", Shown(series.module));
    if (series.occurrence > 0) json.Member("occurrence", series.occurrence + 1);
    Status status;
    json.Array("steps", [&] { status = WriteAllSteps(json, series); });
    return status;
  }

  Status WriteAllSteps(Json& json, const DumpSeries& series) {
    Loaded before;
    // So many are in memory at once; what is written does not depend on it.
    const size_t batch = static_cast<size_t>(ThreadCount()) * 2;
    for (size_t from = 0; from < series.steps.size(); from += batch) {
      std::vector<Step> steps;
      for (const DumpFile& file : llvm::ArrayRef(series.steps).slice(from).take_front(batch))
        steps.emplace_back().file = &file;
      HLO_CHECK_OK(WriteSteps(json, steps, before));
    }
    return {};
  }

  /// Reads and compares by all threads, reports and writes in order. `before` is the last module that could
  /// be read.
  Status WriteSteps(Json& json, std::vector<Step>& steps, Loaded& before) {
    const auto in_parallel = [&](llvm::function_ref<void(Step&)> run) {
      ParallelFor(0, static_cast<int64_t>(steps.size()), 1, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to && !Interrupted(); ++i) run(steps[static_cast<size_t>(i)]);
      });
    };
    sink_.progress().Update([&] {
      return llvm::formatv("reading {0}/{1} {2}", done_ + 1, count_, steps.front().file->module).str();
    });
    in_parallel([&](Step& step) { Load(step); });
    Step* last = nullptr;
    for (Step& step : steps) {
      step.before = last ? &last->now : &before;
      if (step.now.module) last = &step;
    }
    in_parallel([&](Step& step) { Describe(step); });
    if (Interrupted()) return Error(InterruptedError());
    for (Step& step : steps) {
      sink_.Report(step.diagnostics);
      json.Raw(step.json);
      if (!step.drawing.empty()) HLO_CHECK_OK(WriteDrawing(step));
      ++done_;
    }
    if (last) before = std::move(last->now);
    return {};
  }

  static void WriteName(Json& json, const DumpFile& file) {
    static constexpr llvm::StringLiteral kStages[] = {"before", "pass", "after"};
    json.Member("file", Shown(llvm::sys::path::filename(file.path)));
    json.Member("stage", kStages[static_cast<size_t>(file.stage)]);
    if (!file.target.empty()) json.Member("target", Shown(file.target));
    if (file.stage != DumpStage::Pass) return;
    json.Member("order", Shown(file.order));
    json.Member("pipeline", Shown(file.pipeline));
    json.Member("pass", Shown(file.pass));
    json.Member("next", Shown(file.next));
  }

  /// Reads a dump; without module if that failed.
  void Load(Step& step) const {
    CommonOptions one = options_;
    one.module.clear();  // selected already
    DiagnosticSink silent(kHloViz.name, one, llvm::nulls());
    InputReader reader(one, {step.file->path}, {}, silent);
    reader.set_report(false);
    auto input = reader.Next();
    if (input) {
      step.diagnostics = input->diagnostics;
      step.source = input->source;
    }
    if (!input || !input->module) {
      step.error = "no module";
      for (const Diagnostic& d : step.diagnostics)
        if (d.severity == Severity::Error) step.error = d.message;
      return;
    }
    step.now = {std::move(input->module), input->source,
                input->source->text().slice(input->begin, input->end)};
  }

  /// Makes what the page tells of a step, and its drawing.
  void Describe(Step& step) const {
    llvm::raw_string_ostream os(step.json);
    Json json(os, /*indent=*/0, Json::Place::Script);
    json.Object([&] {
      WriteName(json, *step.file);
      if (!step.error.empty()) json.Member("error", Shown(step.error));
      if (step.now.module) WriteModuleFacts(json, step);
    });
  }

  void WriteModuleFacts(Json& json, Step& step) const {
    const Module& module = *step.now.module;
    json.Member("bytes", static_cast<int64_t>(step.now.text.size()));
    json.Member("instructions", module.InstructionCount());
    json.Member("computations", static_cast<int64_t>(module.computations().size()));
    if (module.entry()) {
      const CostAnalysis analysis(module);
      const Cost& cost = analysis.Of(*module.entry());
      json.Member("flops", cost.flops);
      json.Member("moved_bytes", cost.bytes);
    }
    const Loaded& before = *step.before;
    WriteOpcodes(json, before.module ? Opcodes(*before.module) : std::map<llvm::StringRef, int64_t>(),
                 Opcodes(module));
    std::string changes;
    if (before.module) {
      if (before.text == step.now.text) return;
      ModuleDiff diff = CompareModules(*before.module, module);
      WriteDiff(json, diff);
      if (diff.Equal()) return;
      changes = ChangesOf(diff);
    }
    json.Member("graph", folder_ + "/" + DrawingName(*step.file));
    MakeDrawing(step, changes);
  }

  /// The opcodes whose number is another than at the step before.
  static void WriteOpcodes(Json& json, const std::map<llvm::StringRef, int64_t>& before,
                           const std::map<llvm::StringRef, int64_t>& now) {
    json.Object("opcodes", [&] {
      for (const auto& [opcode, count] : now)
        if (const auto it = before.find(opcode); it == before.end() || it->second != count)
          json.Member(opcode, count);
      for (const auto& [opcode, count] : before)
        if (!now.contains(opcode)) json.Member(opcode, 0);
    });
  }

  static void WriteDiff(Json& json, const ModuleDiff& diff) {
    json.Array("counts", [&] {
      for (const int64_t count : diff.counts) json.Value(count);
    });
    if (!diff.header.empty()) json.Array("header", [&] { WriteChanges(json, diff.header); });
    size_t listed = 0, differing = 0;
    json.Array("entries", [&] {
      for (const DiffEntry& entry : diff.entries) {
        if (entry.kind == DiffKind::Unchanged || ++differing > kMostEntries) continue;
        ++listed;
        json.Object([&] { WriteEntry(json, entry); });
      }
    });
    if (listed < differing) json.Member("more", static_cast<int64_t>(differing - listed));
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
    json.Member("mark", std::string(1, MarkOf(entry.kind)));
    json.Member("in", Shown(inst.parent()->name()));
    json.Member("text", Line(inst));
    if (entry.left && entry.right) json.Member("was", Shown(entry.left->name()));
    if (!entry.note.empty()) json.Member("note", Shown(entry.note));
    if (!entry.changes.empty()) json.Array("changes", [&] { WriteChanges(json, entry.changes); });
  }

  static void WriteChanges(Json& json, llvm::ArrayRef<PropertyChange> changes) {
    for (const PropertyChange& change : changes)
      json.Array([&] {
        for (const llvm::StringRef text : {llvm::StringRef(change.path), llvm::StringRef(change.left),
                                           llvm::StringRef(change.right), llvm::StringRef(change.note)})
          json.Value(Shown(text));
      });
  }

  static std::string DrawingName(const DumpFile& file) {
    return (llvm::sys::path::stem(file.path) + ".html").str();
  }

  /// The module with marks at what `changes` tells; the page's reader finds both sides by name.
  static void MakeDrawing(Step& step, const std::string& changes) {
    const DumpFile& file = *step.file;
    PageInput input;
    input.module = step.now.module.get();
    input.diff = changes;
    input.title = file.module + (file.stage == DumpStage::Pass    ? " after " + file.pass
                                 : file.stage == DumpStage::After ? " after optimizations"
                                                                  : "");
    llvm::raw_string_ostream os(step.drawing);
    WritePage(os, input);
  }

  Status WriteDrawing(Step& step) {
    const std::string name = DrawingName(*step.file);
    HLO_TRY(OutputFile drawing, OutputFile::Open(FolderPath() + "/" + name, standard_output_));
    drawing.stream() << step.drawing;
    step.drawing = std::string();
    HLO_CHECK_OK(drawing.Close());
    drawings_.push_back(std::move(drawing));
    written_.insert(name);
    return {};
  }

  /// Takes away drawings that the page that stood here before had, and this one has not.
  void RemoveStale() const {
    for (const std::string& name : stale_)
      if (!written_.contains(name)) {
        [[maybe_unused]] const std::error_code gone = llvm::sys::fs::remove(FolderPath() + "/" + name);
      }
  }

  /// The drawings of the page that stands where this one is written, if one does.
  [[nodiscard]] std::vector<std::string> DrawingsOfOldPage() const {
    static const JsonArray none;
    std::vector<std::string> names;
    if (!llvm::sys::fs::is_regular_file(options_.output)) return names;
    const Result<std::string> page = ReadInputText(options_.output, "");
    if (!page) return names;
    const std::optional<JsonValue> data = ParseJson(IndexDataOf(*page));
    const JsonArray* all = data ? data->AsArray() : nullptr;
    for (const JsonValue& series : all ? *all : none) {
      const JsonArray* steps = series.Array("steps");
      for (const JsonValue& step : steps ? *steps : none) {
        llvm::StringRef name = step.String("graph").value_or("");
        // Nothing but files right in the folder, whatever the page says.
        if (name.consume_front(folder_ + "/") && name.find_first_of("/\\") == llvm::StringRef::npos &&
            name.ends_with(".html"))
          names.push_back(name.str());
      }
    }
    return names;
  }

  const CommonOptions& options_;
  DiagnosticSink& sink_;
  llvm::raw_ostream& standard_output_;
  std::string folder_;  // of the drawings, beside the page
  std::vector<OutputFile> drawings_;
  std::set<std::string> written_;  // names in the folder
  std::vector<std::string> stale_;
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
