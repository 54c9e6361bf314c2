// hlo-viz: draws modules (tools.md §5).
#include "ir/support/interrupt.h"
#include "llvm/Support/FileSystem.h"
#include "tools/common/output_file.h"
#include "tools/common/process.h"
#include "tools/common/tool_main.h"
#include "tools/modules/inputs.h"
#include "tools/viz/dump_index.h"
#include "tools/viz/formats.h"
#include "tools/viz/text.h"

namespace hlo {
namespace {

/// A dump directory as a page that leads through it, unless another form is asked for.
bool IsDumpIndex(const VizOptions& options, llvm::ArrayRef<std::string> files, const VizFormat& format) {
  const bool any_form = options.output_format.empty() && options.output == "-";
  return files.size() == 1 && llvm::sys::fs::is_directory(files.front()) &&
         (any_form || format.word == "html");
}

/// One run of the tool.
class VizRun {
 public:
  VizRun(const VizOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
         DiagnosticSink& sink, llvm::raw_ostream& out)
      : options_(options), files_(files), sink_(sink), out_(out), reader_(options, files, stdin_text, sink) {}

  Status Run() {
    const bool text = !options_.list.empty() || !options_.info.empty();
    const VizFormat* format = nullptr;
    if (!text) {
      HLO_TRY(format, FindVizFormat(options_));
    }
    if (!text && IsDumpIndex(options_, files_, *format))
      return WriteDumpIndex(options_, files_.front(), sink_, out_);
    HLO_TRY(parts_, PartsOf(options_));
    if (options_.max_nodes < 0)
      return Error("usage-option", {}, "option '--max-nodes': found {0}, expected 0 or more",
                   options_.max_nodes);
    while (auto input = reader_.Next()) {
      if (!input->module) continue;
      HLO_CHECK_OK(Begin(format));
      const CrashScope scope("drawing", input->source->text().slice(input->begin, input->end));
      HLO_CHECK_OK(text ? Answer(*input->module) : Draw(*input->module, *format));
      if (Interrupted()) return Error(InterruptedError());
      if (reader_.at_end()) LeaveToProcessEnd(std::move(input->module));
      if (sink_.stopped()) break;
    }
    return file_ ? file_->Commit() : Status();
  }

 private:
  /// Opens the output with the first module. `format` is null for text.
  Status Begin(const VizFormat* format) {
    if (file_ && format && format->single)
      return Error("usage-option", {}, "a file of this form holds one module; --module chooses one");
    if (!file_) {
      HLO_TRY(file_, OutputFile::Open(options_.output, out_, reader_.files()));
    }
    if (format && format->binary && file_->stream().is_displayed())
      return Error("usage-option", {}, "binary output is not written to a terminal; -o names a file");
    return {};
  }

  Status Answer(const Module& module) {
    if (!options_.list.empty()) HLO_CHECK_OK(PrintList(file_->stream(), module, options_));
    if (!options_.info.empty()) HLO_CHECK_OK(PrintInfo(file_->stream(), module, options_.info));
    return {};
  }

  Status Draw(const Module& module, const VizFormat& format) {
    const auto report = [&](Diagnostic d) { sink_.Report(std::move(d)); };
    HLO_TRY(const VizOverlay overlay, ReadOverlay(module, options_, report));
    HLO_TRY(VizDrawing selected, SelectDrawing(module, options_, parts_.control, report));
    VizTask task{module, options_, overlay, parts_, selected, report};
    return format.write(file_->stream(), task);
  }

  const VizOptions& options_;
  llvm::ArrayRef<std::string> files_;
  DiagnosticSink& sink_;
  llvm::raw_ostream& out_;
  InputReader reader_;
  ShownParts parts_;
  std::optional<OutputFile> file_;
};

}  // namespace

int HloVizMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
               llvm::raw_ostream& err) {
  VizOptions options;
  options.verify = VerifyMode::Input;
  Started started = StartTool(kHloViz, VizGroups(options), options, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(kHloViz.name, options, err);
  sink.Report(started.command_line.warnings);
  return RunUnderLimits(options, started.command_line, sink, [&] {
    return VizRun(options, started.command_line.positional, stdin_text, sink, out).Run();
  });
}

}  // namespace hlo
