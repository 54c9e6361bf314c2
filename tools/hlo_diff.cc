// hlo-diff: compares modules as graphs (tools.md §4).
#include "ir/support/interrupt.h"
#include "tools/diff_options.h"
#include "tools/inputs.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/tool_main.h"

namespace hlo {
namespace {

/// The only module of one side; null after errors, which have been reported.
Result<std::unique_ptr<Module>> ReadSide(const HloDiffOptions& options, const std::string& file,
                                         llvm::StringRef stdin_text, DiagnosticSink& sink) {
  InputReader reader(options, {file}, stdin_text, sink);
  std::unique_ptr<Module> module;
  while (auto input = reader.Next()) {
    if (module) return Error("usage-option", {}, "'{0}' holds several modules, expected one", file);
    if (!input->module) return nullptr;
    module = std::move(input->module);
  }
  if (!module) return Error("input-empty", {}, "'{0}': no HLO module in input", file);
  return module;
}

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

Status Compare(const HloDiffOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
               DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (files.size() != 2)
    return Error("usage-option", {}, "found {0} inputs, expected two: OLD NEW", files.size());
  HLO_TRY(const DiffFormatInfo* format, FindFormat(options));
  HLO_TRY(const auto left, ReadSide(options, files[0], stdin_text, sink));
  if (!left) return {};
  HLO_TRY(const auto right, ReadSide(options, files[1], stdin_text, sink));
  if (!right) return {};
  const ModuleDiff diff = CompareModules(*left, *right, options.compare);
  HLO_TRY(OutputFile file, OutputFile::Open(options.output, out, files));
  HLO_CHECK_OK(format->write(file.stream(), {diff, files[0], files[1], options.report}));
  HLO_CHECK_OK(file.Commit());
  if (!diff.Equal() && options.exit_code) sink.Raise(kNegative);
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
