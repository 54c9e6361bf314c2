// Running pipelines on the modules of hlo-opt (tools.md §2.1).
#pragma once
#include "tools/common/sink.h"
#include "tools/modules/inputs.h"
#include "tools/opt/options.h"

namespace hlo {

/// What the options ask for, checked once: the pipeline, names, limits.
class PassRunner {
 public:
  /// Errors: usage-pass, usage-pipeline, usage-pass-option, usage-option, unavailable-feature.
  static Result<PassRunner> Make(const OptOptions& options, const CommandLine& command_line = {});

  /// True if modules are to be changed.
  [[nodiscard]] bool active() const { return !pipeline_.empty(); }
  [[nodiscard]] llvm::ArrayRef<PipelineItem> pipeline() const { return pipeline_; }

  [[nodiscard]] const PassSelection& selection() const { return selection_; }
  /// What the options allow rewrites, without observers.
  [[nodiscard]] RewriteControls BaseControls() const;

  /// Runs the pipeline on a module. Warnings go to the sink, texts and tables to its stream, dumps where they
  /// belong. A scheduled module is left alone with a remark unless --run-hlo-passes=always or passes are
  /// named. When a pass fails or breaks the module a reproducer is written and named in a note.
  Status Run(Module& module, const InputModule& input, DiagnosticSink& sink, llvm::raw_ostream& out);
  /// Writes the trace of all modules; warns of limits for passes that never ran.
  Status Finish(DiagnosticSink& sink, llvm::raw_ostream& out);

 private:
  explicit PassRunner(const OptOptions& options) : options_(&options) {}
  Status ChoosePipeline();
  Status CheckNames();
  Status KeepRequired();
  Status SetLimits();
  [[nodiscard]] RewriteControls Controls(const InputModule& input, DiagnosticSink& sink) const;
  [[nodiscard]] PassPrinter::Options PrinterOptions(const InputModule& input, DiagnosticSink& sink) const;

  const OptOptions* options_;
  std::vector<PipelineItem> pipeline_;
  PassSelection selection_;
  std::vector<std::string> kept_;  // passes that --enable-passes-only does not name but legality needs
  llvm::StringMap<int64_t> fuel_, rule_limit_;
  DumpOptions dumps_;
  PassTrace trace_;
  llvm::StringSet<> executed_;  // passes, in any module
  int64_t modules_ = 0;
};

/// Copy insertion and a schedule for a module that has none; verified as wanted.
Status MakeSchedule(Module& module, VerifyMode verify, DiagnosticSink& sink);

/// Does what a stage needs after all passes: copies and a schedule where the module has none yet.
Status PrepareStage(Module& module, OptStage stage, const OptOptions& options, DiagnosticSink& sink);

/// --list-passes, --list-pipelines, --describe-pass.
void ListPasses(llvm::raw_ostream& os, ListForm form);
void ListPipelines(llvm::raw_ostream& os);
void DescribePass(llvm::raw_ostream& os, const PassInfo& pass);

/// Verifies what passes change, naming pass and instruction.
class VerifyObserver final : public PassObserver {
 public:
  VerifyObserver(const PassManager& manager, VerifyMode mode) : manager_(manager), mode_(mode) {}
  Status AfterPass(const Module& module, const PassExecution& execution) override;
  Status AfterPipeline(const Module& module) override;

 private:
  Status Check(const Module& module, const std::string& when);
  const PassManager& manager_;
  VerifyMode mode_;
};

}  // namespace hlo
