#include "tools/opt/reduction.h"

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "tools/common/output_file.h"
#include "tools/opt/bisection.h"
#include "tools/reduce/reduce.h"
#include "tools/reduce/test_command.h"

namespace hlo {
namespace {

Result<TestCommand> MakeTest(const OptOptions& options, const std::string& command) {
  TestCommand::Options test;
  test.command = command;
  test.exit_codes = options.test_exit.items;
  test.output = options.test_output;
  test.timeout = options.test_timeout;
  test.repeat = options.repeat_test;
  return TestCommand::Make(std::move(test));
}

/// Bytes of the arrays of all instructions.
int64_t ShapeBytes(const Module& module) {
  int64_t bytes = 0;
  for (const auto& c : module.computations())
    for (const Instruction* i : c->instructions())
      ForEachLeaf(i->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.IsArray()) bytes += std::max<int64_t>(0, ByteSize(leaf));
      });
  return bytes;
}

}  // namespace

Status ReduceInput(const InputModule& input, const OptOptions& options, DiagnosticSink& sink,
                   llvm::raw_ostream& out) {
  HLO_TRY(TestCommand test, MakeTest(options, options.test));
  const auto start = std::chrono::steady_clock::now();
  HLO_TRY(const bool interesting, test.Interesting(ReducedText(*input.module)));
  if (!interesting)
    return Error("reduce-not-interesting", {}, "the module is not interesting to '{0}': nothing to reduce",
                 options.test);
  const int64_t computations = static_cast<int64_t>(input.module->computations().size());
  auto say = [&](const std::string& text) {
    if (!options.common.quiet) sink.err() << "[reduce] " << text << '\n';
  };
  say(llvm::formatv("start: {0} instructions, {1} computations, shapes {2}", input.module->InstructionCount(),
                    computations, FormatBytes(ShapeBytes(*input.module), /*decimal=*/true))
          .str());

  ReduceOptions reduce;
  reduce.max_tests = options.max_tests;
  reduce.jobs = options.common.threads > 0 ? options.common.threads : AvailableThreads();
  reduce.memory_limit = options.common.memory_limit.bytes;
  reduce.remark = say;
  reduce.interesting = [&](const std::string& text) { return test.Interesting(text); };
  std::vector<std::pair<std::string, int64_t>> steps;  // instructions left after the last success of each
  reduce.improved = [&](llvm::StringRef strategy, const Module& module) -> Status {
    if (steps.empty() || steps.back().first != strategy) steps.emplace_back(strategy.str(), 0);
    steps.back().second = module.InstructionCount();
    sink.progress().Update([&] {
      return llvm::formatv("reducing by {0}: {1} instructions", strategy, module.InstructionCount()).str();
    });
    if (options.common.output == "-") return {};
    return WriteFile(options.common.output, ReducedText(module), out);
  };
  HLO_TRY(ReduceResult result, ReduceModule(*input.module, reduce));
  sink.progress().Erase();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto left = static_cast<int64_t>(result.module->computations().size());
  std::string progress;
  for (const auto& [strategy, instructions] : steps)
    progress += (progress.empty() ? "" : "    ") + strategy + ": " + std::to_string(instructions);
  if (!steps.empty()) say(progress);
  const int64_t count = result.module->InstructionCount();
  say(llvm::formatv("{0}: {1} instruction{2}, {3} computation{4}, shapes {5}, {6} tests, {7:f1} s",
                    Interrupted()      ? "interrupted"
                    : result.exhausted ? "stopped by --max-tests"
                                       : "done",
                    count, count == 1 ? "" : "s", left, left == 1 ? "" : "s",
                    FormatBytes(ShapeBytes(*result.module), /*decimal=*/true), result.tests, seconds)
          .str());
  HLO_CHECK_OK(WriteFile(options.common.output, ReducedText(*result.module), out));
  // The best so far is kept, and whoever asked for a limit learns that it was reached.
  if (WhyInterrupted() == InterruptCause::Timeout) return Error(InterruptedError());
  return {};
}

namespace {

/// The module optimised up to some point, and by what.
struct Optimised {
  std::unique_ptr<Module> module;
  PassTrial trial;
};

/// Limits the rewrites of one execution, and keeps those of the last.
class LastExecution final : public PassObserver {
 public:
  LastExecution(RewriteControls& controls, PassTrial& trial, int64_t number, int64_t limit)
      : controls_(controls), trial_(trial), number_(number), limit_(limit) {}
  Status BeforePass(const Module& module, const PassExecution& execution) override {
    (void)module;
    trial_.rewrites.clear();
    if (execution.number == number_ && limit_ >= 0) controls_.fuel[execution.pass->name] = limit_;
    return {};
  }

 private:
  RewriteControls& controls_;
  PassTrial& trial_;
  int64_t number_, limit_;
};

Result<Optimised> OptimiseUpTo(const InputModule& input, const PassRunner& passes, int64_t limit,
                               int64_t rewrites) {
  Optimised result;
  result.module = input.module->Clone();
  RewriteControls controls = passes.BaseControls();
  controls.on_rewrite = [&](llvm::StringRef, llvm::StringRef rule, const Instruction& before,
                            const Instruction& after) {
    result.trial.rewrites.push_back(
        llvm::formatv("{0}{1}%{2} -> %{3}", rule, rule.empty() ? "" : " ", before.name(), after.name()));
  };
  PassSelection selection = passes.selection();
  selection.pass_limit = limit;
  PassManager manager(controls, std::move(selection));
  LastExecution last(controls, result.trial, limit, rewrites);
  manager.AddObserver(last);
  HLO_CHECK_OK(manager.Run(*result.module, passes.PipelineOf(input.module.get())));
  result.trial.executions.assign(manager.executions().begin(), manager.executions().end());
  return result;
}

}  // namespace

Status BisectPasses(const InputModule& input, const OptOptions& options, const PassRunner& passes,
                    DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (!passes.active())
    return Error("usage-option", {}, "option '--bisect-passes' needs passes: --passes, -O or --platform=cpu");
  HLO_TRY(TestCommand test, MakeTest(options, options.bisect_passes));
  const auto attempt = [&](int64_t limit, int64_t rewrites) -> Result<PassTrial> {
    HLO_TRY(Optimised optimised, OptimiseUpTo(input, passes, limit, rewrites));
    HLO_TRY(optimised.trial.bad, test.Interesting(ReducedText(*optimised.module)));
    return std::move(optimised.trial);
  };
  const auto progress = [&](int64_t n, int64_t count) {
    sink.progress().Update([&] { return llvm::formatv("bisecting: execution {0} of {1}", n, count).str(); });
  };
  HLO_TRY(const PassCulprit culprit,
          FindCulprit(attempt, "interesting to '" + options.bisect_passes + "'", progress));
  const std::string number = std::to_string(culprit.execution.number);
  const std::string stem = "bisect/" + std::string(4 - std::min<size_t>(4, number.size()), '0') + number;
  for (const auto& [when, limit] : {std::pair(".before.hlo", culprit.execution.number - 1),
                                    std::pair(".after.hlo", culprit.execution.number)}) {
    HLO_TRY(const Optimised optimised, OptimiseUpTo(input, passes, limit, -1));
    HLO_CHECK_OK(WriteFile(stem + when, ReducedText(*optimised.module), out));
  }
  sink.progress().Erase();
  out << CulpritText(culprit) << "\nsaved: " << stem << ".before.hlo " << stem
      << ".after.hlo    repeat: " << RepeatText(culprit) << '\n';
  return {};
}

}  // namespace hlo
