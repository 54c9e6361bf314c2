#include "tools/testing/each_prefix.h"

#include <mutex>

#include "ir/support/parallel.h"
#include "ir/verify.h"
#include "passes/pass_manager.h"
#include "tools/testing/execution.h"

namespace hlo::testing {
namespace {

/// Stops a run after the first pass that it finds fault with.
class PrefixJudge : public PassObserver {
 public:
  PrefixJudge(const ConformanceCase& conformance_case, const LoadedCase& loaded, bool strict)
      : case_(conformance_case), loaded_(loaded), strict_(strict) {}

  int64_t executions = 0, changed = 0;

  Status AfterPass(const Module& module, const PassExecution& execution) override {
    ++executions;
    if (!execution.changed) return {};
    ++changed;
    const std::string wrong = Judge(module, *execution.pass);
    if (wrong.empty()) return {};
    return Decline({}, "after '{0}' (execution {1}, in {2}): {3}", execution.pass->name, execution.number,
                   execution.pipeline, wrong);
  }

  /// What the module gives before any pass, for the first of them to keep.
  Status Begin() {
    HLO_TRY(before_, Execute(*loaded_.module, loaded_.arguments));
    return {};
  }

 private:
  std::string Judge(const Module& module, const PassInfo& pass) {
    for (const Diagnostic& violation : Verify(module))
      if (violation.severity == Severity::Error) return "not valid: " + violation.message;
    auto result = Execute(module, loaded_.arguments);
    if (!result) return "fails: " + result.error().message;
    std::string wrong = JudgeResults(case_, loaded_, result->results);
    if (wrong.empty() && KeepsBits(pass, strict_)) wrong = OtherBits(before_.results, result->results);
    before_ = std::move(*result);
    return wrong;
  }

  const ConformanceCase& case_;
  const LoadedCase& loaded_;
  bool strict_;
  ExecutionResult before_;
};

/// What is wrong with one case, or nothing; counts what ran.
Status CheckCase(const ConformanceCase& conformance_case, llvm::ArrayRef<PipelineItem> items, bool strict,
                 EachPrefixReport& counts) {
  HLO_TRY(const LoadedCase loaded, LoadCase(conformance_case));
  PrefixJudge judge(conformance_case, loaded, strict);
  HLO_CHECK_OK(judge.Begin());
  RewriteControls controls;
  controls.policy.strict_fp = strict;
  PassManager manager(controls, {});
  manager.AddObserver(judge);
  const std::unique_ptr<Module> module = loaded.module->Clone();
  const auto changed = manager.Run(*module, items);
  counts.executions += judge.executions;
  counts.changed += judge.changed;
  if (!changed) return Error(changed.error());
  return {};
}

}  // namespace

Result<EachPrefixReport> CheckEachPrefix(llvm::StringRef pipeline, const EachPassOptions& options,
                                         llvm::raw_ostream& os) {
  HLO_TRY(const std::vector<PipelineItem> items, ParsePipeline(pipeline));
  HLO_TRY(const std::vector<ConformanceCase> cases, SelectCases(options));
  EachPrefixReport report;
  std::mutex mutex;
  ParallelFor(0, static_cast<int64_t>(cases.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ConformanceCase& c = cases[static_cast<size_t>(i)];
      EachPrefixReport counts;
      const Status status = CheckCase(c, items, options.strict, counts);
      const std::lock_guard lock(mutex);
      ++report.cases;
      report.executions += counts.executions;
      report.changed += counts.changed;
      if (status) continue;
      report.failures.push_back(c.name + ": " + status.error().message);
      os << "FAIL " << report.failures.back() << '\n';
      os.flush();
    }
  });
  return report;
}

}  // namespace hlo::testing
