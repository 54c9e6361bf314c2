#include "tools/common/common_options.h"

#include <cstdlib>

#include "ir/support/input_file.h"
#include "ir/support/json.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tools/common/explain.h"
#include "tools/common/help_forms.h"
#include "tools/common/sink.h"
#include "tools/viz/drawing/graphviz.h"

namespace hlo {
namespace {

using C = CommonOptions;

std::vector<llvm::StringRef> DiagnosticNames() {
  std::vector<llvm::StringRef> names;
  for (const DiagnosticInfo& info : AllDiagnostics()) names.push_back(info.name);
  return names;
}

constexpr OptionRow kInputRows[] = {
    Option<&C::input_format>("input-format", "FORMAT", "auto",
                             "encoding of the inputs: auto, hlo, pb, pbtxt, snapshot, json"),
    Option<&C::module>("module", "RE|N", "", "only modules whose name matches, or the one with this index"),
    Option<&C::stage_in>("stage-in", "STAGE", "before", "of dump directories: before, after, pass:RE or all")
        .Advanced(),
    Option<&C::split_input_file>("split-input-file", "", "on", "`// -----` lines separate modules"),
    Option<&C::elided_constants>("elided-constants", "POLICY", "keep; hlo-run: random",
                                 "`constant({...})`: keep, error, zeros, iota, random"),
    Option<&C::verify>("verify", "WHEN", "input; hlo-opt: each", "none, input, each or final"),
    Option<&C::unknown_attributes>("unknown-attributes", "WHAT", "error", "error, warn or keep").Advanced(),
};
constexpr OptionRow kMessageRows[] = {
    Option<&C::diagnostics_format>("diagnostics-format", "FORM", "text", "text or json (an object per line)"),
    Option<&C::max_errors>("max-errors", "N", "20", "per module; 0: all"),
    Option<&C::warnings>("W", "ID|no-ID|error=ID", "", "enable, disable or turn into an error one warning")
        .Letter('W'),
    Option<&C::werror>("werror", "", "", "warnings are errors"),
    Option<&C::explain>("explain", "ID", "", "explain a diagnostic, with an example").Words(&DiagnosticNames),
    Option<&C::color>("color", "WHEN", "auto", "auto, always or never"),
    Option<&C::progress>("progress", "WHEN", "auto", "auto, always or never"),
    Option<&C::quiet>("quiet", "", "", "no warnings, notes, summaries").Letter('q'),
    Option<&C::verbose>("verbose", "", "", "phases and defaults; -vv, -vvv: more").Letter('v'),
};
constexpr OptionRow kGeneralRows[] = {
    Option<&C::threads>("threads", "N", "all", "threads to use; never affects results").Letter('j'),
    Option<&C::timeout>("timeout", "DURATION", "", "give up with exit code 8"),
    Option<&C::memory_limit>("memory-limit", "SIZE", "",
                             "give up with exit code 8; where the machine has less, with 6"),
    Option<&C::fail_fast>("fail-fast", "", "", "stop at the first failing module").Advanced(),
    Option<&C::skip_unavailable>("skip-unavailable", "", "", "exit code 77 instead of 7"),
    Option<&C::config>("config", "FILE", "",
                       "options, one `name=value` per line; below XLA_FLAGS and the command line"),
    Option<&C::strict_xla_flags>("strict-xla-flags", "", "", "unknown --xla_* options are errors").Advanced(),
    Option<&C::reproducer_dir>("reproducer-dir", "DIR", "$TMPDIR", "where internal errors leave a reproducer")
        .Advanced(),
    Option<&C::help>("help", "", "", "this text").Letter('h'),
    Option<&C::help_all>("help-all", "", "", "with every option and alias").Advanced(),
    Option<&C::help_as>("help-as", "FORM", "",
                        "as a manual page (man), or a script that completes options (bash, zsh, fish)")
        .Advanced()
        .Words(&HelpForms),
    Option<&C::version>("version", "json", "", "versions and features").Bare("text"),
};

llvm::StringRef Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The value of the last `--config`; the file has to be read before the options are.
std::string FindConfig(llvm::ArrayRef<const char*> args) {
  std::string file;
  for (size_t i = 0; i < args.size(); ++i) {
    const llvm::StringRef arg = args[i];
    if (arg == "--") break;
    if (!arg.starts_with("--")) continue;
    std::string name = arg.split('=').first.drop_front(2).str();
    std::replace(name.begin(), name.end(), '_', '-');
    if (name != "config" && name != "debug-options-file") continue;
    if (arg.contains('='))
      file = arg.split('=').second.str();
    else if (i + 1 < args.size())
      file = args[i + 1];
  }
  return file;
}

Result<std::string> ReadWhole(llvm::StringRef path) {
  constexpr uint64_t kMostOptions = uint64_t{1} << 26;
  auto buffer = ReadInputFile(path, kMostOptions);
  if (!buffer) {
    Diagnostic error = MakeError("input-open", {}, "cannot open: {0}", buffer.getError().message());
    error.file = path.str();
    return Error(std::move(error));
  }
  return (*buffer)->getBuffer().str();
}

Result<OptionSources> FindSources(llvm::ArrayRef<const char*> args) {
  OptionSources sources;
  sources.config_name = FindConfig(args);
  if (!sources.config_name.empty()) {
    HLO_TRY(sources.config_text, ReadWhole(sources.config_name));
  }
  // As in XLA, a value that does not begin with `--` names a file.
  const llvm::StringRef flags = Environment("XLA_FLAGS").trim();
  if (flags.empty() || flags.starts_with("-")) {
    sources.xla_flags = flags.str();
  } else {
    HLO_TRY(sources.xla_flags, ReadWhole(flags));
  }
  for (const llvm::StringRef arg : args) {
    if (arg == "--strict-xla-flags" || arg == "--strict_xla_flags") sources.strict_xla_flags = true;
    if (arg.starts_with("-v") || arg.starts_with("--verbose")) sources.warn_xla_flags_variable = true;
  }
  return sources;
}

void PrintVersion(const ToolInfo& tool, bool json, llvm::raw_ostream& out) {
  std::vector<llvm::StringRef> features = {"cpu", "gpu", "gpu-emu", "interpreter", "zlib"};
  // Present where the library is.
  std::string why;
  if (tool.name == "hlo-viz" && HasGraphviz(why)) features.insert(features.begin() + 1, "graphviz");
  if (json) {
    JsonWriter writer(out);
    writer.Object([&] {
      writer.Member("schema", "hlo.version/1");
      writer.Member("tool", tool.name);
      writer.Member("version", HLO_VERSION);
      writer.Member("llvm", LLVM_VERSION_STRING);
      writer.List("features", features);
    });
    out << '\n';
    return;
  }
  out << tool.name << " " HLO_VERSION " (LLVM " LLVM_VERSION_STRING ")\nfeatures: ";
  llvm::interleave(features, out, [&](llvm::StringRef f) { out << f; }, " ");
  out << '\n';
}

tl::unexpected<Diagnostic> NoDiagnostic(llvm::StringRef where, llvm::StringRef id) {
  const std::string hint = DidYouMeanText(id, DiagnosticNames());
  return Error("usage-option", {}, "{0}no diagnostic '{1}'{2}{3}", where, id, hint.empty() ? "" : "; ", hint);
}

Result<int> Explain(llvm::StringRef id, llvm::raw_ostream& out) {
  const std::optional<DiagnosticId> found = DiagnosticId::Find(id);
  if (!found) return NoDiagnostic("", id);
  const DiagnosticInfo& info = DiagnosticInfo::Of(*found);
  out << id << " (" << ToString(info.severity);
  if (info.severity == Severity::Error) out << ", exit code " << int{info.exit};
  out << ")\n" << info.explanation << "\n\n";
  PrintExplanation(FindExplanation(id), out);
  return 0;
}

Result<int> Answer(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, const CommonOptions& options,
                   llvm::raw_ostream& out) {
  if (options.help || options.help_all) {
    PrintHelp(tool, groups, options.help_all, out);
  } else if (!options.help_as.empty()) {
    HLO_CHECK_OK(PrintHelpAs(options.help_as, tool, groups, out));
  } else if (!options.version.empty()) {
    if (options.version != "text" && options.version != "json")
      return Error("usage-option", {}, "option '--version': found '{0}', expected json", options.version);
    PrintVersion(tool, options.version == "json", out);
  } else {
    return Explain(options.explain, out);
  }
  return 0;
}

Status CheckCommonOptions(const CommonOptions& options) {
  for (const auto& [option, value] :
       {std::pair("--max-errors", options.max_errors), {"--threads", options.threads}})
    if (value < 0)
      return Error("usage-option", {}, "option '{0}': found '{1}', expected at least 0", option, value);
  if (options.diagnostics_format == DiagnosticsFormat::Sarif)
    return Error("unavailable-feature", {}, "diagnostics in the form sarif are not available yet");
  for (llvm::StringRef id : options.warnings) {
    if (!id.consume_front("error=")) id.consume_front("no-");
    if (!DiagnosticId::Find(id)) return NoDiagnostic("option '-W': ", id);
  }
  return {};
}

}  // namespace

std::vector<OptionGroup> CommonGroups(CommonOptions& options) {
  return {{"Input", kInputRows, &options},
          {"Messages", kMessageRows, &options},
          {"General", kGeneralRows, &options}};
}

Started StartTool(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, CommonOptions& options,
                  llvm::ArrayRef<const char*> args, llvm::raw_ostream& out, llvm::raw_ostream& err) {
  std::vector<OptionGroup> all(groups.begin(), groups.end());
  for (const OptionGroup& group : CommonGroups(options)) all.push_back(group);
  Started started;
  auto fail = [&](const Diagnostic& error) {
    DiagnosticSink sink(tool.name, options, err);
    sink.Report(error);
    started.exit_code = sink.exit_code();
    return std::move(started);
  };
  auto sources = FindSources(args);
  if (!sources) {
    // The command line may say how errors are shown.
    (void)ParseCommandLine(tool, all, args, {}).has_value();
    return fail(sources.error());
  }
  auto command_line = ParseCommandLine(tool, all, args, *sources);
  if (!command_line) return fail(command_line.error());
  if (auto status = CheckCommonOptions(options); !status) return fail(status.error());
  if (options.help || options.help_all || !options.help_as.empty() || !options.version.empty() ||
      !options.explain.empty()) {
    auto answer = Answer(tool, all, options, out);
    if (!answer) return fail(answer.error());
    started.exit_code = *answer;
    return started;
  }
  started.command_line = std::move(*command_line);
  return started;
}

}  // namespace hlo
