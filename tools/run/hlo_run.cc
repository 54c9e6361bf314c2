// hlo-run: executes modules (tools.md §3).
#include "backends/processes/launch.h"
#include "ir/eval/custom_call_library.h"
#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "tools/common/output_file.h"
#include "tools/common/process.h"
#include "tools/common/tool_main.h"
#include "tools/modules/inputs.h"
#include "tools/run/benchmark.h"
#include "tools/run/fault.h"
#include "tools/run/gpu.h"
#include "tools/run/run_module.h"

namespace hlo {
namespace {

/// Platforms that are not there.
Status CheckAvailable(const RunOptions& options) {
  const bool gpu = options.platform == Platform::Gpu || options.reference == Reference::Gpu;
  if (gpu && !options.compile_only) HLO_CHECK_OK(gpu::CheckDriver());
  return {};
}

/// A file's arrays as named literals of their own types.
Result<std::vector<NamedArray>> LoadArrays(llvm::StringRef path) {
  path.consume_front("@");
  HLO_TRY(auto values, ReadValue(("@" + path).str(), "--compare-files"));
  std::vector<NamedArray> arrays;
  auto add = [&](std::string name, const NpyArray& array) -> Status {
    auto shape = NativeShape(array);
    // Of types NumPy lacks only the bits are known.
    for (const ElementType bits : {ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64})
      if (!shape && array.kind == 'V' && array.item_size == Info(bits).host_bytes())
        shape = Shape::ArrayWithDefaultLayout(bits, array.shape);
    if (!shape)
      return Error("input-array", {}, "'{0}': array {1} has a type without element type", path,
                   Describe(array));
    arrays.push_back({std::move(name), ToLiteral(array, *shape)});
    return {};
  };
  for (const auto& value : values) {
    const std::string number = "out" + std::to_string(arrays.size());
    if (const auto* array = std::get_if<NpyArray>(&value->what)) {
      HLO_CHECK_OK(add(number, *array));
    } else if (const auto* file = std::get_if<ArrayFile>(&value->what);
               file != nullptr && file->kind == ArrayFile::Kind::Npz) {
      for (const auto& [name, member] : file->arrays) HLO_CHECK_OK(add(name, member));
    } else if (const auto* literal = std::get_if<Literal>(&value->what)) {
      AppendLeaves(*literal, "out", /*split_tuple=*/true, "", arrays);
    } else {
      return Error("input-format", {},
                   "'{0}': found raw bytes or text without shape, expected npy, npz or txt with shapes",
                   path);
    }
  }
  return arrays;
}

Status CompareFiles(llvm::ArrayRef<std::string> files, const RunOptions& options,
                    const Tolerances& tolerances, DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (files.size() != 2)
    return Error("usage-option", {}, "option '--compare-files': found {0} files, expected two", files.size());
  HLO_TRY(const auto left, LoadArrays(files[0]));
  HLO_TRY(const auto right, LoadArrays(files[1]));
  llvm::StringMap<const Literal*> expected;
  for (const NamedArray& array : right) expected[array.name] = &array.value;
  bool matched = left.size() == right.size();
  double worst_abs = 0, worst_rel = 0;
  if (!matched)
    out << files[0] << ": MISMATCH, " << left.size() << " arrays, " << files[1] << " has " << right.size()
        << '\n';
  for (const NamedArray& array : left) {
    const auto it = expected.find(array.name);
    if (it == expected.end()) {
      out << files[0] << ": MISMATCH, array " << array.name << " is not in " << files[1] << '\n';
      matched = false;
      continue;
    }
    if (!Compatible(array.value.shape(), it->second->shape()))
      return Error("input-shape", {}, "array {0}: '{1}' has {2}, '{3}' has {4}", array.name, files[0],
                   array.value.shape(), files[1], it->second->shape());
    OutputComparison c{array.name, array.value, *it->second, {}};
    const ElementType type = c.actual.shape().element_type();
    c.result = Compare(c.actual, c.expected,
                       tolerances.Given(type, array.name) ? tolerances.For(type, array.name)
                                                          : ScaleTolerance(c.expected, tolerances.nan()));
    worst_abs = std::max(worst_abs, c.result.max_abs);
    worst_rel = std::max(worst_rel, c.result.max_rel);
    if (c.result.matched()) continue;
    matched = false;
    PrintMismatch(out, files[0], "first", "second", c, options.quiet);
  }
  if (!matched)
    sink.Raise(ExitCode::Negative);
  else if (!options.quiet)
    PrintMatchLine(out, files[0], "first vs second", left.size(), "array", worst_abs, worst_rel);
  return {};
}

/// --show-literal: every array of a file.
Status ShowLiteral(llvm::StringRef path, const RunOptions& options, llvm::raw_ostream& out) {
  path.consume_front("@");
  HLO_TRY(const ArrayFile file, OpenArrayFile(path));
  if (file.kind == ArrayFile::Kind::Raw || file.kind == ArrayFile::Kind::Text) {
    HLO_TRY(auto values, ReadValue(("@" + path).str(), "--show-literal"));
    for (const auto& value : values)
      if (const auto* literal = std::get_if<Literal>(&value->what)) {
        PrintLiteralWithShape(out, *literal);
        out << '\n';
      } else {
        return Error("input-format", {}, "'{0}' does not say the shape of what it holds", path);
      }
    return {};
  }
  const PrintMode mode = options.print == PrintMode::Auto ? PrintMode::Full : options.print;
  for (size_t i = 0; i < file.arrays.size(); ++i) {
    const auto& [name, array] = file.arrays[i];
    const std::string label = name.empty() ? std::to_string(i) : name;
    const auto shape = NativeShape(array);
    if (shape)
      PrintOutput(out, label, ToLiteral(array, *shape), mode);
    else
      out << label << ' ' << Describe(array) << '\n';
  }
  return {};
}

/// A module that could not be read, for tables and the result object.
ModuleResult FailedInput(const InputModule& input, int exit_code) {
  ModuleResult result;
  result.file = input.file;
  result.module = input.name;
  result.exit_code = exit_code;
  result.status = exit_code == ExitCode::Verification ? "COMPILE-ERROR" : "NOT-RUN";
  for (const Diagnostic& d : input.diagnostics) result.diagnostics.push_back(RenderJson(d, input.name));
  return result;
}

/// What --benchmark, --csv and --baseline ask for.
Status ReportTimes(const RunOptions& options, llvm::ArrayRef<ModuleResult> results,
                   llvm::ArrayRef<std::string> inputs, DiagnosticSink& sink, llvm::raw_ostream& out) {
  llvm::raw_ostream& text = DataOnStandardOutput(options) ? sink.err() : out;
  if (options.benchmark == ReportForm::Json) out << BenchmarkJson(results, options.json_indent);
  if (options.benchmark == ReportForm::Table) PrintBenchmark(text, results);
  if (!options.csv.empty()) {
    HLO_CHECK_OK(CheckNoInput(options.csv, inputs));
    HLO_CHECK_OK(AppendCsv(options.csv, results));
  }
  if (options.baseline.empty()) return {};
  HLO_TRY(const double max_slowdown, MaxSlowdown(options));
  return CompareWithBaseline(options.baseline, max_slowdown, results, sink, text);
}

/// What --bisect-passes and --reduce-to ask for.
Status FindFault(const RunOptions& options, const InputModule& input, const Module& module,
                 const ModuleResult& result, const RunShared& shared, DiagnosticSink& sink,
                 llvm::raw_ostream& out) {
  llvm::raw_ostream& text = DataOnStandardOutput(options) ? sink.err() : out;
  if (options.bisect_passes) HLO_CHECK_OK(BisectRun(options, input, module, shared, sink, text));
  if (options.reduce_to.empty() || result.exit_code == 0) return {};
  HLO_CHECK_OK(CheckNoInput(options.reduce_to, {input.file}));
  return ReduceRun(options, input, module, result, shared, sink, text);
}

/// Whether to go on with the next module: all processes or none. Standard input is that of the first one.
Result<bool> GoOn(Processes* processes, bool stop) {
  if (processes == nullptr) return !stop;
  HLO_TRY(const std::string said, processes->FromFirst(stop ? "stop" : ""));
  return said.empty() && !stop;
}

/// Standard input of the first process, for all of them, where it is asked for.
Result<std::string> ShareInput(Processes& processes, llvm::ArrayRef<std::string> files,
                               llvm::StringRef stdin_text) {
  std::string text;
  if (processes.Leads() && (files.empty() || llvm::is_contained(files, "-"))) {
    HLO_TRY(text, ReadInputText("-", stdin_text));
  }
  return processes.FromFirst(text);
}

Status RunAll(const RunOptions& options, PassRunner& passes, llvm::ArrayRef<std::string> files,
              llvm::StringRef stdin_text, Processes* processes, DiagnosticSink& sink,
              llvm::raw_ostream& out) {
  HLO_CHECK_OK(CheckRunOptions(options));
  HLO_TRY(const Tolerances tolerances, Tolerances::Parse(options));
  if (!options.show_literal.empty()) return ShowLiteral(options.show_literal, options, out);
  if (options.compare_files) return CompareFiles(files, options, tolerances, sink, out);
  HLO_CHECK_OK(CheckAvailable(options));
  if (!options.result_json.empty()) HLO_CHECK_OK(CheckNoInput(options.result_json, files));
  std::string shared_input;
  if (processes != nullptr) {
    HLO_TRY(shared_input, ShareInput(*processes, files, stdin_text));
    stdin_text = shared_input;
  }
  InputReader reader(options, files, stdin_text, sink);
  RunShared shared;
  shared.passes = &passes;
  shared.processes = processes;
  if (!options.custom_call_libraries.empty()) {
    HLO_TRY(shared.libraries, CustomCallLibraries::Load(options.custom_call_libraries));
  }
  RunTrace trace;
  if (!options.trace.empty()) {
    HLO_CHECK_OK(CheckNoInput(options.trace, files));
    shared.trace = &trace;
  }
  std::vector<ModuleResult> results;
  while (auto input = reader.Next()) {
    if (input->module) {
      shared.several = !reader.single();
      ModuleRunner runner(options, tolerances, *input, shared, sink, out, reader.files());
      const bool searches = options.bisect_passes || !options.reduce_to.empty();
      const std::unique_ptr<Module> original = searches ? input->module->Clone() : nullptr;
      results.push_back(runner.Run(/*heading=*/shared.several));
      if (searches) HLO_CHECK_OK(FindFault(options, *input, *original, results.back(), shared, sink, out));
    } else {
      results.push_back(FailedInput(*input, sink.module_exit_code()));
      // It has been reported.
      if (processes != nullptr)
        (void)processes->AgreeToRun(Error("input-empty", {}, "no module"), nullptr).has_value();
    }
    const Result<bool> go_on = GoOn(processes, sink.stopped() || Interrupted());
    // What has made the module fail has been said.
    if (!go_on && results.back().exit_code == 0) return Error(go_on.error());
    if (!go_on || !*go_on) break;
  }
  if (results.size() > 1 && !options.quiet)
    PrintTable(DataOnStandardOutput(options) ? sink.err() : out, results);
  if (shared.trace != nullptr) HLO_CHECK_OK(WriteFile(options.trace, trace.Json(), out, reader.files()));
  HLO_CHECK_OK(ReportTimes(options, results, reader.files(), sink, out));
  if (results.empty() && !options.module.empty())
    return Error("usage-name", {}, "option '--module': no module matches '{0}'", options.module);
  if (options.result_json.empty()) return {};
  return WriteFile(options.result_json, ResultJson(results, options.json_indent), out, reader.files());
}

/// Options that stand for others.
void Complete(RunOptions& options) {
  if (!options.dump_snapshots || options.passes.dump_to.empty()) return;
  const std::string stem = options.passes.dump_to + "/module_%i.%m.";
  if (options.save_inputs.empty()) options.save_inputs = stem + "inputs.npz";
  if (options.output_literal.empty()) options.output_literal = stem + "outputs.npz";
}

}  // namespace

OptOptions PassPart(const RunOptions& options) {
  OptOptions part;
  part.common = options;
  part.passes = options.passes;
  part.mcpu = options.mcpu;
  part.mattr = options.mattr;
  if (IsGpu(options.platform)) part.platform = OptPlatform::Gpu;
  part.gpu_target = options.gpu_target;
  part.gpu_tf32 = options.gpu_tf32;
  part.library_convolutions = IsGpu(options.platform) && HasLibraryConvolutions(options);
  return part;
}

PassUse PassUseOf(const RunOptions& options) {
  return Compiles(options.platform) ? PassUse::Compile : PassUse::Show;
}

namespace {

/// --list-passes, --print-pipeline and the like: nothing is run.
bool PrintPassLists(const RunOptions& options, const PassRunner& passes, llvm::raw_ostream& out) {
  if (options.passes.list_pipelines)
    ListPipelines(out);
  else if (options.passes.list_passes != ListForm::Unset)
    ListPasses(out, options.passes.list_passes);
  else if (!options.passes.describe_pass.empty())
    DescribePass(out, *FindPass(options.passes.describe_pass));
  else if (options.passes.print_pipeline)
    out << PipelineText(passes.PipelineOf(nullptr), /*expand=*/true) << '\n';
  else
    return false;
  return true;
}

}  // namespace

namespace {

/// What the options ask for, in this process.
int RunHere(const RunOptions& options, const CommandLine& command_line, llvm::StringRef stdin_text,
            Processes* processes, llvm::raw_ostream& out, llvm::raw_ostream& err) {
  DiagnosticSink sink(kHloRun.name, options, err);
  sink.Report(command_line.warnings);
  const OptOptions pass_part = PassPart(options);
  auto passes = PassRunner::Make(pass_part, PassUseOf(options), command_line);
  if (!passes) {
    sink.Report(std::move(passes).error());
    return sink.exit_code();
  }
  if (PrintPassLists(options, *passes, out)) return sink.exit_code();
  return RunUnderLimits(options, command_line, sink, [&] {
    return RunAll(options, *passes, command_line.positional, stdin_text, processes, sink, out);
  });
}

}  // namespace

int HloRunMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
               llvm::raw_ostream& err) {
  RunOptions options;
  options.verify = VerifyMode::Input;
  options.elided_constants = ElidedPolicy::Random;
  // Of several processes one is enough to say what all of them find in the command line.
  const bool quiet = IsFollower(Launcher::Auto);
  Started started = StartTool(kHloRun, RunGroups(options), options, args, quiet ? llvm::nulls() : out,
                              quiet ? llvm::nulls() : err);
  if (started.exit_code) return *started.exit_code;
  Complete(options);
  auto joined = JoinProcesses(options);
  if (!joined) {
    const auto launch = processes::FindLaunch();
    const bool follows = launch && *launch && (*launch)->rank > 0;
    // The command line is that of all; what one host lacks, others may have.
    const bool known = follows && joined.error().id.starts_with("usage-");
    std::string text;
    llvm::raw_string_ostream said(text);
    DiagnosticSink sink(kHloRun.name, options, said);
    sink.Report(std::move(joined).error());
    if (!known)
      for (const llvm::StringRef line : llvm::split(llvm::StringRef(text).rtrim('\n'), '\n'))
        err << (follows ? llvm::formatv("process {0}: ", (*launch)->rank).str() : "") << line << '\n';
    return sink.exit_code();
  }
  Processes* const processes = joined->get();
  const CommandLine& words = started.command_line;
  if (processes == nullptr) return RunHere(options, words, stdin_text, processes, out, err);
  options.processes = processes->size();
  if (options.seed == "time") {
    // One clock counts.
    const auto seed = processes->FromFirst(std::to_string(std::time(nullptr)));
    if (!seed) {
      DiagnosticSink sink(kHloRun.name, options, err);
      sink.Report(seed.error());
      return processes->Conclude(sink.exit_code(), "", err);
    }
    options.seed = *seed;
  }
  if (processes->Leads()) {
    KeepingStream said(err);
    const int code = RunHere(options, words, stdin_text, processes, out, said);
    out.flush();  // the end of another process may be that of all
    return processes->Conclude(code, said.kept(), err);
  }
  Follow(options);
  std::string text;
  llvm::raw_string_ostream messages(text);
  const int code = RunHere(options, words, stdin_text, processes, llvm::nulls(), messages);
  return processes->Conclude(code, text, err);
}

}  // namespace hlo
