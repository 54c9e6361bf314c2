#include "tools/opt/passes.h"

#include "backends/compile/kernel_config.h"
#include "backends/cpu/compile.h"
#include "backends/gpu/passes/passes.h"
#include "backends/gpu/target/target.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/rules/rules.h"
#include "tools/common/output_file.h"
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

}  // namespace

Result<PassRunner> PassRunner::Make(const OptOptions& options, PassUse use, const CommandLine& command_line) {
  PassRunner runner(options, use);
  if (options.platform == OptPlatform::Gpu) {
    HLO_TRY(const gpu::Target target, gpu::FindTarget(options.gpu_target));
    runner.machine_ = std::make_shared<const compile::Machine>(gpu::MachineOf(target));
  }
  HLO_CHECK_OK(runner.ChoosePipeline());
  HLO_CHECK_OK(runner.CheckNames());
  HLO_CHECK_OK(runner.SetLimits());
  HLO_CHECK_OK(runner.KeepRequired());
  HLO_TRY(runner.dumps_, MakeDumpOptions(options, command_line));
  return runner;
}

Status PassRunner::ChoosePipeline() {
  const PassRunOptions& passes = options_->passes;
  for (const std::string& spec : passes.passes) {
    HLO_TRY(auto items, ParsePipeline(spec));
    for (PipelineItem& item : items) named_.push_back(std::move(item));
  }
  if (passes.level && (*passes.level < 0 || *passes.level > 3))
    return Error("usage-option", {}, "option '-O': found {0}, expected 0 to 3", *passes.level);
  const int level = static_cast<int>(passes.level.value_or(2));
  if (compiles()) {
    HLO_TRY(of_level_, ParsePipeline(LevelName(level)));
    HLO_TRY(least_, ParsePipeline(LevelName(0)));
    return {};
  }
  const bool none = options_->platform == OptPlatform::None;
  if (!named_.empty() || passes.run == RunPasses::Never || (!passes.level && none)) return {};
  HLO_TRY(of_level_, ParsePipeline(none ? "@O" + std::to_string(level) : LevelName(level)));
  return {};
}

std::string PassRunner::LevelName(int level) const {
  if (options_->platform == OptPlatform::Gpu)
    return gpu::PipelineFor(level, {.tf32 = options_->gpu_tf32 && !options_->passes.strict_fp,
                                    .library_convolutions = options_->library_convolutions});
  return cpu::PipelineFor(level, use_ == PassUse::CompileAheadOfTime ? options_->host() : CodeHost::Library);
}

std::vector<PipelineItem> PassRunner::PipelineOf(const Module* module) const {
  const RunPasses run = options_->passes.run;
  const bool least = run == RunPasses::Never ||
                     (run == RunPasses::Auto && module != nullptr && compile::IsCompiled(*module));
  std::vector<PipelineItem> all = named_;
  const auto& more = compiles() && least ? least_ : of_level_;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool PassRunner::Leaves(const Module& module) const {
  if (!named_.empty() || options_->passes.run != RunPasses::Auto) return false;
  const bool compiled = compiles() || options_->platform != OptPlatform::None;
  return compiled ? compile::IsCompiled(module) : module.config.is_scheduled;
}

Status PassRunner::CheckNames() {
  const PassRunOptions& passes = options_->passes;
  HLO_CHECK_OK(AddNames(passes.disable_passes, selection_.disabled));
  HLO_CHECK_OK(AddNames(passes.enable_passes_only, selection_.enabled_only));
  if (!selection_.disabled.empty() && !selection_.enabled_only.empty())
    return Error("usage-option", {},
                 "options '--disable-passes' and '--enable-passes-only' exclude each other");
  for (const std::string& name : {passes.describe_pass, passes.start_from})
    if (!name.empty()) HLO_CHECK_OK(KnownPass(name));
  if (!passes.start_from.empty()) selection_.start_from = FindPass(passes.start_from)->name.str();
  for (const NameList* rules : {&passes.disable_rule, &passes.enable_rules_only})
    for (const std::string& rule : rules->items) HLO_CHECK_OK(KnownRule(rule));
  return {};
}

/// What code cannot be made without runs whatever the options say. Named passes are run as they are named
/// where no code is made of the module.
Status PassRunner::KeepRequired() {
  if (!compiles() && (!named_.empty() || options_->platform == OptPlatform::None)) return {};
  const bool gpu = options_->platform == OptPlatform::Gpu;
  HLO_TRY(const auto required, ParsePipeline(gpu ? "@gpu-required" : "@cpu-required"));
  ForEachPass(required, [&](const PassInfo& pass) {
    selection_.required.insert(pass.name);
    const llvm::StringSet<>& only = selection_.enabled_only;
    if (selection_.disabled.contains(pass.name) || (!only.empty() && !only.contains(pass.name)) ||
        fuel_.contains(pass.name))
      kept_.push_back(pass.name.str());
    fuel_.erase(pass.name);
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
  controls.cpu = cpu_;
  controls.features = options_->mattr;
  controls.machine = machine_.get();
  controls.fuel = fuel_;
  controls.rule_limit = rule_limit_;
  for (const std::string& rule : passes.disable_rule.items) controls.disabled_rules.insert(rule);
  for (const std::string& rule : passes.enable_rules_only.items) controls.enabled_rules.insert(rule);
  for (const std::string& thread : passes.execution_threads.items) controls.execution_threads.insert(thread);
  return controls;
}

bool PassRunner::Watches() const {
  const PassRunOptions& o = options_->passes;
  return record_ != nullptr || o.print_before || o.print_after || o.print_after_all ||
         o.print_changed != ChangedForm::Unset || o.time_passes || o.pass_stats || o.debug_rewrites ||
         !dumps_.to.empty() || options_->common.verify == VerifyMode::Each ||
         options_->common.verify == VerifyMode::Final;
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
