#include "tools/opt/passes.h"

#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "passes/rules/rules.h"
#include "tools/common/output_file.h"
#include "tools/common/process.h"
#include "tools/common/shell_words.h"
#include "tools/opt/dump_options.h"

namespace hlo {
namespace {

/// Adds `NAME=N[,NAME=N]` to limits; `known` tells whether a name exists, under the name it returns.
Status AddLimits(llvm::ArrayRef<std::string> texts, llvm::StringRef option,
                 llvm::function_ref<Result<std::string>(llvm::StringRef)> known,
                 llvm::StringMap<int64_t>& limits) {
  for (const llvm::StringRef text : texts)
    for (const llvm::StringRef item : llvm::split(text, ',')) {
      const auto [name, number] = item.rsplit('=');
      int64_t limit = 0;
      if (number.getAsInteger(10, limit) || limit < 0)
        return Error("usage-option", {}, "option '--{0}': found '{1}', expected NAME=N", option, item);
      HLO_TRY(const std::string canonical, known(name));
      limits[canonical] = limit;
    }
  return {};
}

Result<std::string> KnownPass(llvm::StringRef name) {
  if (const PassInfo* pass = FindPass(name)) return pass->name.str();
  return Error(UnknownPass(name));
}

Result<std::string> KnownRule(llvm::StringRef name) {
  std::vector<llvm::StringRef> names;
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) names.push_back(entry.rule->name);
  if (llvm::is_contained(names, name)) return name.str();
  // Other tools put the pass before it.
  const llvm::StringRef own = name.drop_front(name.find_last_of("/:") + 1);
  const llvm::StringRef bare = own.starts_with("algsimp.") ? own.drop_front(8) : own;
  const std::string hint = llvm::is_contained(names, bare) ? llvm::formatv("did you mean '{0}'?", bare).str()
                                                           : DidYouMeanText(bare, names);
  Diagnostic error =
      MakeError("usage-pass", {}, "unknown rule '{0}'{1}{2}", name, hint.empty() ? "" : "; ", hint);
  error.Note("--debug-rewrites and --pass-stats print the names of rules that fire");
  return Error(std::move(error));
}

Status AddNames(const NameList& list, llvm::StringSet<>& names) {
  for (const std::string& name : list.items) {
    const PassInfo* pass = FindPass(name);
    const PipelineInfo* pipeline = pass ? nullptr : FindPipeline(name);
    if (!pass && !pipeline) return Error(UnknownPass(name));
    names.insert(pass ? pass->name : pipeline->name);
  }
  return {};
}

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
  for (Diagnostic& violation : Verify(module, options)) {
    if (violation.severity != Severity::Error) continue;
    violation.Note(when);
    return Error(std::move(violation));
  }
  return {};
}

Result<PassRunner> PassRunner::Make(const OptOptions& options, const CommandLine& command_line) {
  PassRunner runner(options);
  HLO_CHECK_OK(runner.ChoosePipeline());
  HLO_CHECK_OK(runner.CheckNames());
  HLO_CHECK_OK(runner.SetLimits());
  HLO_TRY(runner.dumps_, MakeDumpOptions(options, command_line));
  return runner;
}

Status PassRunner::ChoosePipeline() {
  const PassRunOptions& passes = options_->passes;
  for (const std::string& spec : passes.passes) {
    HLO_TRY(auto items, ParsePipeline(spec));
    for (PipelineItem& item : items) pipeline_.push_back(std::move(item));
  }
  if (passes.level && (*passes.level < 0 || *passes.level > 3))
    return Error("usage-option", {}, "option '-O': found {0}, expected 0 to 3", *passes.level);
  const bool cpu = options_->platform == OptPlatform::Cpu;
  if (!passes.passes.empty() || passes.run == RunPasses::Never || (!passes.level && !cpu)) return {};
  const std::string name = (cpu ? "cpu-O" : "O") + std::to_string(passes.level.value_or(2));
  HLO_TRY(pipeline_, ParsePipeline("@" + name));
  return {};
}

Status PassRunner::CheckNames() {
  const PassRunOptions& passes = options_->passes;
  HLO_CHECK_OK(AddNames(passes.disable_passes, selection_.disabled));
  HLO_CHECK_OK(AddNames(passes.enable_passes_only, selection_.enabled_only));
  if (!selection_.disabled.empty() && !selection_.enabled_only.empty())
    return Error("usage-option", {},
                 "options '--disable-passes' and '--enable-passes-only' exclude each other");
  if (!selection_.enabled_only.empty()) HLO_CHECK_OK(KeepRequired());
  for (const std::string& name : {passes.describe_pass, passes.start_from})
    if (!name.empty()) HLO_CHECK_OK(KnownPass(name));
  if (!passes.start_from.empty()) selection_.start_from = FindPass(passes.start_from)->name.str();
  for (const NameList* rules : {&passes.disable_rule, &passes.enable_rules_only})
    for (const std::string& rule : rules->items) HLO_CHECK_OK(KnownRule(rule));
  return {};
}

/// What the platform's lowest level runs is what its code generator cannot do without. Named passes are run
/// as they are named, and without platform there is no code to generate.
Status PassRunner::KeepRequired() {
  if (!options_->passes.passes.empty() || options_->platform == OptPlatform::None) return {};
  HLO_TRY(const auto legalising, ParsePipeline("@cpu-O0"));
  ForEachPass(legalising, [&](const PassInfo& pass) { selection_.required.insert(pass.name); });
  ForEachPass(pipeline_, [&](const PassInfo& pass) {
    if (selection_.required.contains(pass.name) && !selection_.enabled_only.contains(pass.name) &&
        !llvm::is_contained(kept_, pass.name))
      kept_.push_back(pass.name.str());
  });
  return {};
}

Status PassRunner::SetLimits() {
  const PassRunOptions& passes = options_->passes;
  if (passes.pass_limit < -1)
    return Error("usage-option", {}, "option '--pass-limit': found {0}, expected 0 or more",
                 passes.pass_limit);
  selection_.pass_limit = passes.pass_limit;
  HLO_CHECK_OK(AddLimits(passes.rewrite_limit, "rewrite-limit", KnownPass, fuel_));
  return AddLimits(passes.rule_limit, "rule-limit", KnownRule, rule_limit_);
}

RewriteControls PassRunner::BaseControls() const {
  const PassRunOptions& passes = options_->passes;
  RewriteControls controls;
  controls.policy = {passes.fast_math, passes.strict_fp, passes.deterministic};
  controls.fuel = fuel_;
  controls.rule_limit = rule_limit_;
  for (const std::string& rule : passes.disable_rule.items) controls.disabled_rules.insert(rule);
  for (const std::string& rule : passes.enable_rules_only.items) controls.enabled_rules.insert(rule);
  for (const std::string& thread : passes.execution_threads.items) controls.execution_threads.insert(thread);
  return controls;
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
  const PassRunOptions& passes = options_->passes;
  if (!active() && dumps_.to.empty()) return {};
  if (active() && module.config.is_scheduled && passes.passes.empty() && passes.run == RunPasses::Auto) {
    Diagnostic remark =
        MakeError("scheduled-module", {},
                  "the module is scheduled, so the pipeline is not run; --run-hlo-passes=always "
                  "runs it");
    remark.severity = Severity::Remark;
    remark.file = input.file;
    sink.Report(std::move(remark));
    return {};
  }
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
  VerifyObserver verifier(manager, options_->common.verify);
  PassPrinter printer(PrinterOptions(input, sink), sink.err());
  PassDumps dumps(dumps_, ++modules_, out);
  for (PassObserver* o : std::initializer_list<PassObserver*>{&phase, &printer, &dumps, &verifier, &failure})
    manager.AddObserver(*o);
  auto changed = manager.Run(module, pipeline_);
  if (passes.time_passes) PrintPassTimes(sink.err(), manager.executions());
  if (passes.pass_stats) PrintPassCounters(sink.err(), manager.executions());
  trace_.Add(module.name(), manager.executions());
  for (const PassExecution& e : manager.executions()) executed_.insert(e.pass->name);
  if (changed) return {};
  Diagnostic error = std::move(changed).error();
  const bool of_pass =
      error.id != "interrupted" && error.id != "limit-timeout" && !error.id.starts_with("output-");
  if (failure.failed && of_pass) {
    const std::string folder = WriteReproducer(input, pipeline_, selection_, Controls(input, sink),
                                               *failure.failed, passes.fast_math ? "--fast-math " : "");
    if (!folder.empty()) error.Note("reproducer: " + folder);
  }
  return Error(std::move(error));
}

Status PassRunner::Finish(DiagnosticSink& sink, llvm::raw_ostream& out) {
  for (const auto& limit : fuel_) {
    if (modules_ == 0 || executed_.contains(limit.first())) continue;
    Diagnostic warning =
        MakeError("limit-unused", {}, "option '--rewrite-limit': pass '{0}' was never run", limit.first());
    warning.severity = Severity::Warning;
    sink.Report(std::move(warning));
  }
  if (options_->passes.trace.empty()) return {};
  return WriteFile(options_->passes.trace, trace_.Json(), out);
}

}  // namespace hlo
