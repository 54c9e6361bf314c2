// hlo-viz: draws modules (tools.md §5).
#include "ir/support/interrupt.h"
#include "llvm/Support/FileSystem.h"
#include "tools/dump_index.h"
#include "tools/inputs.h"
#include "tools/module_form.h"
#include "tools/output_file.h"
#include "tools/process.h"
#include "tools/tool_main.h"
#include "tools/viz/dot.h"
#include "tools/viz_options.h"

namespace hlo {
namespace {

/// A dump directory as a page that leads through it, unless another form is asked for.
bool IsDumpIndex(const VizOptions& options, llvm::ArrayRef<std::string> files) {
  return files.size() == 1 && llvm::sys::fs::is_directory(files.front()) &&
         (options.output_format.empty() || options.output_format == "html");
}

Status Draw(const VizOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
            DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (IsDumpIndex(options, files)) return WriteDumpIndex(options, files.front(), sink, out);
  InputReader reader(options, files, stdin_text, sink);
  HLO_TRY(OutputFile file, OutputFile::Open(options.output, out, files));
  while (auto input = reader.Next())
    if (input->module) WriteDot(file.stream(), *input->module);
  return file.Commit();
}

}  // namespace

int HloVizMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
               llvm::raw_ostream& err) {
  VizOptions options;
  options.verify = VerifyMode::Input;
  Started started = StartTool(kHloViz, VizGroups(options), options, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(kHloViz.name, options, err);
  sink.Report(started.command_line.warnings);
  SetReproducerDirectory(options.reproducer_dir);
  SetCrashCommand(started.command_line);
  LimitProcessMemory(options.memory_limit.bytes);
  Status status;
  {
    std::optional<TimeLimit> limit;
    if (options.timeout.count() > 0) limit.emplace(options.timeout);
    status = Draw(options, started.command_line.positional, stdin_text, sink, out);
  }
  if (!status) sink.Report(status.error());
  if (WhyInterrupted() == InterruptCause::Timeout) ClearInterrupt();
  return sink.exit_code();
}

}  // namespace hlo
