#include "tools/opt_passes.h"

#include "ir/verify.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "passes/rules/rules.h"

namespace hlo {
namespace {

/// Verifies what a pass changed.
class VerifyObserver final : public PassObserver {
 public:
  VerifyObserver(const PassManager& manager, VerifyMode mode) : manager_(manager), mode_(mode) {}
  Status AfterPass(const Module& module, const PassExecution& execution) override {
    if (mode_ != VerifyMode::Each || !execution.changed) return {};
    return Check(module, llvm::formatv("found after pass '{0}' (execution {1})", execution.pass->name,
                                       execution.number)
                             .str());
  }
  Status AfterPipeline(const Module& module) override {
    return mode_ == VerifyMode::Final ? Check(module, "found after the last pass") : Status();
  }

 private:
  Status Check(const Module& module, const std::string& when) {
    VerifyOptions options;
    options.makers = manager_.makers();
    for (Diagnostic& violation : Verify(module, options)) {
      if (violation.severity != Severity::Error) continue;
      violation.Note(when);
      return Error(std::move(violation));
    }
    return {};
  }

  const PassManager& manager_;
  VerifyMode mode_;
};

Status CheckNames(const NameList& list, llvm::StringSet<>* canonical) {
  for (const std::string& name : list.items) {
    const PassInfo* pass = FindPass(name);
    const PipelineInfo* pipeline = pass ? nullptr : FindPipeline(name);
    if (!pass && !pipeline) return Error(UnknownPass(name));
    if (canonical) canonical->insert(pass ? pass->name : pipeline->name);
  }
  return {};
}

}  // namespace

Result<std::vector<PipelineItem>> ParsePasses(const OptOptions& options) {
  std::vector<PipelineItem> pipeline;
  for (const std::string& spec : options.passes) {
    HLO_TRY(auto items, ParsePipeline(spec));
    for (PipelineItem& item : items) pipeline.push_back(std::move(item));
  }
  HLO_CHECK_OK(CheckNames(options.disable_passes, nullptr));
  HLO_CHECK_OK(CheckNames(options.enable_passes_only, nullptr));
  if (!options.describe_pass.empty() && !FindPass(options.describe_pass))
    return Error(UnknownPass(options.describe_pass));
  return pipeline;
}

Status RunPasses(Module& module, llvm::ArrayRef<PipelineItem> pipeline, const OptOptions& options,
                 llvm::function_ref<void(Diagnostic)> report) {
  RewriteControls controls;
  controls.policy.fast_math = options.fast_math;
  controls.policy.strict_fp = options.strict_fp;
  for (const std::string& rule : options.disable_rule.items) controls.disabled_rules.insert(rule);
  controls.report = [report](Diagnostic d) { report(std::move(d)); };
  PassSelection selection;
  HLO_CHECK_OK(CheckNames(options.disable_passes, &selection.disabled));
  HLO_CHECK_OK(CheckNames(options.enable_passes_only, &selection.enabled_only));
  PassManager manager(controls, std::move(selection));
#ifndef NDEBUG
  manager.set_check_changed_flag(true);
#endif
  VerifyObserver verifier(manager, options.common.verify);
  manager.AddObserver(verifier);
  HLO_CHECK_OK(manager.Run(module, pipeline));
  return {};
}

void ListPasses(llvm::raw_ostream& os, ListForm form) {
  if (form == ListForm::Names) {
    llvm::StringRef separator;
    for (const PassInfo& pass : AllPasses()) os << std::exchange(separator, ",") << pass.name;
    os << '\n';
    return;
  }
  if (form == ListForm::Text) {
    for (const PassInfo& pass : AllPasses()) {
      os << llvm::formatv("{0,-38} {1}\n", pass.name, pass.summary);
      for (const PassOptionRow& row : pass.hooks->rows())
        os << llvm::formatv("  {0,-36} {1}\n",
                            row.name + "=" + PassOptionText(row, pass.hooks->make_options().get()),
                            row.summary);
    }
    return;
  }
  llvm::json::OStream json(os);
  json.objectBegin();
  json.attribute("schema", "hlo.passes/1");
  json.attribute("tool", "hlo-opt");
  json.attribute("version", HLO_VERSION);
  json.attributeArray("passes", [&] {
    for (const PassInfo& pass : AllPasses())
      json.object([&] {
        json.attribute("name", pass.name);
        json.attribute("summary", pass.summary);
        json.attribute("requires", ToString(pass.requires_facts));
        json.attribute("preserves", ToString(pass.preserves));
        json.attributeArray("options", [&] {
          const auto defaults = pass.hooks->make_options();
          for (const PassOptionRow& row : pass.hooks->rows())
            json.object([&] {
              json.attribute("name", row.name);
              json.attribute("default", PassOptionText(row, defaults.get()));
              json.attribute("summary", row.summary);
            });
        });
      });
  });
  json.objectEnd();
  os << '\n';
}

void ListPipelines(llvm::raw_ostream& os) {
  for (const PipelineInfo& pipeline : AllPipelines())
    os << llvm::formatv("@{0,-16} {1}\n  {2}\n", pipeline.name, pipeline.summary, pipeline.spec);
}

void DescribePass(llvm::raw_ostream& os, const PassInfo& pass) {
  os << pass.name << ": " << pass.summary << "\nrequires: " << ToString(pass.requires_facts)
     << "\npreserves: " << ToString(pass.preserves) << '\n';
  const auto defaults = pass.hooks->make_options();
  if (!pass.hooks->rows().empty()) os << "options:\n";
  for (const PassOptionRow& row : pass.hooks->rows())
    os << llvm::formatv("  {0,-50} {1}\n", row.name + "=" + PassOptionText(row, defaults.get()), row.summary);
  if (pass.name != "algsimp") return;
  os << "rules:\n";
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) {
    const Licence& licence = entry.rule->licence;
    std::string changes;
    constexpr llvm::StringRef kWords[] = {"rounding", "signed zero", "NaN", "range"};
    for (size_t i = 0; i < std::size(kWords); ++i)
      if (licence.changes >> i & 1) changes += (changes.empty() ? "" : ", ") + kWords[i].str();
    os << llvm::formatv("  {0,-12} {1}{2}\n", entry.rule->name,
                        licence.exact()           ? "exact"
                        : licence.needs_fast_math ? "needs fast math on floats: "
                                                  : "may change floats: ",
                        changes);
  }
}

}  // namespace hlo
