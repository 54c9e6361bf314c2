// hlo-diff: compares modules as graphs (tools.md §4).
#include "ir/support/interrupt.h"
#include "tools/diff_prepare.h"
#include "tools/diff_sides.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/tool_main.h"

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
  InlineForDiff(*pair.left, options.inlined);
  InlineForDiff(*pair.right, options.inlined);
  if (options.mode != DiffMode::Semantic)
    return CompareLines(options, *pair.left, *pair.right, sides.left_file, sides.right_file,
                        outputs.front().file.stream());
  HLO_CHECK_OK(CheckDiffFilters(options, *pair.left, *pair.right));
  HLO_TRY(const DiffOptions compare, ResolveHints(options, *pair.left, *pair.right));
  ModuleDiff diff = CompareModules(*pair.left, *pair.right, compare);
  if (Interrupted()) return Error(InterruptedError());
  if (auto remark = EffortRemark(diff)) sink.Report(std::move(*remark));
  HideEntries(options, diff);
  for (DiffOutput& output : outputs) {
    DiffReportOptions report = options.report;
    report.color = UseColor(options.color, output.file.stream());
    HLO_CHECK_OK(
        output.format->write(output.file.stream(), {diff, sides.left_file, sides.right_file, report}));
    HLO_CHECK_OK(output.file.Check());
  }
  return CountsAsEqual(options, diff) && !pair.only_left && !pair.only_right;
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
  if (!options.html_output.empty()) {
    const DiffFormatInfo* html = FindDiffFormat("html");
    if (html == nullptr)
      return Error("unavailable-feature", {}, "option '--html_output': html is not available yet");
    HLO_CHECK_OK(open(html, options.html_output));
  }
  return outputs;
}

Status Compare(const HloDiffOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
               DiagnosticSink& sink, llvm::raw_ostream& out) {
  HLO_TRY(const DiffFormatInfo* format, FindFormat(options));
  if (options.mode != DiffMode::Semantic && (format->word != "text" || !options.html_output.empty()))
    return Error("usage-option", {}, "option '--mode': lines are compared as text, not as {0}", format->word);
  HLO_TRY(auto sides, ReadSides(options, files, stdin_text, sink));
  if (!sides) return {};
  if (sides->pairs.size() > 1 && format->single)
    return Error("usage-option", {}, "a file of this form holds one comparison; --module chooses one");
  HLO_TRY(auto outputs, OpenOutputs(options, sides->inputs, out));
  bool equal = true;
  for (DiffModulePair& pair : sides->pairs) {
    sink.BeginModule(pair.right->name());
    HLO_TRY(const bool same, ComparePair(options, *sides, pair, outputs, sink));
    equal &= same;
    LeaveToProcessEnd(std::move(pair.left));
    LeaveToProcessEnd(std::move(pair.right));
  }
  for (DiffOutput& output : outputs) HLO_CHECK_OK(output.file.Commit());
  if (!equal && options.exit_code) sink.Raise(kNegative);
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
  SetReproducerDirectory(options.reproducer_dir);
  SetCrashCommand(started.command_line);
  LimitProcessMemory(options.memory_limit.bytes);
  Status status;
  {
    std::optional<TimeLimit> limit;
    if (options.timeout.count() > 0) limit.emplace(options.timeout);
    status = Compare(options, started.command_line.positional, stdin_text, sink, out);
  }
  if (!status) sink.Report(status.error());
  if (WhyInterrupted() == InterruptCause::Timeout) ClearInterrupt();
  return sink.exit_code();
}

}  // namespace hlo
