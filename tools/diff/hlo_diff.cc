// hlo-diff: compares modules as graphs (tools.md §4).
#include "ir/support/interrupt.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "tools/common/output_file.h"
#include "tools/common/process.h"
#include "tools/common/tool_main.h"
#include "tools/diff/cost.h"
#include "tools/diff/equivalence.h"
#include "tools/diff/inputs.h"
#include "tools/diff/prepare.h"
#include "tools/diff/series.h"
#include "tools/diff/sides.h"

namespace hlo {
namespace {

/// --output-format, or what the extension of the output says.
Result<const DiffFormatInfo*> FindFormat(const HloDiffOptions& options) {
  std::vector<llvm::StringRef> words;
  const llvm::StringRef extension =
      options.output == "-" ? llvm::StringRef() : llvm::StringRef(options.output).rsplit('.').second;
  const DiffFormatInfo* by_extension = AllDiffFormats().data();
  for (const DiffFormatInfo& format : AllDiffFormats()) {
    words.push_back(format.word);
    if (!format.extension.empty() && format.extension == extension) by_extension = &format;
  }
  if (options.output_format.empty()) return by_extension;
  if (const DiffFormatInfo* format = FindDiffFormat(options.output_format)) return format;
  return UnknownWord({"--output-format", options.output_format}, words);
}

/// A form of the report and the file it goes to.
struct DiffOutput {
  const DiffFormatInfo* format;
  OutputFile file;
};

/// One pair of modules, told in all outputs. True if they are equal as far as the exit code goes.
Result<bool> ComparePair(const HloDiffOptions& options, const DiffSides& sides, DiffModulePair& pair,
                         std::vector<DiffOutput>& outputs, DiagnosticSink& sink) {
  std::optional<std::pair<DiffCost, DiffCost>> cost;
  if (options.cost) cost = {CountCost(*pair.left, sink), CountCost(*pair.right, sink)};
  HLO_CHECK_OK(InlineForDiff(*pair.left, options.inlined));
  HLO_CHECK_OK(InlineForDiff(*pair.right, options.inlined));
  if (options.mode != DiffMode::Semantic)
    return CompareLines(options, *pair.left, *pair.right, sides.left_file, sides.right_file,
                        outputs.front().file.stream());
  HLO_CHECK_OK(CheckDiffFilters(options, *pair.left, *pair.right));
  HLO_TRY(const DiffOptions compare, ResolveHints(options, *pair.left, *pair.right));
  ModuleDiff diff = CompareModules(*pair.left, *pair.right, compare);
  if (Interrupted()) return Error(InterruptedError());
  if (auto remark = EffortRemark(diff)) sink.Report(std::move(*remark));
  HideEntries(options, diff);
  std::optional<DiffEquivalence> equivalence;
  if (options.verify_equivalence && !diff.Equal()) {
    HLO_TRY(equivalence, CheckEquivalence(*pair.left, *pair.right, sink));
  }
  for (DiffOutput& output : outputs) {
    llvm::raw_ostream& os = output.file.stream();
    DiffReportOptions report = options.report;
    report.max_entries = options.max_entries.value_or(output.format->entries);
    report.color = UseColor(options.color, os);
    if (const unsigned columns = os.is_displayed() ? llvm::sys::Process::StandardOutColumns() : 0;
        columns > 0)
      report.width = static_cast<int>(columns);
    HLO_CHECK_OK(
        output.format->write(os, {diff, sides.left_file, sides.right_file, report, cost, equivalence}));
    if (output.format->lines && cost) WriteDiffCost(os, cost->first, cost->second);
    if (output.format->lines && equivalence) WriteEquivalence(os, *equivalence);
    HLO_CHECK_OK(output.file.Check());
  }
  const bool accepted =
      options.accept_equivalent && equivalence &&
      (equivalence->verdict == DiffVerdict::Equal || equivalence->verdict == DiffVerdict::Vacuous);
  return (CountsAsEqual(options, diff) || accepted) && !pair.only_left && !pair.only_right;
}

/// The main output, and those that --text_output and --html_output name.
Result<std::vector<DiffOutput>> OpenOutputs(const HloDiffOptions& options, llvm::ArrayRef<std::string> inputs,
                                            llvm::raw_ostream& out) {
  HLO_TRY(const DiffFormatInfo* format, FindFormat(options));
  std::vector<DiffOutput> outputs;
  const auto open = [&](const DiffFormatInfo* as, llvm::StringRef path) -> Status {
    HLO_TRY(OutputFile file, OutputFile::Open(path, out, inputs));
    outputs.push_back({as, std::move(file)});
    return {};
  };
  HLO_CHECK_OK(open(format, options.output));
  if (!options.text_output.empty()) HLO_CHECK_OK(open(FindDiffFormat("text"), options.text_output));
  if (!options.html_output.empty()) HLO_CHECK_OK(open(FindDiffFormat("html"), options.html_output));
  return outputs;
}

/// All pairs of two inputs. True if they are equal.
Result<bool> CompareSides(const HloDiffOptions& options, DiffSides& sides, std::vector<DiffOutput>& outputs,
                          DiagnosticSink& sink) {
  bool equal = true;
  for (DiffModulePair& pair : sides.pairs) {
    sink.BeginModule(pair.right->name());
    HLO_TRY(const bool same, ComparePair(options, sides, pair, outputs, sink));
    equal &= same;
    LeaveToProcessEnd(std::move(pair.left));
    LeaveToProcessEnd(std::move(pair.right));
  }
  return equal;
}

/// The modules of two dump directories; those without counterpart are differences.
Result<bool> CompareDirectories(const HloDiffOptions& options, llvm::ArrayRef<std::string> directories,
                                std::vector<DiffOutput>& outputs, DiagnosticSink& sink) {
  HLO_TRY(const std::vector<DiffPair> pairs, PairDumps(directories[0], directories[1], options));
  const int64_t unpaired =
      llvm::count_if(pairs, [](const DiffPair& p) { return p.left.empty() || p.right.empty(); });
  const int64_t paired = static_cast<int64_t>(pairs.size()) - unpaired;
  if (outputs.front().format->single && paired > 1)
    return Error(
        "usage-option", {},
        "a file of this form holds one comparison, found {0} pairs of modules; --module and --stage-in "
        "choose",
        paired);
  HloDiffOptions reading = options;
  reading.module.clear();  // PairDumps() has chosen
  int64_t equal = 0, different = 0;
  for (const DiffPair& pair : pairs) {
    if (Interrupted()) return Error(InterruptedError());
    if (pair.left.empty() || pair.right.empty()) {
      Diagnostic warning = MakeError("diff-unpaired", {}, "module '{0}' has no counterpart in '{1}'",
                                     pair.module, directories[pair.left.empty() ? 0 : 1]);
      warning.severity = Severity::Warning;
      warning.file = pair.left.empty() ? pair.right : pair.left;
      sink.Report(std::move(warning));
      continue;
    }
    HLO_TRY(auto sides, ReadSides(reading, {pair.left, pair.right}, {}, sink));
    if (!sides) continue;  // reported
    HLO_TRY(const bool same, CompareSides(reading, *sides, outputs, sink));
    ++(same ? equal : different);
  }
  if (outputs.front().format->lines && pairs.size() > 1)
    outputs.front().file.stream() << pairs.size() << " modules: " << equal << " equal, " << different
                                  << " different, " << unpaired << " without counterpart\n";
  return different + unpaired == 0;
}

/// What --series asks for.
Status CompareSeries(const HloDiffOptions& options, llvm::ArrayRef<std::string> files,
                     const DiffFormatInfo& format, DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (!files.empty())
    return Error("usage-option", {}, "option '--series': found {0} more inputs, expected none", files.size());
  const bool json = format.word == "json";
  if (!json && format.word != "text" && format.word != "summary")
    return Error("usage-option", {}, "option '--series': format {0} is not for series, expected text or json",
                 format.word);
  HLO_TRY(OutputFile file, OutputFile::Open(options.output, out));
  HLO_CHECK_OK(DiffSeries(options, options.series, json, sink, file.stream()));
  return file.Commit();
}

/// Combinations of options that make no sense.
Status CheckOptions(const HloDiffOptions& options, const DiffFormatInfo& format) {
  if (options.mode != DiffMode::Semantic && (format.word != "text" || !options.html_output.empty()))
    return Error("usage-option", {}, "option '--mode': lines are compared as text, not as {0}", format.word);
  return {};
}

Status Compare(const HloDiffOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
               DiagnosticSink& sink, llvm::raw_ostream& out) {
  HLO_TRY(const DiffFormatInfo* format, FindFormat(options));
  HLO_CHECK_OK(CheckOptions(options, *format));
  if (!options.series.empty()) return CompareSeries(options, files, *format, sink, out);
  const auto directories = llvm::count_if(
      files, [](const std::string& path) { return path != "-" && llvm::sys::fs::is_directory(path); });
  if (directories == 1 && files.size() == 2)
    return Error("usage-option", {}, "found a directory and a file, expected two of either kind");
  std::optional<DiffSides> sides;
  if (directories != 2) {
    HLO_TRY(sides, ReadSides(options, files, stdin_text, sink));
    if (!sides) return {};
    if (sides->pairs.size() > 1 && format->single)
      return Error("usage-option", {}, "a file of this form holds one comparison; --module chooses one");
  }
  HLO_TRY(auto outputs, OpenOutputs(options, sides ? llvm::ArrayRef(sides->inputs) : files, out));
  HLO_TRY(const bool equal, sides ? CompareSides(options, *sides, outputs, sink)
                                  : CompareDirectories(options, files, outputs, sink));
  for (DiffOutput& output : outputs) HLO_CHECK_OK(output.file.Commit());
  if (!equal && options.exit_code) sink.Raise(ExitCode::Negative);
  return {};
}

}  // namespace

int HloDiffMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
                llvm::raw_ostream& err) {
  HloDiffOptions options;
  options.verify = VerifyMode::Input;
  Started started = StartTool(kHloDiff, DiffGroups(options), options, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(kHloDiff.name, options, err);
  sink.Report(started.command_line.warnings);
  return RunUnderLimits(options, started.command_line, sink, [&] {
    return Compare(options, started.command_line.positional, stdin_text, sink, out);
  });
}

}  // namespace hlo
