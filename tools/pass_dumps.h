// Dumps between passes under XLA's file names (passes.md §1.6).
#pragma once
#include "ir/print.h"
#include "passes/pass_manager.h"
#include "tools/options.h"

namespace hlo {

enum class DumpForm : uint8_t { Text, Json, Proto, Dot, Html };

struct DumpOptions {
  std::string to;                         // folder; `-`: standard output; empty: no dumps
  std::optional<Regex> pass;              // around these; none without
  std::optional<Regex> pipeline, module;  // restrict; all without
  bool unchanged = false;                 // also steps that changed nothing
  bool timestamp = false;                 // microseconds since 1970 in front of every name
  int64_t max_modules = -1;               // dumps per module and run at most so many; -1: all
  DumpForm form = DumpForm::Text;
  PrintOptions print;
  std::string stem = "";  // `cpu_` of `cpu_after_optimizations`
};

/// Writes a module before and after the pipeline and around the passes that --dump-pass-re selects. A dump
/// between two passes is named after both, so it is written when the second one starts.
class PassDumps final : public PassObserver {
 public:
  /// `number`: of the module in the run, from 1.
  PassDumps(const DumpOptions& options, int64_t number, llvm::raw_ostream& standard_output)
      : options_(options), number_(number), standard_output_(standard_output) {}
  Status BeforePipeline(const Module& module) override;
  Status BeforePass(const Module& module, const PassExecution& execution) override;
  Status AfterPass(const Module& module, const PassExecution& execution) override;
  Status AfterPipeline(const Module& module) override;

 private:
  Status Between(const Module& module, llvm::StringRef next, const std::string& pipeline);
  Status Write(const Module& module, const std::string& suffix);
  [[nodiscard]] bool Wanted(const Module& module) const;

  const DumpOptions& options_;
  int64_t number_;
  llvm::raw_ostream& standard_output_;
  int64_t step_ = 0, written_ = 0;
  std::string last_pass_ = "pipeline-start", last_pipeline_;
  bool last_changed_ = true;
};

}  // namespace hlo
