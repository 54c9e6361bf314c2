#include "tools/opt/bisection.h"

namespace hlo {
namespace {

/// The least n in (low, high] for which `bad(n)` holds, given that it holds for `high` and not for `low`.
Result<int64_t> First(int64_t low, int64_t high, llvm::function_ref<Result<bool>(int64_t)> bad) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    HLO_TRY(const bool is_bad, bad(middle));
    (is_bad ? high : low) = middle;
  }
  return high;
}

}  // namespace

Result<PassCulprit> FindCulprit(const TryPasses& attempt, const std::string& bad,
                                const std::function<void(int64_t execution, int64_t count)>& progress) {
  HLO_TRY(const PassTrial none, attempt(0, -1));
  HLO_TRY(const PassTrial all, attempt(-1, -1));
  if (none.bad || !all.bad)
    return Error(
        "bisect-precondition", {},
        "the {0} module is {1}{2}; expected the optimised one to be and the unoptimised one not to be",
        none.bad ? "unoptimised" : "optimised", none.bad ? "" : "not ", bad);
  PassCulprit culprit;
  culprit.count = static_cast<int64_t>(all.executions.size());
  HLO_TRY(const int64_t number, First(0, culprit.count, [&](int64_t n) -> Result<bool> {
            progress(n, culprit.count);
            HLO_TRY(const PassTrial trial, attempt(n, -1));
            return trial.bad;
          }));
  culprit.execution = all.executions[static_cast<size_t>(number) - 1];
  if (culprit.execution.rewrites == 0) return culprit;
  // The limit counts the rewrites of all executions of the pass.
  int64_t earlier = 0;
  for (int64_t i = 0; i + 1 < number; ++i)
    if (const PassExecution& before = all.executions[static_cast<size_t>(i)];
        before.pass == culprit.execution.pass)
      earlier += before.rewrites;
  HLO_TRY(culprit.rewrite, First(0, culprit.execution.rewrites, [&](int64_t n) -> Result<bool> {
            HLO_TRY(const PassTrial trial, attempt(number, n));
            return trial.bad;
          }));
  HLO_TRY(const PassTrial last, attempt(number, culprit.rewrite));
  if (!last.rewrites.empty()) culprit.text = last.rewrites.back();
  culprit.rewrites_of_pass = earlier + culprit.rewrite;
  return culprit;
}

std::string CulpritText(const PassCulprit& culprit) {
  const PassExecution& execution = culprit.execution;
  std::string text = llvm::formatv("culprit: pass '{0}', execution {1} of {2}", execution.pass->name,
                                   execution.number, culprit.count)
                         .str();
  if (!execution.pipeline.empty())
    text += llvm::formatv(" (pipeline '{0}', iteration {1})", execution.pipeline, execution.round).str();
  if (culprit.rewrite > 0)
    text += llvm::formatv(", rewrite {0} of {1}", culprit.rewrite, execution.rewrites).str();
  if (!culprit.text.empty()) text += ": " + culprit.text;
  return text;
}

std::string RepeatText(const PassCulprit& culprit) {
  std::string text = "--pass-limit=" + std::to_string(culprit.execution.number);
  if (culprit.rewrite > 0)
    text += llvm::formatv(" --rewrite-limit={0}={1}", culprit.execution.pass->name, culprit.rewrites_of_pass)
                .str();
  return text;
}

}  // namespace hlo
