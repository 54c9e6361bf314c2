// Running pipelines on the modules of hlo-opt (tools.md §2.1).
#pragma once
#include "backends/cpu/compile.h"
#include "tools/common/sink.h"
#include "tools/modules/inputs.h"
#include "tools/opt/options.h"

namespace hlo {

/// What becomes of modules behind their passes. Code for the CPU is made of what named passes leave by the
/// pipeline of the level; a module that is only looked at goes through one of both.
enum class PassUse : uint8_t { Show, Compile, CompileAheadOfTime };

/// What the passes of a run did.
struct PassRecord {
  std::vector<PassExecution> executions;
  std::vector<std::string> rewrites;  // of the last execution: `rule %a -> %b`
  /// If the first is positive: the execution that may rewrite no more than the second says.
  std::pair<int64_t, int64_t> last_rewrites = {0, 0};
};

/// What the options ask for, checked once: the pipeline, names, limits.
class PassRunner {
 public:
  /// Errors: usage-pass, usage-pipeline, usage-pass-option, usage-option, unavailable-feature.
  static Result<PassRunner> Make(const OptOptions& options, PassUse use = PassUse::Show,
                                 const CommandLine& command_line = {});

  /// True if modules are to be changed.
  [[nodiscard]] bool active() const { return !named_.empty() || !of_level_.empty(); }
  /// The passes of --passes.
  [[nodiscard]] llvm::ArrayRef<PipelineItem> named() const { return named_; }
  /// All that runs on a module. One that has been compiled already, or should be left alone, goes through the
  /// least that code needs; null: another.
  [[nodiscard]] std::vector<PipelineItem> PipelineOf(const Module* module) const;
  /// What makes code of `module` by all these passes, or without the named ones where they have run. Runner,
  /// input, sink and stream are used while code is made.
  CpuOptions CompileOptions(const Module& module, bool without_named, const InputModule& input,
                            DiagnosticSink& sink, llvm::raw_ostream& out);
  /// The same for each CPU of --mcpu, for code that has several versions.
  std::vector<CpuOptions> VersionsToCompile(const Module& module, bool without_named,
                                            const InputModule& input, DiagnosticSink& sink,
                                            llvm::raw_ostream& out);

  /// What passes are told of; null: that of the CPU.
  [[nodiscard]] const compile::Machine* machine() const { return machine_.get(); }
  [[nodiscard]] const PassSelection& selection() const { return selection_; }
  /// What the options allow rewrites, without observers.
  [[nodiscard]] RewriteControls BaseControls() const;

  /// Runs the pipeline on a module. Warnings go to the sink, texts and tables to its stream, dumps where they
  /// belong. A scheduled module is left alone with a remark unless --run-hlo-passes=always or passes are
  /// named. When a pass fails or breaks the module a reproducer is written and named in a note.
  Status Run(Module& module, const InputModule& input, DiagnosticSink& sink, llvm::raw_ostream& out);
  /// The same with these passes, whatever the module is.
  Status Run(Module& module, llvm::ArrayRef<PipelineItem> pipeline, const InputModule& input,
             DiagnosticSink& sink, llvm::raw_ostream& out);
  /// From now on what passes do goes there, too; null: nowhere else.
  void set_record(PassRecord* record) { record_ = record; }
  /// Writes the trace of all modules; warns of limits for passes that never ran.
  Status Finish(DiagnosticSink& sink, llvm::raw_ostream& out);

 private:
  PassRunner(const OptOptions& options, PassUse use)
      : options_(&options), use_(use), cpu_(llvm::StringRef(options.mcpu).split(',').first) {}
  [[nodiscard]] bool compiles() const { return use_ != PassUse::Show; }
  /// The pipeline of a level of the platform, for its code or for a module that is looked at.
  [[nodiscard]] std::string LevelName(int level) const;
  /// Somebody wants to see passes run.
  [[nodiscard]] bool Watches() const;
  /// The pipeline of the level does not run on it.
  [[nodiscard]] bool Leaves(const Module& module) const;
  Status ChoosePipeline();
  Status CheckNames();
  Status KeepRequired();
  Status SetLimits();
  static void ReportLeft(const Module& module, const InputModule& input, DiagnosticSink& sink);
  [[nodiscard]] RewriteControls Controls(const InputModule& input, DiagnosticSink& sink) const;
  [[nodiscard]] PassPrinter::Options PrinterOptions(const InputModule& input, DiagnosticSink& sink) const;

  const OptOptions* options_;
  PassUse use_;
  std::string cpu_;                                  // that code is being made for
  std::shared_ptr<const compile::Machine> machine_;  // null: that of the CPU
  std::vector<PipelineItem> named_, of_level_, least_;
  PassSelection selection_;
  std::vector<std::string> kept_;  // required passes that the options would leave out or limit
  llvm::StringMap<int64_t> fuel_, rule_limit_;
  DumpOptions dumps_;
  PassTrace trace_;
  llvm::StringSet<> executed_;  // passes, in any module
  int64_t modules_ = 0;
  PassRecord* record_ = nullptr;
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
  /// How often the module was verified.
  [[nodiscard]] int64_t verifications() const { return verifications_; }

 private:
  Status Check(const Module& module, const std::string& when);
  const PassManager& manager_;
  VerifyMode mode_;
  int64_t verifications_ = 0;
};

}  // namespace hlo
