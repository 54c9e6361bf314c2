// Running the passes of one module, watched as the options ask for.
#include "backends/compile/kernel_config.h"
#include "backends/cpu/compile.h"
#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "tools/common/output_file.h"
#include "tools/common/process.h"
#include "tools/common/shell_words.h"
#include "tools/opt/passes.h"

namespace hlo {
namespace {

/// Tells crash reports which pass runs.
class PhaseObserver final : public PassObserver {
 public:
  Status BeforePass(const Module& module, const PassExecution& execution) override {
    (void)module;
    text_ = llvm::formatv("running pass '{0}' (execution {1})", execution.pass->name, execution.number).str();
    SetCrashPhase(text_.c_str());
    return {};
  }
  ~PhaseObserver() override { SetCrashPhase("running passes"); }

 private:
  std::string text_;
};

/// A folder with the module before the pass that failed and a script that repeats this one step. The module
/// is made again from its text, as everything up to there is reproducible.
std::string WriteReproducer(const InputModule& input, llvm::ArrayRef<PipelineItem> pipeline,
                            PassSelection selection, RewriteControls controls, const PassExecution& failed,
                            llvm::StringRef options) {
  if (!input.source) return "";
  ParseResult parsed = ParseModule(
      std::make_shared<SourceBuffer>(input.file, input.source->text().slice(input.begin, input.end).str()));
  if (!parsed.module) return "";
  selection.pass_limit = failed.number - 1;
  controls.report = nullptr;
  controls.on_rewrite = nullptr;
  PassManager manager(controls, std::move(selection));
  if (!manager.Run(*parsed.module, pipeline)) return "";
  PrintOptions print = PrintOptions::ModuleDump();
  print.max_constant_elements = -1;
  const std::string spec = PipelineText(llvm::ArrayRef(*failed.item));
  const std::string script =
      llvm::formatv(
          "#!/bin/sh\n# hlo-opt {0}: pass '{1}' failed\ncd \"$(dirname \"$0\")\" && exec "
          "${{HLO_OPT:-hlo-opt} --passes={2} {3}module.hlo\n",
          HLO_VERSION, failed.pass->name, ShellWord(spec), options)
          .str();
  std::string folder = ReproducerFolder();
  if (!WriteFile(folder + "/module.hlo", ToString(*parsed.module, print) + "\n", llvm::nulls()) ||
      !WriteFile(folder + "/run.sh", script, llvm::nulls()))
    return "";
  // A shell can run it in any case.
  [[maybe_unused]] const std::error_code error = llvm::sys::fs::setPermissions(
      folder + "/run.sh",
      llvm::sys::fs::perms::all_read | llvm::sys::fs::perms::all_exe | llvm::sys::fs::perms::owner_write);
  return folder;
}

/// Remembers the execution that failed.
class FailureObserver final : public PassObserver {
 public:
  void OnFailure(const Module& module, const PassExecution& execution) override {
    (void)module;
    failed = execution;
  }
  std::optional<PassExecution> failed;
};

/// Writes down what the last execution rewrites, and limits one.
class RecordObserver final : public PassObserver {
 public:
  RecordObserver(PassRecord* record, RewriteControls& controls) : record_(record), controls_(controls) {
    if (record == nullptr) return;
    controls.on_rewrite = [this](llvm::StringRef, llvm::StringRef rule, const Instruction& before,
                                 const Instruction& after) {
      if (!over_)
        record_->rewrites.push_back(
            llvm::formatv("{0}{1}%{2} -> %{3}", rule, rule.empty() ? "" : " ", before.name(), after.name()));
    };
  }
  Status BeforePass(const Module& module, const PassExecution& execution) override {
    (void)module;
    if (record_ == nullptr) return {};
    const auto [number, limit] = record_->last_rewrites;
    if (execution.number == number) controls_.fuel[execution.pass->name] = limit;
    // Required passes run behind it, too.
    over_ = number > 0 && execution.number > number;
    if (!over_) record_->rewrites.clear();
    return {};
  }
  Status AfterPass(const Module& module, const PassExecution& execution) override {
    (void)module;
    if (record_ != nullptr) record_->executions.push_back(execution);
    return {};
  }

 private:
  PassRecord* record_;
  RewriteControls& controls_;
  bool over_ = false;
};

}  // namespace

Status VerifyObserver::AfterPass(const Module& module, const PassExecution& execution) {
  if (mode_ != VerifyMode::Each || !execution.changed) return {};
  return Check(
      module,
      llvm::formatv("found after pass '{0}' (execution {1})", execution.pass->name, execution.number).str());
}

Status VerifyObserver::AfterPipeline(const Module& module) {
  return mode_ == VerifyMode::Final ? Check(module, "found after the last pass") : Status();
}

Status VerifyObserver::Check(const Module& module, const std::string& when) {
  VerifyOptions options;
  options.makers = manager_.makers();
  ++verifications_;
  for (Diagnostic& violation : Verify(module, options)) {
    if (violation.severity != Severity::Error) continue;
    violation.Note(when);
    return Error(std::move(violation));
  }
  return {};
}

RewriteControls PassRunner::Controls(const InputModule& input, DiagnosticSink& sink) const {
  RewriteControls controls = BaseControls();
  controls.report = [&](Diagnostic d) {
    if (!d.loc.valid() && d.file.empty()) d.file = input.file;
    sink.Report(std::move(d));
  };
  if (options_->passes.debug_rewrites)
    controls.on_rewrite = [&](llvm::StringRef pass, llvm::StringRef rule, const Instruction& before,
                              const Instruction& after) {
      sink.err() << "// rewrite " << pass << (rule.empty() ? "" : " ") << rule;
      if (before.loc().valid())
        sink.err() << " at line " << FindLineColumn(*before.loc().source, before.loc().begin).line;
      sink.err() << ":\n//   " << ToString(before) << "\n//   -> " << ToString(after) << '\n';
    };
  return controls;
}

PassPrinter::Options PassRunner::PrinterOptions(const InputModule& input, DiagnosticSink& sink) const {
  (void)input;
  const PassRunOptions& passes = options_->passes;
  PassPrinter::Options printer;
  printer.before = passes.print_before;
  printer.after = passes.print_after;
  printer.after_all = passes.print_after_all;
  printer.changed = passes.print_changed;
  printer.print = MakePrintOptions(*options_, sink.err().is_displayed());
  printer.color = UseColor(options_->common.color, sink.err());
  return printer;
}

Status PassRunner::Run(Module& module, const InputModule& input, DiagnosticSink& sink,
                       llvm::raw_ostream& out) {
  if (!active() && dumps_.to.empty()) return {};
  if (active() && Leaves(module)) {
    ReportLeft(module, input, sink);
    return {};
  }
  return Run(module, PipelineOf(&module), input, sink, out);
}

std::vector<CpuOptions> PassRunner::VersionsToCompile(const Module& module, bool without_named,
                                                      const InputModule& input, DiagnosticSink& sink,
                                                      llvm::raw_ostream& out) {
  const CpuOptions common = CompileOptions(module, without_named, input, sink, out);
  std::vector<CpuOptions> versions;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(options_->mcpu).split(names, ',');
  for (const llvm::StringRef name : names) {
    CpuOptions& version = versions.emplace_back(common);
    version.cpu = version.controls.cpu = name.str();
    version.run_passes = [this, run = common.run_passes, cpu = name.str()](
                             Module& copy, llvm::ArrayRef<PipelineItem> pipeline) {
      cpu_ = cpu;
      return run(copy, pipeline);
    };
  }
  return versions;
}

CpuOptions PassRunner::CompileOptions(const Module& module, bool without_named, const InputModule& input,
                                      DiagnosticSink& sink, llvm::raw_ostream& out) {
  CpuOptions cpu;
  cpu.optimization_level = static_cast<int>(options_->passes.level.value_or(2));
  cpu.selection = selection_;
  cpu.controls = BaseControls();
  cpu.cpu = options_->mcpu;
  cpu.features = options_->mattr;
  cpu.pipeline = PipelineOf(&module);
  if (without_named) cpu.pipeline.erase(cpu.pipeline.begin(), cpu.pipeline.begin() + named_.size());
  cpu.watched = Watches();
  cpu.run_passes = [this, &input, &sink, &out](Module& copy, llvm::ArrayRef<PipelineItem> pipeline) {
    return Run(copy, pipeline, input, sink, out);
  };
  if (named_.empty() && !input.program.exists() && Leaves(module)) ReportLeft(module, input, sink);
  return cpu;
}

void PassRunner::ReportLeft(const Module& module, const InputModule& input, DiagnosticSink& sink) {
  Diagnostic remark =
      MakeError("scheduled-module", {},
                "the module is {0}, so the pipeline is not run; --run-hlo-passes=always runs it",
                compile::IsCompiled(module) ? "compiled already" : "scheduled");
  remark.severity = Severity::Remark;
  remark.file = input.file;
  sink.Report(std::move(remark));
}

Status PassRunner::Run(Module& module, llvm::ArrayRef<PipelineItem> pipeline, const InputModule& input,
                       DiagnosticSink& sink, llvm::raw_ostream& out) {
  const PassRunOptions& passes = options_->passes;
  if (!kept_.empty() && modules_ == 0) {
    Diagnostic remark = MakeError("passes-kept", {}, "passes that the platform cannot do without stay: {0}",
                                  llvm::join(kept_, ", "));
    remark.severity = Severity::Remark;
    sink.Report(std::move(remark));
  }
  RewriteControls controls = Controls(input, sink);
  PassManager manager(controls, selection_);
#ifndef NDEBUG
  manager.set_check_changed_flag(true);
#endif
  PhaseObserver phase;
  FailureObserver failure;
  // Code is made of what the passes leave, whichever they are.
  const VerifyMode verify = options_->common.verify;
  const bool at_end = compiles() && !named_.empty() && verify == VerifyMode::Input;
  VerifyObserver verifier(manager, at_end ? VerifyMode::Final : verify);
  PassPrinter printer(PrinterOptions(input, sink), sink.err());
  PassDumps dumps(dumps_, ++modules_, out);
  RecordObserver record(record_, controls);
  for (PassObserver* o :
       std::initializer_list<PassObserver*>{&phase, &printer, &dumps, &record, &verifier, &failure})
    manager.AddObserver(*o);
  auto changed = manager.Run(module, pipeline);
  if (passes.time_passes) PrintPassTimes(sink.err(), manager.executions(), verifier.verifications());
  if (passes.pass_stats) PrintPassCounters(sink.err(), manager.executions());
  trace_.Add(module.name(), manager.executions());
  for (const PassExecution& e : manager.executions()) executed_.insert(e.pass->name);
  if (changed) return {};
  Diagnostic error = std::move(changed).error();
  const bool of_pass =
      error.id != "interrupted" && error.id != "limit-timeout" && !error.id.starts_with("output-");
  if (failure.failed && of_pass) {
    const std::string folder = WriteReproducer(input, pipeline, selection_, Controls(input, sink),
                                               *failure.failed, passes.fast_math ? "--fast-math " : "");
    if (!folder.empty()) error.Note("reproducer: " + folder);
  }
  return Error(std::move(error));
}

}  // namespace hlo
