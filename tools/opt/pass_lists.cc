#include "ir/support/json.h"
#include "passes/absent.h"
#include "passes/rules/rules.h"
#include "tools/opt/passes.h"

namespace hlo {
namespace {

/// The named pipelines that run each pass, themselves or through others, in the order of their table.
class PipelinesOfPasses {
 public:
  PipelinesOfPasses() {
    for (const PipelineInfo& pipeline : AllPipelines()) {
      const auto items = ParsePipeline(pipeline.spec);
      if (!items) llvm::report_fatal_error(llvm::StringRef(items.error().message));
      ForEachPass(*items, [&](const PassInfo& pass) {
        auto& names = names_[&pass];
        if (names.empty() || names.back() != pipeline.name) names.push_back(pipeline.name);
      });
    }
  }

  llvm::ArrayRef<llvm::StringRef> operator[](const PassInfo& pass) const {
    const auto found = names_.find(&pass);
    return found == names_.end() ? llvm::ArrayRef<llvm::StringRef>() : found->second;
  }

 private:
  llvm::DenseMap<const PassInfo*, llvm::SmallVector<llvm::StringRef, 4>> names_;
};

/// `in @cleanup @simplify`; `in no pipeline`.
std::string Membership(llvm::ArrayRef<llvm::StringRef> pipelines) {
  if (pipelines.empty()) return "in no pipeline";
  std::string text = "in";
  for (const llvm::StringRef pipeline : pipelines) text += (" @" + pipeline).str();
  return text;
}

void WriteLicence(JsonWriter& json, const Licence& licence) {
  json.Object("licence", [&] {
    json.Member("changes", ToString(static_cast<FloatChanges>(licence.changes)));
    json.Member("when", licence.exact()              ? "never"
                        : licence.needs_fast_math    ? "fast-math"
                        : !licence.exact_if_strict() ? "always"
                                                     : "not strict-fp");
    if (!licence.exact_if_strict()) json.Member("why", licence.unprescribed);
  });
}

}  // namespace

void ListPasses(llvm::raw_ostream& os, ListForm form) {
  if (form == ListForm::Names) {
    llvm::StringRef separator;
    for (const PassInfo& pass : AllPasses()) os << std::exchange(separator, ",") << pass.name;
    os << '\n';
    return;
  }
  if (form == ListForm::Absent) {
    for (const AbsentPass& pass : AbsentPasses()) os << llvm::formatv("{0,-38} {1}\n", pass.name, pass.why);
    return;
  }
  const PipelinesOfPasses pipelines;
  if (form == ListForm::Text) {
    for (const PassInfo& pass : AllPasses()) {
      os << llvm::formatv("{0,-38} {1}\n  {2,-36} {3}\n", pass.name, pass.summary, FamilyOf(pass),
                          Membership(pipelines[pass]));
      if (!pass.licence.exact()) os << "  " << ToString(pass.licence) << '\n';
      for (const PassOptionRow& row : pass.hooks->rows())
        os << llvm::formatv("  {0,-36} {1}\n",
                            row.name + "=" + PassOptionText(row, pass.hooks->make_options().get()),
                            row.summary);
    }
    return;
  }
  JsonWriter json(os);
  json.Object([&] {
    json.Member("schema", "hlo.passes/1");
    json.Member("tool", "hlo-opt");
    json.Member("version", HLO_VERSION);
    json.Array("passes", [&] {
      for (const PassInfo& pass : AllPasses())
        json.Object([&] {
          json.Member("name", pass.name);
          json.Member("family", FamilyOf(pass));
          json.Member("summary", pass.summary);
          json.Array("pipelines", [&] {
            for (const llvm::StringRef pipeline : pipelines[pass]) json.Value(pipeline);
          });
          json.Member("requires", ToString(pass.requires_facts));
          json.Member("preserves", ToString(pass.preserves));
          WriteLicence(json, pass.licence);
          json.Array("run_after", [&] {
            for (const ModuleFactInfo& fact : AllModuleFacts())
              if ((pass.requires_facts & fact.fact) != 0) json.Value(fact.established_by);
          });
          json.Array("options", [&] {
            const auto defaults = pass.hooks->make_options();
            for (const PassOptionRow& row : pass.hooks->rows())
              json.Object([&] {
                json.Member("name", row.name);
                json.Member("default", PassOptionText(row, defaults.get()));
                json.Member("summary", row.summary);
              });
          });
        });
    });
  });
  os << '\n';
}

void ListPipelines(llvm::raw_ostream& os) {
  for (const PipelineInfo& pipeline : AllPipelines())
    os << llvm::formatv("@{0,-16} {1}\n  {2}\n", pipeline.name, pipeline.summary, pipeline.spec);
}

void DescribePass(llvm::raw_ostream& os, const PassInfo& pass) {
  os << pass.name << ": " << pass.summary << "\nfamily: " << FamilyOf(pass) << "\n"
     << Membership(PipelinesOfPasses()[pass]) << "\nrequires: " << ToString(pass.requires_facts)
     << "\npreserves: " << ToString(pass.preserves) << "\nlicence: " << ToString(pass.licence) << '\n';
  for (const ModuleFactInfo& fact : AllModuleFacts())
    if ((pass.requires_facts & fact.fact) != 0)
      os << fact.word << ": established by " << fact.established_by << '\n';
  const auto defaults = pass.hooks->make_options();
  if (!pass.hooks->rows().empty()) os << "options:\n";
  for (const PassOptionRow& row : pass.hooks->rows())
    os << llvm::formatv("  {0,-50} {1}\n", row.name + "=" + PassOptionText(row, defaults.get()), row.summary);
  if (pass.name != "algsimp") return;
  os << "rules:\n";
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) {
    os << llvm::formatv("  {0,-12} {1}\n", entry.rule->name, ToString(entry.rule->licence));
  }
}

}  // namespace hlo
