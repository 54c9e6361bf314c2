// soundness: checks every rule of algsimp on its cases in every element type (soundness.h).
//
//   soundness [--quick] [--rule=TEXT] [ROOT]
//   soundness --each-pass[=A,B] [--case=TEXT] [--every=N] [--from=K] [--strict] [ROOT]
//   soundness --each-prefix=PIPELINE [--case=TEXT] [--every=N] [--from=K] [--strict] [ROOT]
//   soundness --each-pass[=A,B] --modules=PATH,... [--execute [--strict]] [--every=N] [--from=K]
//
// ROOT is the source tree, the working directory if there is none. Prints a table; exits 1 if a rule changes
// more than its licence says or has no case in which it fires. --each-pass runs passes alone over the cases
// of the conformance suite whose names contain TEXT, or every N-th of them (each_pass.h), with --strict under
// --strict-fp and against the bits that the module gave before; with --modules over any modules, of which
// small ones are executed if --execute asks for it (pass_robustness.h). --each-prefix runs a pipeline over
// the suite and looks after every pass that changed something (each_prefix.h).
#include "tools/testing/soundness.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "tools/testing/each_pass.h"
#include "tools/testing/each_prefix.h"
#include "tools/testing/pass_robustness.h"

namespace {

int Usage() {
  llvm::errs()
      << "usage: soundness [--quick] [--rule=TEXT] [ROOT]\n"
         "       soundness --each-pass[=A,B] [--case=TEXT] [--every=N] [--from=K] [--strict] [ROOT]\n"
         "       soundness --each-prefix=PIPELINE [--case=TEXT] [--every=N] [--from=K] [--strict] [ROOT]\n"
         "       soundness --each-pass[=A,B] --modules=PATH,... [--execute [--strict]] [--every=N] "
         "[--from=K]\n";
  return 2;
}

int CheckPasses(const hlo::testing::EachPassOptions& options) {
  const auto reports = hlo::testing::CheckEachPass(options, llvm::outs());
  if (!reports) {
    llvm::errs() << reports.error().message << '\n';
    return 2;
  }
  int64_t runs = 0, changed = 0, failed = 0;
  llvm::outs() << llvm::formatv("{0,-40} {1,7} {2,8} {3,10} {4,8}\n", "pass", "cases", "changed",
                                "other bits", "failed");
  for (const auto& report : *reports) {
    llvm::outs() << llvm::formatv("{0,-40} {1,7} {2,8} {3,10} {4,8}\n", report.pass->name, report.cases,
                                  report.changed, report.other_bits, report.failures.size());
    runs += report.cases;
    changed += report.changed;
    failed += static_cast<int64_t>(report.failures.size());
  }
  llvm::outs() << llvm::formatv("{0} passes, {1} runs, {2} changed the module, {3} failed\n", reports->size(),
                                runs, changed, failed);
  return failed == 0 ? 0 : 1;
}

int CheckPrefixes(llvm::StringRef pipeline, const hlo::testing::EachPassOptions& options) {
  const auto report = hlo::testing::CheckEachPrefix(pipeline, options, llvm::outs());
  if (!report) {
    llvm::errs() << report.error().message << '\n';
    return 2;
  }
  llvm::outs() << llvm::formatv(
      "{0}: {1} cases, {2} executions of passes, {3} changed the module, {4} failed\n", pipeline,
      report->cases, report->executions, report->changed, report->failures.size());
  return report->failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  hlo::testing::SoundnessOptions options;
  options.root = ".";
  hlo::testing::EachPassOptions each;
  bool each_pass = false, execute = false;
  std::string pipeline;
  std::vector<std::string> modules;
  for (llvm::StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--strict") {
      each.strict = true;
    } else if (argument == "--execute") {
      execute = true;
    } else if (argument.consume_front("--rule=")) {
      options.filter = argument.str();
    } else if (argument.consume_front("--each-prefix=")) {
      pipeline = argument.str();
    } else if (argument.consume_front("--each-pass")) {
      each_pass = true;
      llvm::SmallVector<llvm::StringRef> names;
      if (argument.consume_front("=")) argument.split(names, ',');
      for (const llvm::StringRef name : names) each.passes.push_back(name.str());
    } else if (argument.consume_front("--modules=")) {
      each_pass = true;
      llvm::SmallVector<llvm::StringRef> names;
      argument.split(names, ',');
      for (const llvm::StringRef name : names) modules.push_back(name.str());
    } else if (argument.consume_front("--case=")) {
      each.filter = argument.str();
    } else if (argument.consume_front("--every=")) {
      if (argument.getAsInteger(10, each.every) || each.every < 1) return Usage();
    } else if (argument.consume_front("--from=")) {
      if (argument.getAsInteger(10, each.from) || each.from < 0) return Usage();
    } else if (argument.starts_with("-")) {
      return Usage();
    } else {
      options.root = argument.str();
    }
  }
  each.suite = options.root + "/testdata/conformance";
  if (!modules.empty()) {
    const auto problems = hlo::testing::CheckRobustness({.folders = modules,
                                                         .passes = each.passes,
                                                         .every = each.every,
                                                         .from = each.from,
                                                         .execute = execute,
                                                         .strict = each.strict},
                                                        llvm::outs());
    if (!problems) llvm::errs() << problems.error().message << '\n';
    return !problems ? 2 : *problems == 0 ? 0 : 1;
  }
  if (!pipeline.empty()) return CheckPrefixes(pipeline, each);
  if (each_pass) return CheckPasses(each);
  std::vector<std::string> problems;
  const auto reports = hlo::testing::CheckRules(options, problems);
  hlo::testing::PrintRuleTable(llvm::outs(), reports);
  for (const std::string& problem : problems) llvm::outs() << "problem: " << problem << '\n';
  const bool good =
      llvm::all_of(reports, [](const hlo::testing::RuleReport& r) { return r.sound() && r.checked(); });
  return good && problems.empty() ? 0 : 1;
}
