#include "tools/testing/each_pass.h"

#include <map>
#include <mutex>

#include "ir/support/parallel.h"
#include "ir/verify.h"
#include "passes/pass_manager.h"
#include "tools/testing/conformance.h"
#include "tools/testing/execution.h"

namespace hlo::testing {
namespace {

/// What establishes a fact, in the order in which facts can be established.
struct Establisher {
  ModuleFacts fact;
  const char* pipeline;
};
constexpr Establisher kEstablishers[] = {
    {kCanonicalDots, "dot_decomposer"}, {kFlatCalls, "flatten-call-graph"},
    {kLayouts, "layout-assignment"},    {kFusions, "fusion"},
    {kCopies, "copy-insertion"},        {kSchedule, "hlo-memory-scheduler"},
    {kRowMajor, "row-major-layouts"},
};

}  // namespace

Result<std::vector<ConformanceCase>> SelectCases(const EachPassOptions& options) {
  HLO_TRY(std::vector<ConformanceCase> cases, ReadConformanceCases(options.suite));
  llvm::erase_if(cases,
                 [&](const ConformanceCase& c) { return !llvm::StringRef(c.name).contains(options.filter); });
  std::vector<ConformanceCase> selected;
  for (auto i = static_cast<size_t>(options.from); i < cases.size(); i += static_cast<size_t>(options.every))
    selected.push_back(std::move(cases[i]));
  return selected;
}

std::string OtherBits(llvm::ArrayRef<Literal> before, llvm::ArrayRef<Literal> after) {
  Differences differences;
  for (size_t d = 0; d < after.size(); ++d)
    Compare(before[d], after[d], /*changes=*/0, /*bounded=*/false, /*floats=*/false, differences);
  if (differences.mismatches == 0) return "";
  return llvm::formatv("{0} of {1} values have other bits: {2}", differences.mismatches, differences.values,
                       differences.first);
}

bool KeepsBits(const PassInfo& pass, bool strict) {
  return pass.licence.exact() || (strict && pass.licence.exact_if_strict());
}

Result<bool> RunPassesChecked(Module& module, llvm::StringRef spec, const RewritePolicy& policy) {
  HLO_TRY(const std::vector<PipelineItem> items, ParsePipeline(spec));
  RewriteControls controls;
  controls.policy = policy;
  PassManager manager(controls, {});
  manager.set_check_changed_flag(true);
  manager.set_verify_each(true);
  return manager.Run(module, items);
}

Status EstablishFacts(Module& module, ModuleFacts facts) {
  for (const auto& [fact, pipeline] : kEstablishers) {
    if (!(facts & fact)) continue;
    if (const auto changed = RunPassesChecked(module, pipeline); !changed)
      return Decline({}, "'{0}' before it: {1}", pipeline, changed.error().message);
  }
  return {};
}

namespace {

/// One case: what modules it became, and the verdict on each.
class CaseCheck {
 public:
  CaseCheck(const ConformanceCase& conformance_case, const LoadedCase& loaded, bool strict)
      : case_(conformance_case), loaded_(loaded), strict_(strict) {}

  struct Verdict {
    bool other_bits = false;
    std::string failure;
  };
  struct Outcome {
    bool changed = false;
    Verdict verdict;
  };
  Outcome Run(const PassInfo& pass) {
    const Prepared& prepared = Prepare(pass.requires_facts);
    if (!prepared.module) return {true, {false, prepared.failure}};
    const std::unique_ptr<Module> module = prepared.module->Clone();
    const auto changed = RunPassesChecked(*module, pass.name, {.strict_fp = strict_});
    if (!changed) return {true, {false, changed.error().message}};
    const uint64_t fingerprint = Fingerprint(*module);
    if (fingerprint == prepared.fingerprint && !*changed) return {};
    const bool same_bits = KeepsBits(pass, strict_);
    const auto [verdict, fresh] = verdicts_.try_emplace({fingerprint, same_bits});
    if (fresh) verdict->second = Judge(*module, same_bits);
    return {true, verdict->second};
  }

 private:
  struct Prepared {
    std::unique_ptr<Module> module;
    uint64_t fingerprint = 0;
    std::string failure;
  };
  const Prepared& Prepare(ModuleFacts facts) {
    const auto [entry, fresh] = prepared_.try_emplace(facts);
    Prepared& prepared = entry->second;
    if (!fresh) return prepared;
    prepared.module = loaded_.module->Clone();
    if (const Status established = EstablishFacts(*prepared.module, facts); !established) {
      prepared.failure = established.error().message;
      prepared.module.reset();
      return prepared;
    }
    prepared.fingerprint = Fingerprint(*prepared.module);
    return prepared;
  }

  Verdict Judge(const Module& module, bool same_bits) {
    const std::vector<Diagnostic> violations = Verify(module);
    for (const Diagnostic& violation : violations)
      if (violation.severity == Severity::Error) return {false, "not valid: " + violation.message};
    const auto result = Execute(module, loaded_.arguments);
    if (!result) return {false, "fails: " + result.error().message};
    std::string bits = JudgeBits(result->results);
    if (same_bits) return {false, std::move(bits)};
    return {!bits.empty(), JudgeResults(case_, loaded_, result->results)};
  }

  /// Against what the module gives before any pass.
  std::string JudgeBits(llvm::ArrayRef<Literal> results) {
    if (!before_) before_ = Execute(*loaded_.module, loaded_.arguments);
    if (!*before_) return "fails before: " + before_->error().message;
    return OtherBits((*before_)->results, results);
  }

  const ConformanceCase& case_;
  const LoadedCase& loaded_;
  bool strict_;
  std::optional<Result<ExecutionResult>> before_;
  std::map<ModuleFacts, Prepared> prepared_;
  std::map<std::pair<uint64_t, bool>, Verdict> verdicts_;  // by fingerprint, and whether bits count
};

Result<std::vector<EachPassReport>> SelectPasses(llvm::ArrayRef<std::string> names) {
  std::vector<EachPassReport> reports;
  for (const PassInfo& pass : AllPasses())
    if (names.empty()) reports.emplace_back().pass = &pass;
  for (const std::string& name : names) {
    const PassInfo* pass = FindPass(name);
    if (!pass) return Error(UnknownPass(name));
    reports.emplace_back().pass = pass;
  }
  return reports;
}

}  // namespace

Result<std::vector<EachPassReport>> CheckEachPass(const EachPassOptions& options, llvm::raw_ostream& os) {
  HLO_TRY(std::vector<EachPassReport> reports, SelectPasses(options.passes));
  HLO_TRY(const std::vector<ConformanceCase> cases, SelectCases(options));
  std::mutex mutex;
  auto record = [&](EachPassReport& report, const ConformanceCase& c, const CaseCheck::Outcome& outcome) {
    const std::lock_guard lock(mutex);
    ++report.cases;
    report.changed += outcome.changed;
    const std::string& failure = outcome.verdict.failure;
    report.other_bits += outcome.verdict.other_bits && failure.empty();
    if (failure.empty()) return;
    report.failures.push_back(c.name + ": " + failure);
    os << "FAIL " << report.pass->name << " " << report.failures.back() << '\n';
    os.flush();
  };
  ParallelFor(0, static_cast<int64_t>(cases.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ConformanceCase& c = cases[static_cast<size_t>(i)];
      const auto loaded = LoadCase(c);
      if (!loaded) {
        record(reports.front(), c, {false, {false, loaded.error().message}});
        continue;
      }
      CaseCheck check(c, *loaded, options.strict);
      for (EachPassReport& report : reports) record(report, c, check.Run(*report.pass));
    }
  });
  return reports;
}

}  // namespace hlo::testing
