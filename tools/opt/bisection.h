// Which pass execution, and which of its rewrites, makes a test fail (tools.md §2.5).
#pragma once
#include <functional>

#include "passes/pass_manager.h"

namespace hlo {

/// Passes run up to some point, and what came of it.
struct PassTrial {
  bool bad = false;
  std::vector<PassExecution> executions;
  std::vector<std::string> rewrites;  // of the last execution: `rule %a -> %b`
};
/// Runs the first `executions` pass executions (-1: all), the last of them with at most `rewrites` rewrites
/// (-1: all).
using TryPasses = std::function<Result<PassTrial>(int64_t executions, int64_t rewrites)>;

struct PassCulprit {
  PassExecution execution;
  int64_t count = 0;             // executions in all
  int64_t rewrite = 0;           // from 1; 0: the execution makes none that can be told apart
  int64_t rewrites_of_pass = 0;  // up to it, those of earlier executions included: what --rewrite-limit takes
  std::string text;              // of the rewrite; may be empty
};

/// The first execution and rewrite from which on the test fails, given that all passes make it fail and none
/// do not: error bisect-precondition otherwise. `bad`: what such a module is called, as `interesting to
/// 'CMD'`. `progress` is told where the search is.
Result<PassCulprit> FindCulprit(const TryPasses& attempt, const std::string& bad,
                                const std::function<void(int64_t execution, int64_t count)>& progress);

/// `culprit: pass 'algsimp', execution 31 of 87 (pipeline 'simplify/fix', iteration 2), rewrite 4 of 9: %a ->
/// %b`.
std::string CulpritText(const PassCulprit& culprit);
/// `--pass-limit=31 --rewrite-limit=algsimp=4`: the options that run up to and with the culprit.
std::string RepeatText(const PassCulprit& culprit);

}  // namespace hlo
