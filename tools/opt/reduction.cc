#include "tools/opt/reduction.h"

#include <map>

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "tools/common/output_file.h"
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

/// Optimises the input up to some point and asks the command.
class PassBisection {
 public:
  PassBisection(const InputModule& input, const PassRunner& passes, TestCommand& test)
      : input_(input), passes_(passes), test_(test) {}

  struct Trial {
    std::unique_ptr<Module> module;
    std::vector<PassExecution> executions;
    std::vector<std::string> rewrites;  // of the last execution: `%a -> %b`
  };

  /// The module after `pass_limit` executions (-1: all), the last one making at most `rewrites` (-1: all).
  Result<Trial> Run(int64_t pass_limit, int64_t rewrites = -1) {
    Trial trial;
    trial.module = input_.module->Clone();
    RewriteControls controls = passes_.BaseControls();
    controls.on_rewrite = [&](llvm::StringRef, llvm::StringRef rule, const Instruction& before,
                              const Instruction& after) {
      trial.rewrites.push_back(
          llvm::formatv("{0}{1}%{2} -> %{3}", rule, rule.empty() ? "" : " ", before.name(), after.name()));
    };
    PassSelection selection = passes_.selection();
    selection.pass_limit = pass_limit;
    PassManager manager(controls, std::move(selection));
    LastExecution last(controls, trial.rewrites, pass_limit, rewrites);
    manager.AddObserver(last);
    HLO_CHECK_OK(manager.Run(*trial.module, passes_.pipeline()));
    trial.executions.assign(manager.executions().begin(), manager.executions().end());
    return trial;
  }

  Result<bool> Interesting(const Trial& trial) { return test_.Interesting(ReducedText(*trial.module)); }

  /// The least n in (low, high] for which `bad(n)` holds, given that it holds for `high` and not for `low`.
  static Result<int64_t> First(int64_t low, int64_t high, llvm::function_ref<Result<bool>(int64_t)> bad) {
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      HLO_TRY(const bool is_bad, bad(middle));
      (is_bad ? high : low) = middle;
    }
    return high;
  }

 private:
  /// Limits the rewrites of one execution.
  class LastExecution final : public PassObserver {
   public:
    LastExecution(RewriteControls& controls, std::vector<std::string>& rewrites, int64_t number,
                  int64_t limit)
        : controls_(controls), rewrites_(rewrites), number_(number), limit_(limit) {}
    Status BeforePass(const Module& module, const PassExecution& execution) override {
      (void)module;
      rewrites_.clear();
      if (execution.number == number_ && limit_ >= 0) controls_.fuel[execution.pass->name] = limit_;
      return {};
    }

   private:
    RewriteControls& controls_;
    std::vector<std::string>& rewrites_;
    int64_t number_, limit_;
  };

  const InputModule& input_;
  const PassRunner& passes_;
  TestCommand& test_;
};

}  // namespace

Status BisectPasses(const InputModule& input, const OptOptions& options, const PassRunner& passes,
                    DiagnosticSink& sink, llvm::raw_ostream& out) {
  if (!passes.active())
    return Error("usage-option", {}, "option '--bisect-passes' needs passes: --passes, -O or --platform=cpu");
  HLO_TRY(TestCommand test, MakeTest(options, options.bisect_passes));
  PassBisection bisection(input, passes, test);
  HLO_TRY(const auto none, bisection.Run(0));
  HLO_TRY(const bool none_bad, bisection.Interesting(none));
  HLO_TRY(const auto all, bisection.Run(-1));
  HLO_TRY(const bool all_bad, bisection.Interesting(all));
  if (none_bad || !all_bad)
    return Error("bisect-precondition", {},
                 "the {0} module is {1}interesting to '{2}'; expected the optimised one "
                 "to be and the unoptimised one not to be",
                 none_bad ? "unoptimised" : "optimised", none_bad ? "" : "not ", options.bisect_passes);
  const auto count = static_cast<int64_t>(all.executions.size());
  HLO_TRY(const int64_t culprit, PassBisection::First(0, count, [&](int64_t n) -> Result<bool> {
            sink.progress().Update(
                [&] { return llvm::formatv("bisecting: execution {0} of {1}", n, count).str(); });
            HLO_TRY(const auto trial, bisection.Run(n));
            return bisection.Interesting(trial);
          }));
  const PassExecution& execution = all.executions[static_cast<size_t>(culprit) - 1];
  HLO_TRY(const auto before, bisection.Run(culprit - 1));
  int64_t rewrite = 0;
  std::string what;
  if (execution.rewrites > 0) {
    // The limit counts the rewrites of all executions of the pass.
    int64_t earlier = 0;
    for (int64_t i = 0; i + 1 < culprit; ++i)
      if (all.executions[static_cast<size_t>(i)].pass == execution.pass)
        earlier += all.executions[static_cast<size_t>(i)].rewrites;
    HLO_TRY(rewrite, PassBisection::First(0, execution.rewrites, [&](int64_t n) -> Result<bool> {
              HLO_TRY(const auto trial, bisection.Run(culprit, n));
              return bisection.Interesting(trial);
            }));
    HLO_TRY(const auto trial, bisection.Run(culprit, rewrite));
    what = llvm::formatv(", rewrite {0} of {1}", rewrite, execution.rewrites).str();
    if (!trial.rewrites.empty()) what += ": " + trial.rewrites.back();
    rewrite += earlier;
  }
  HLO_TRY(const auto after, bisection.Run(culprit));
  const std::string number =
      std::string(4 - std::min<size_t>(4, std::to_string(culprit).size()), '0') + std::to_string(culprit);
  const std::string stem = "bisect/" + number;
  HLO_CHECK_OK(WriteFile(stem + ".before.hlo", ReducedText(*before.module), out));
  HLO_CHECK_OK(WriteFile(stem + ".after.hlo", ReducedText(*after.module), out));
  sink.progress().Erase();
  out << llvm::formatv("culprit: pass '{0}', execution {1} of {2}", execution.pass->name, culprit, count);
  if (!execution.pipeline.empty())
    out << llvm::formatv(" (pipeline '{0}', iteration {1})", execution.pipeline, execution.round);
  out << what << "\nsaved: " << stem << ".before.hlo " << stem
      << ".after.hlo    repeat: --pass-limit=" << culprit;
  if (rewrite > 0) out << " --rewrite-limit=" << execution.pass->name << '=' << rewrite;
  out << '\n';
  return {};
}

}  // namespace hlo
