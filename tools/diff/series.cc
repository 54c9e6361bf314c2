#include "tools/diff/series.h"

#include "ir/support/interrupt.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "tools/common/instruction_filter.h"
#include "tools/diff/inputs.h"

namespace hlo {
namespace {

/// What happens to the instructions that --find chooses.
enum class FindEvent : uint8_t { None, First, Again, Gone };
llvm::StringRef ToString(FindEvent event) {
  static constexpr llvm::StringLiteral kWords[] = {"", "first", "again", "gone"};
  return kWords[static_cast<size_t>(event)];
}

/// One dump beside the one before it.
struct SeriesStep {
  const DumpFile* dump = nullptr;
  int64_t counts[kDiffKindCount] = {};
  int64_t instructions = 0;
  int64_t found = 0;  // instructions that --find chooses
  FindEvent event = FindEvent::None;
  bool changed = false;

  [[nodiscard]] bool shown() const { return changed || event != FindEvent::None; }
  [[nodiscard]] std::string number() const { return dump->order.empty() ? "-" : dump->order; }
  [[nodiscard]] std::string pipeline() const { return dump->pipeline.empty() ? "-" : dump->pipeline; }
  [[nodiscard]] std::string pass() const {
    if (dump->stage == DumpStage::Before) return "before_optimizations";
    if (dump->stage == DumpStage::After) return "after_optimizations";
    return dump->pass;
  }
};

/// All dumps of one compilation that could be read.
struct Series {
  const DumpSeries* dumps = nullptr;
  std::vector<SeriesStep> steps;

  [[nodiscard]] int64_t Unchanged() const {
    return llvm::count_if(llvm::ArrayRef(steps).drop_front(steps.empty() ? 0 : 1),
                          [](const SeriesStep& step) { return !step.shown(); });
  }
};

class SeriesReader {
 public:
  SeriesReader(const HloDiffOptions& options, DiagnosticSink& sink)
      : options_(options), reading_(options), sink_(sink) {
    reading_.module.clear();  // which files are read has been decided
  }

  Result<Series> Read(const DumpSeries& dumps, const InstructionFilter& find) {
    Series series;
    series.dumps = &dumps;
    std::string text;
    std::unique_ptr<Module> module;
    bool seen = false;
    for (const DumpFile& dump : dumps.steps) {
      if (Interrupted()) return Error(InterruptedError());
      sink_.progress().Update([&] { return "comparing " + dump.path; });
      HLO_TRY(std::string next_text, ReadInputText(dump.path, {}));
      SeriesStep step;
      step.dump = &dump;
      if (!series.steps.empty()) {
        step.instructions = step.counts[static_cast<size_t>(DiffKind::Unchanged)] =
            series.steps.back().instructions;
        step.found = series.steps.back().found;
      }
      if (!module || next_text != text) {
        HLO_TRY(std::unique_ptr<Module> next, ReadOneModule(reading_, dump.path, {}, sink_));
        if (!next) continue;  // reported
        Compare(module.get(), *next, find, step);
        module = std::move(next);
        text = std::move(next_text);
      }
      const int64_t before = series.steps.empty() ? step.found : series.steps.back().found;
      if (before == 0 && step.found > 0) step.event = seen ? FindEvent::Again : FindEvent::First;
      if (before > 0 && step.found == 0) step.event = FindEvent::Gone;
      seen |= step.found > 0;
      series.steps.push_back(step);
    }
    return series;
  }

 private:
  void Compare(const Module* before, const Module& after, const InstructionFilter& find, SeriesStep& step) {
    step.instructions = after.InstructionCount();
    step.found = 0;
    if (!find.empty())
      for (const auto& computation : after.computations())
        step.found += llvm::count_if(computation->instructions(),
                                     [&](const Instruction* inst) { return find.Matches(*inst); });
    if (!before) return;
    const ModuleDiff diff = CompareModules(*before, after, options_.compare);
    llvm::copy(diff.counts, step.counts);
    step.changed = !diff.Equal();
  }

  const HloDiffOptions& options_;
  CommonOptions reading_;
  DiagnosticSink& sink_;
};

// The columns of counts, as the table has them.
constexpr DiffKind kColumns[] = {DiffKind::Added, DiffKind::Removed, DiffKind::Changed, DiffKind::Moved};

class SeriesTable {
 public:
  SeriesTable(llvm::raw_ostream& os, const HloDiffOptions& options) : os_(os), options_(options) {}

  void Write(const Series& series) {
    std::vector<const SeriesStep*> shown;
    for (const SeriesStep& step : llvm::ArrayRef(series.steps).drop_front(series.steps.empty() ? 0 : 1))
      if (step.shown()) shown.push_back(&step);
    if (!shown.empty()) Rows(shown);
    const int64_t unchanged = series.Unchanged();
    if (series.steps.size() < 2)
      os_ << "(" << series.steps.size() << " dump, nothing to compare it with)\n";
    else if (unchanged > 0)
      os_ << '(' << unchanged << " step" << (unchanged == 1 ? "" : "s") << " without changes not shown)\n";
    if (!options_.find.empty()) Answer(series);
  }

 private:
  void Rows(llvm::ArrayRef<const SeriesStep*> shown) {
    size_t pipeline = 8, pass = 4, number = 4;
    for (const SeriesStep* step : shown) {
      number = std::max(number, step->number().size());
      pipeline = std::max(pipeline, step->pipeline().size());
      pass = std::max(pass, step->pass().size());
    }
    const auto left = [&](llvm::StringRef text, size_t width) {
      os_ << llvm::left_justify(text, static_cast<unsigned>(width)) << "  ";
    };
    left("step", number);
    left("pipeline", pipeline);
    left("pass", pass);
    for (const DiffKind kind : kColumns) os_ << llvm::right_justify(std::string(1, MarkOf(kind)), 5);
    os_ << "   instrs\n";
    for (const SeriesStep* step : shown) {
      left(step->number(), number);
      left(step->pipeline(), pipeline);
      left(step->pass(), pass);
      for (const DiffKind kind : kColumns)
        os_ << llvm::right_justify(std::to_string(step->counts[static_cast<size_t>(kind)]), 5);
      os_ << llvm::right_justify(std::to_string(step->instructions), 9);
      if (step->event != FindEvent::None)
        os_ << "   " << ToString(step->event) << " '" << options_.find << "' (--find)";
      os_ << '\n';
    }
  }

  /// What --find asks, in a line.
  void Answer(const Series& series) {
    if (series.steps.empty()) return;
    os_ << '\'' << options_.find << "': ";
    const SeriesStep& start = series.steps.front();
    if (llvm::none_of(series.steps, [](const SeriesStep& s) { return s.found > 0; })) {
      os_ << "in no dump\n";
      return;
    }
    std::vector<std::string> parts;
    int64_t told = start.found;
    if (start.found > 0) parts.push_back(std::to_string(start.found) + " from the start");
    for (const SeriesStep& step : series.steps) {
      if (step.event == FindEvent::None) continue;
      std::string part = (ToString(step.event) + " after " + step.pass()).str();
      if (!step.dump->order.empty()) part += " (step " + step.dump->order + ")";
      if (step.found > 0) part += ", " + std::to_string(step.found);
      parts.push_back(std::move(part));
      told = step.found;
    }
    if (const int64_t last = series.steps.back().found; last != told)
      parts.push_back(std::to_string(last) + " at the end");
    os_ << llvm::join(parts, "; ") << '\n';
  }

  llvm::raw_ostream& os_;
  const HloDiffOptions& options_;
};

void WriteJson(JsonWriter& json, const Series& series, const HloDiffOptions& options) {
  json.Object([&] {
    json.Member("module", series.dumps->module);
    json.Member("occurrence", static_cast<int64_t>(series.dumps->occurrence));
    json.Member("dumps", static_cast<int64_t>(series.steps.size()));
    json.Member("unchanged", series.Unchanged());
    json.Array("steps", [&] {
      for (size_t i = 0; i < series.steps.size(); ++i) {
        const SeriesStep& step = series.steps[i];
        if (i > 0 && !step.shown()) continue;
        json.Object([&] {
          json.Member("file", llvm::sys::path::filename(step.dump->path));
          if (!step.dump->order.empty()) json.Member("step", step.dump->order);
          if (!step.dump->pipeline.empty()) json.Member("pipeline", step.dump->pipeline);
          json.Member("pass", step.pass());
          if (i > 0)
            json.Object("summary", [&] {
              for (int kind = 0; kind < kDiffKindCount; ++kind)
                json.Member(ToString(static_cast<DiffKind>(kind)), step.counts[kind]);
            });
          json.Member("instructions", step.instructions);
          if (options.find.empty()) return;
          json.Member("found", step.found);
          if (step.event != FindEvent::None) json.Member("event", ToString(step.event));
        });
      }
    });
  });
}

void WriteJson(llvm::raw_ostream& os, llvm::ArrayRef<Series> all, const HloDiffOptions& options) {
  JsonWriter json(os, static_cast<unsigned>(options.report.json_indent));
  json.Object([&] {
    json.Member("schema", "hlo.series/1");
    json.Member("tool", "hlo-diff");
    json.Member("version", HLO_VERSION);
    if (!options.find.empty()) json.Member("find", options.find);
    json.Array("modules", [&] {
      for (const Series& series : all) WriteJson(json, series, options);
    });
  });
  os << '\n';
}

void WriteTables(llvm::raw_ostream& os, llvm::ArrayRef<Series> all, const HloDiffOptions& options) {
  for (const Series& series : all) {
    if (all.size() > 1)
      os << (&series == all.data() ? "" : "\n") << "module " << series.dumps->module << '\n';
    SeriesTable(os, options).Write(series);
  }
}

}  // namespace

Status DiffSeries(const HloDiffOptions& options, llvm::StringRef directory, bool as_json,
                  DiagnosticSink& sink, llvm::raw_ostream& os) {
  HLO_TRY(const InstructionFilter find, InstructionFilter::Parse(options.find, "--find"));
  HLO_TRY(const std::vector<DumpFile> files, ReadDumpDirectory(directory));
  if (files.empty()) return Error(NoDumps(directory, /*found=*/0, /*stage=*/""));
  const std::vector<DumpSeries> present = GroupDumps(files);
  HLO_TRY(const std::vector<DumpSeries> chosen, SelectDumps(present, options.module));
  if (chosen.empty()) return Error(NoSuchDump(options.module, present));
  // All are read before anything is written: errors leave no half of a table.
  SeriesReader reader(options, sink);
  std::vector<Series> all;
  for (const DumpSeries& dumps : chosen) {
    HLO_TRY(Series series, reader.Read(dumps, find));
    all.push_back(std::move(series));
  }
  sink.progress().Erase();
  if (as_json)
    WriteJson(os, all, options);
  else
    WriteTables(os, all, options);
  const bool answer = llvm::any_of(all, [&](const Series& series) {
    return llvm::any_of(series.steps, [&](const SeriesStep& step) {
      return find.empty() ? step.changed : step.event != FindEvent::None;
    });
  });
  if (answer && options.exit_code) sink.Raise(ExitCode::Negative);
  return {};
}

}  // namespace hlo
