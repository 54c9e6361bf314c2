// Checking the rules of algsimp by machine: every rule's cases, exchanged to every element type and executed
// before and after the rule on all values of narrow types and on special and random ones of wide types.
#pragma once
#include <set>

#include "passes/rewrite/rule.h"
#include "tools/testing/execution.h"
#include "tools/testing/test_file.h"

namespace hlo::testing {

struct SoundnessOptions {
  std::string root;    // of the source tree
  std::string filter;  // only rules whose name contains it
  bool quick = false;  // narrow types and fewer constants
};

/// What is known about one rule.
struct RuleReport {
  const Rule* rule = nullptr;
  int cases = 0;                        // with `// RULE: name`
  int fired = 0;                        // in which it fires as the case runs it
  int excused = 0;                      // of them not executed (NOEXEC)
  std::set<ElementType> types;          // in which it was executed
  std::set<ElementType> exhaustive;     // of them on all combinations of operands
  int64_t runs = 0, values = 0;         // executions, parts of elements compared
  int64_t float_mismatches = 0;         // that the licence allows
  int64_t violations = 0;               // that it does not
  std::vector<std::string> complaints;  // about cases, and the first violations
  /// The rule fires in some case, and some case is executed or all are excused.
  [[nodiscard]] bool checked() const { return fired > 0 && (runs > 0 || excused == fired); }
  [[nodiscard]] bool sound() const { return violations == 0; }
};

/// Reports about all rules, in table order. Cases that name unknown rules are in `problems`.
std::vector<RuleReport> CheckRules(const SoundnessOptions& options, std::vector<std::string>& problems);
void PrintRuleTable(llvm::raw_ostream& os, llvm::ArrayRef<RuleReport> reports);

}  // namespace hlo::testing
