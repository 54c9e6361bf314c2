// What can be watched while passes run: texts, differences, times, a trace (tools.md §2.1 "Observation").
#pragma once
#include "ir/print.h"
#include "passes/pass_manager.h"
#include "tools/common/options.h"

namespace hlo {

enum class ChangedForm : uint8_t { Unset, Diff, Full };

/// Prints modules around passes, each headed `// *** after PASS (execution 7, changed)`.
class PassPrinter final : public PassObserver {
 public:
  struct Options {
    std::optional<Regex> before, after;  // names of passes
    bool after_all = false;
    ChangedForm changed = ChangedForm::Unset;
    PrintOptions print;
    bool color = false;
  };
  PassPrinter(Options options, llvm::raw_ostream& os) : options_(std::move(options)), os_(os) {}
  Status BeforePass(const Module& module, const PassExecution& execution) override;
  Status AfterPass(const Module& module, const PassExecution& execution) override;

 private:
  Options options_;
  llvm::raw_ostream& os_;
  std::string text_;  // of the module before the pass, for differences
};

/// `--time-passes` and `--pass-stats`: a table per module, passes by total time, or their counters.
/// `verifications`: how often a module was verified between passes.
void PrintPassTimes(llvm::raw_ostream& os, llvm::ArrayRef<PassExecution> executions, int64_t verifications);
void PrintPassCounters(llvm::raw_ostream& os, llvm::ArrayRef<PassExecution> executions);

/// `--trace`: Chrome's trace format, one complete event per execution; `executions` of several modules stand
/// in rows of their own.
class PassTrace {
 public:
  void Add(llvm::StringRef module, llvm::ArrayRef<PassExecution> executions);
  [[nodiscard]] std::string Json() const;

 private:
  struct Event {
    std::string module;
    int64_t row = 1;  // of the drawing, one per module
    PassExecution execution;
  };
  std::vector<Event> events_;
};

}  // namespace hlo
