#include "tools/run/fault.h"

#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "tools/common/output_file.h"
#include "tools/opt/bisection.h"
#include "tools/reduce/reduce.h"

namespace hlo {
namespace {

/// The same run without anything that is written or shown.
RunOptions Quietly(const RunOptions& options) {
  RunOptions quiet = options;
  quiet.again = true;
  quiet.print = PrintMode::None;
  quiet.progress = When::Never;
  quiet.werror = false;
  quiet.output_literal = quiet.save_inputs = quiet.result_json = quiet.outfeed = quiet.memory = "";
  quiet.benchmark = quiet.profile = ReportForm::Unset;
  quiet.baseline = quiet.profile_out = "";
  PassRunOptions& passes = quiet.passes;
  passes.print_before = passes.print_after = std::nullopt;
  passes.print_after_all = passes.time_passes = passes.pass_stats = passes.debug_rewrites = false;
  passes.print_changed = ChangedForm::Unset;
  passes.dump_to = "";
  return quiet;
}

struct Outcome {
  int exit_code = 0;
  std::string status, id;  // id: of the first error; empty if there is none
  [[nodiscard]] bool operator==(const Outcome& other) const = default;
};

/// Runs a module as `input` ran; `record` takes what its passes do.
Result<Outcome> RunAgain(const RunOptions& options, const InputModule& input, std::unique_ptr<Module> module,
                         const RunShared& shared, PassRecord* record = nullptr) {
  if (Interrupted()) return Error(InterruptedError());
  DiagnosticSink sink(kHloRun.name, options, llvm::nulls());
  HLO_TRY(const Tolerances tolerances, Tolerances::Parse(options));
  const OptOptions part = PassPart(options);
  HLO_TRY(PassRunner passes, PassRunner::Make(part, PassUseOf(options)));
  passes.set_record(record);
  InputModule again;
  again.file = input.file;
  again.name = input.name;
  again.source = input.source;
  again.begin = input.begin;
  again.end = input.end;
  again.arguments = input.arguments;
  again.module = std::move(module);
  RunShared mine;
  mine.passes = &passes;
  mine.libraries = shared.libraries;
  sink.BeginModule(again.name);
  ModuleRunner runner(options, tolerances, again, mine, sink, llvm::nulls(), {});
  const ModuleResult result = runner.Run(/*heading=*/false);
  if (Interrupted()) return Error(InterruptedError());
  Outcome outcome{result.exit_code, result.status, ""};
  for (const Diagnostic& d : sink.module_diagnostics())
    if (d.severity == Severity::Error && outcome.id.empty()) outcome.id = d.id.str();
  return outcome;
}

}  // namespace

Status BisectRun(const RunOptions& options, const InputModule& input, const Module& module,
                 const RunShared& shared, DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (options.reference == Reference::None && options.expected.empty())
    return Error(
        "usage-option", {},
        "option '--bisect-passes' needs something to compare with: --reference-platform or --expected");
  const RunOptions quiet = Quietly(options);
  const auto attempt = [&](int64_t limit, int64_t rewrites) -> Result<PassTrial> {
    RunOptions some = quiet;
    if (limit >= 0) some.passes.pass_limit = limit;
    PassRecord record;
    if (rewrites >= 0) record.last_rewrites = {limit, rewrites};
    HLO_TRY(const Outcome outcome, RunAgain(some, input, module.Clone(), shared, &record));
    return PassTrial{outcome.exit_code != 0, std::move(record.executions), std::move(record.rewrites)};
  };
  const auto progress = [&](int64_t n, int64_t count) {
    sink.progress().Update([&] { return llvm::formatv("bisecting: execution {0} of {1}", n, count).str(); });
  };
  HLO_TRY(const PassCulprit culprit, FindCulprit(attempt, "different in its results", progress));
  sink.progress().Erase();
  out << CulpritText(culprit) << "\nrepeat: " << RepeatText(culprit) << '\n';
  return {};
}

Status ReduceRun(const RunOptions& options, const InputModule& input, const Module& module,
                 const ModuleResult& failed, const RunShared& shared, DiagnosticSink& sink,
                 llvm::raw_ostream& out) {
  const RunOptions quiet = Quietly(options);
  HLO_TRY(const Outcome wanted, RunAgain(quiet, input, module.Clone(), shared));
  if (wanted.exit_code != failed.exit_code)
    return Error("reduce-not-interesting", {},
                 "the module ended with exit code {0} before and with {1} when run again: nothing to reduce",
                 failed.exit_code, wanted.exit_code);
  ReduceOptions reduce;
  reduce.memory_limit = options.memory_limit.bytes;
  reduce.interesting = [&](const std::string& text) -> Result<bool> {
    ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>(input.file, text));
    if (!parsed.module) return false;
    for (const Diagnostic& violation : Verify(*parsed.module))
      if (violation.severity == Severity::Error) return false;
    HLO_TRY(const Outcome outcome, RunAgain(quiet, input, std::move(parsed.module), shared));
    return outcome == wanted;
  };
  reduce.improved = [&](llvm::StringRef strategy, const Module& smaller) -> Status {
    sink.progress().Update([&] {
      return llvm::formatv("reducing by {0}: {1} instructions", strategy, smaller.InstructionCount()).str();
    });
    return WriteFile(options.reduce_to, ReducedText(smaller), out);
  };
  HLO_TRY(const ReduceResult result, ReduceModule(module, reduce));
  sink.progress().Erase();
  HLO_CHECK_OK(WriteFile(options.reduce_to, ReducedText(*result.module), out));
  out << llvm::formatv("reduced: {0} of {1} instructions left after {2} tests, in {3}\n",
                       result.module->InstructionCount(), module.InstructionCount(), result.tests,
                       options.reduce_to);
  return {};
}

}  // namespace hlo
