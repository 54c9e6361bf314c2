// hlo-run: executes modules (tools.md §3).
#include "tools/inputs.h"
#include "tools/tool_main.h"

namespace hlo {
namespace {
constexpr ToolInfo kTool = {"hlo-run", "executes HLO modules on given or generated arguments", "[options] FILE... | DIR", {}, {}, {}};
}
int HloRunMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out, llvm::raw_ostream& err) {
  CommonOptions options;
  Started started = StartTool(kTool, {}, options, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(kTool.name, options, err);
  sink.Report(started.command_line.warnings);
  InputReader reader(options, started.command_line.positional, stdin_text, sink);
  while (auto module = reader.Next()) out << module->name << '\n';
  return sink.exit_code();
}
}  // namespace hlo
