#include "passes/pass_manager.h"

#include "ir/findings.h"
#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

constexpr int64_t kFirstCompared = 4;  // rounds from here on are compared by fingerprint

/// The schedules of a module, put aside while a pass that knows nothing of schedules runs.
class SchedulesAside {
 public:
  SchedulesAside(Module& module, bool preserved) : module_(module) {
    if (preserved || !module.config.is_scheduled) return;
    aside_ = true;
    for (const auto& c : module.computations())
      if (c->has_schedule()) {
        before_[c.get()].assign(c->schedule().begin(), c->schedule().end());
        c->set_schedule({});
      }
  }
  ~SchedulesAside() {
    if (!aside_ || !module_.config.is_scheduled) return;
    for (const auto& c : module_.computations())
      if (!c->has_schedule() && !c->IsFusion()) c->set_schedule(RepairedSchedule(*c, before_[c.get()]));
  }
  SchedulesAside(const SchedulesAside&) = delete;
  SchedulesAside& operator=(const SchedulesAside&) = delete;

 private:
  Module& module_;
  bool aside_ = false;
  llvm::DenseMap<const Computation*, std::vector<const Instruction*>> before_;
};

}  // namespace

bool PassManager::Selected(llvm::StringRef name, llvm::StringRef pipeline) const {
  if (selection_.required.contains(name)) return true;
  if (!started_ || selection_.disabled.contains(name)) return false;
  if (selection_.pass_limit >= 0 && static_cast<int64_t>(executions_.size()) >= selection_.pass_limit)
    return false;
  const auto is_in = [&](const llvm::StringSet<>& lists) {
    return llvm::any_of(llvm::split(pipeline, '/'),
                        [&](llvm::StringRef list) { return list != "fix" && lists.contains(list); });
  };
  if (is_in(selection_.disabled)) return false;
  const llvm::StringSet<>& only = selection_.enabled_only;
  return only.empty() || only.contains(name) || is_in(only);
}

Result<bool> PassManager::Run(Module& module, llvm::ArrayRef<PipelineItem> items) {
  started_ = selection_.start_from.empty();
  for (PassObserver* o : observers_) HLO_CHECK_OK(o->BeforePipeline(module));
  HLO_TRY(const bool changed, RunItems(module, items, "", 1));
  for (PassObserver* o : observers_) HLO_CHECK_OK(o->AfterPipeline(module));
  module.set_stamp(0);
  return changed;
}

Result<bool> PassManager::RunItems(Module& module, llvm::ArrayRef<PipelineItem> items,
                                   const std::string& pipeline, int64_t round) {
  bool changed = false;
  for (const PipelineItem& item : items) {
    if (item.pass) {
      HLO_TRY(const bool c, RunPass(module, item, pipeline, round));
      changed |= c;
      continue;
    }
    const std::string inner = pipeline.empty() ? item.name : pipeline + "/" + item.name;
    HLO_TRY(const bool c, item.max_rounds > 1 ? RunFixedPoint(module, item, inner)
                                              : RunItems(module, item.items, inner, 1));
    changed |= c;
  }
  return changed;
}

Result<bool> PassManager::RunFixedPoint(Module& module, const PipelineItem& item,
                                        const std::string& pipeline) {
  bool changed = false;
  std::vector<uint64_t> fingerprints;
  size_t round_begin = executions_.size();
  for (int64_t round = 1; round <= item.max_rounds; ++round) {
    round_begin = executions_.size();
    HLO_TRY(const bool c, RunItems(module, item.items, pipeline, round));
    if (!c) return changed;
    changed = true;
    if (round < kFirstCompared) continue;
    const uint64_t now = Fingerprint(module);
    if (llvm::is_contained(fingerprints, now)) break;
    fingerprints.push_back(now);
  }
  WarnNoFixedPoint(item, round_begin);
  return changed;
}

void PassManager::WarnNoFixedPoint(const PipelineItem& item, size_t round_begin) {
  if (selection_.pass_limit >= 0 && static_cast<int64_t>(executions_.size()) >= selection_.pass_limit) return;
  std::vector<std::string> culprits;
  for (size_t i = round_begin; i < executions_.size(); ++i) {
    const std::string name = ("'" + executions_[i].pass->name + "'").str();
    if (executions_[i].changed && !llvm::is_contained(culprits, name)) culprits.push_back(name);
  }
  const int64_t rounds = executions_.empty() ? 0 : executions_.back().round;
  Diagnostic warning = MakeError("fixpoint-limit", {}, "no fixed point of '{0}' after {1} rounds; {2} {3}",
                                 PipelineText(item.items), rounds, llvm::join(culprits, " and "),
                                 culprits.size() > 1 ? "undo each other" : "keeps changing the module");
  warning.severity = Severity::Warning;
  if (controls_.report) controls_.report(std::move(warning));
}

Result<bool> PassManager::RunPass(Module& module, const PipelineItem& item, const std::string& pipeline,
                                  int64_t round) {
  const PassInfo& pass = *item.pass;
  if (!started_ && pass.name == selection_.start_from) started_ = true;
  if (!Selected(pass.name, pipeline)) return false;
  // Inside a pipeline a pass that had nothing to do with this very module has nothing to do again.
  const std::string key = PipelineText(llvm::ArrayRef(item));
  const auto idle = idle_at_.find(key);
  if (!pipeline.empty() && idle != idle_at_.end() && idle->second == version_) return false;
  if (Interrupted()) return Error(InterruptedError());

  PassExecution execution;
  execution.pass = &pass;
  execution.item = &item;
  execution.pipeline = pipeline;
  execution.number = static_cast<int64_t>(executions_.size()) + 1;
  execution.round = round;
  execution.instructions_before = module.InstructionCount();
  if (pass.requires_facts != kNoFacts) HLO_CHECK_OK(CheckRequired(module, execution));
  makers_.push_back(llvm::formatv("pass '{0}' (execution {1})", pass.name, execution.number).str());
  module.set_stamp(static_cast<uint16_t>(std::min<int64_t>(execution.number, UINT16_MAX)));
  const std::shared_ptr<void> findings = FindingsOf(module);
  auto result = Execute(module, item, execution);
  // The pass may have left some of its own.
  if ((!result || *result) && FindingsOf(module) == findings) SetFindings(module, nullptr);
  if (!result)
    for (PassObserver* o : observers_) o->OnFailure(module, execution);
  else if (*result)
    ++version_;
  else
    idle_at_[key] = version_;
  if (result) UpdateFacts(pass, *result);
  executions_.push_back(std::move(execution));
  return result;
}

Status PassManager::CheckRequired(const Module& module, const PassExecution& execution) const {
  for (const ModuleFactInfo& info : AllModuleFacts()) {
    if ((execution.pass->requires_facts & info.fact) == 0) continue;
    if (info.holds ? info.holds(module) : (facts_ & info.fact) != 0) continue;
    return Error("usage-pass-requirement", {},
                 "pass '{0}' (execution {1}) requires '{2}', which module '{3}' lacks; pass '{4}' before it "
                 "establishes that",
                 execution.pass->name, execution.number, info.word, module.name(), info.established_by);
  }
  return {};
}

void PassManager::UpdateFacts(const PassInfo& pass, bool changed) {
  if (changed) facts_ &= pass.preserves;
  for (const ModuleFactInfo& info : AllModuleFacts())
    if (pass.name == info.established_by) facts_ |= info.fact;
}

Result<bool> PassManager::Execute(Module& module, const PipelineItem& item, PassExecution& execution) {
  for (PassObserver* o : observers_) HLO_CHECK_OK(o->BeforePass(module, execution));
  PassContext context(item.pass->name, controls_);
  const uint64_t before = check_changed_flag_ ? Fingerprint(module) : 0;
  const auto start = std::chrono::steady_clock::now();
  {
    const SchedulesAside aside(module, (item.pass->preserves & kSchedule) != 0);
    auto changed = item.pass->hooks->run(module, item.options.get(), context);
    if (!changed) {
      Diagnostic error = std::move(changed).error();
      error.Note(llvm::formatv("in pass '{0}' (execution {1})", item.pass->name, execution.number).str());
      return Error(std::move(error));
    }
    execution.changed = *changed;
  }
  execution.start = start;
  execution.time = std::chrono::steady_clock::now() - start;
  execution.rewrites = context.rewrites();
  execution.counters = context.counters();
  execution.instructions_after = module.InstructionCount();
  if (check_changed_flag_ && !execution.changed && Fingerprint(module) != before)
    return Error("pass-changed-flag", {}, "pass '{0}' (execution {1}) changed the module without saying so",
                 item.pass->name, execution.number);
  for (PassObserver* o : observers_) HLO_CHECK_OK(o->AfterPass(module, execution));
  if (verify_each_) HLO_CHECK_OK(VerifyAfter(module, execution));
  return execution.changed;
}

Status PassManager::VerifyAfter(const Module& module, const PassExecution& execution) {
  const bool assigns = execution.pass->name == "layout-assignment";
  if (!execution.changed && !assigns) return {};
  if (assigns)
    layouts_hold_ = !controls_.fuel.contains(execution.pass->name);
  else
    layouts_hold_ &= (execution.pass->preserves & kLayouts) != 0;
  VerifyOptions options;
  options.makers = makers_;
  options.layout_sensitive = layouts_hold_;
  // A text may contradict itself in what is dynamic. If it does not when layouts are assigned, no pass may.
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::Error; };
  if (assigns && layouts_hold_) dynamic_flags_hold_ = llvm::none_of(Verify(module, options), is_error);
  options.dynamic_flags = dynamic_flags_hold_;
  for (Diagnostic& violation : Verify(module, options)) {
    if (!is_error(violation)) continue;
    violation.Note(
        llvm::formatv("found after pass '{0}' (execution {1})", execution.pass->name, execution.number)
            .str());
    return Error(std::move(violation));
  }
  return {};
}

}  // namespace hlo
