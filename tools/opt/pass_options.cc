#include "tools/opt/pass_options.h"

#include "passes/pass.h"
#include "passes/pipeline.h"
#include "passes/rules/rules.h"
#include "tools/opt/module_form.h"

namespace hlo {
namespace {

using O = PassRunOptions;

std::vector<llvm::StringRef> PassNames() {
  std::vector<llvm::StringRef> names;
  for (const PassInfo& pass : AllPasses()) names.push_back(pass.name);
  return names;
}
/// With pipelines.
std::vector<llvm::StringRef> Specs() {
  static const std::vector<std::string> kPipelines = [] {
    std::vector<std::string> names;
    for (const PipelineInfo& pipeline : AllPipelines()) names.push_back("@" + pipeline.name.str());
    return names;
  }();
  std::vector<llvm::StringRef> specs = PassNames();
  specs.insert(specs.end(), kPipelines.begin(), kPipelines.end());
  return specs;
}
std::vector<llvm::StringRef> RuleNames() {
  std::vector<llvm::StringRef> names;
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) names.push_back(entry.rule->name);
  return names;
}
std::vector<llvm::StringRef> FormWords() {
  std::vector<llvm::StringRef> words;
  for (const ModuleFormInfo& form : AllModuleForms()) words.push_back(form.word);
  return words;
}

constexpr OptionRow kPassRows[] = {
    Option<&O::passes>("passes", "SPEC", "",
                       "run exactly these: pass, pass{opt=val}, @pipeline, fix[N](SPEC); repeatable")
        .ListOf(&Specs),
    Option<&O::level>("O", "0..3", "none", "run the platform's pipeline of this level").Letter('O'),
    Option<&O::run>("run-hlo-passes", "auto|always|never", "auto", "auto: not on scheduled modules")
        .Advanced(),
    Option<&O::fast_math>("fast-math", "", "", "allow rewrites that change values of floats"),
    Option<&O::strict_fp>("strict-fp", "", "", "only rewrites that are exact for every float"),
    Option<&O::deterministic>("deterministic", "", "", "only reproducible results").Advanced(),
    Option<&O::disable_passes>("disable-passes", "LIST", "", "passes and pipelines to leave out")
        .ListOf(&Specs),
    Option<&O::enable_passes_only>("enable-passes-only", "LIST", "", "leave out all other passes")
        .Advanced()
        .ListOf(&Specs),
    Option<&O::pass_limit>("pass-limit", "N", "all", "only the first N pass executions").Advanced(),
    Option<&O::rewrite_limit>("rewrite-limit", "PASS=N", "", "only the first N rewrites of PASS").Advanced(),
    Option<&O::disable_rule>("disable-rule", "LIST", "", "rewrite rules that must not fire")
        .Advanced()
        .ListOf(&RuleNames),
    Option<&O::enable_rules_only>("enable-rules-only", "LIST", "", "no other rewrite rules may fire")
        .Advanced()
        .ListOf(&RuleNames),
    Option<&O::rule_limit>("rule-limit", "RULE=N", "", "only the first N rewrites by RULE").Advanced(),
    Option<&O::start_from>("run-passes-from", "NAME", "", "leave out the passes before this one")
        .Advanced()
        .Words(&PassNames),
    Option<&O::execution_threads>("execution-threads", "LIST", "all",
                                  "change only computations of these threads")
        .Advanced(),
    Option<&O::list_passes>("list-passes", "text|names|json|absent", "",
                            "all about every pass; names that are not here")
        .Bare("text"),
    Option<&O::describe_pass>("describe-pass", "NAME", "", "explain one pass").Advanced().Words(&PassNames),
    Option<&O::list_pipelines>("list-pipelines", "", "", "the named pipelines").Advanced(),
    Option<&O::print_pipeline>("print-pipeline", "", "", "what would run, as a SPEC").Advanced(),
};
constexpr OptionRow kObservationRows[] = {
    Option<&O::print_before>("print-before", "RE", "", "the module before matching passes, on stderr")
        .Advanced(),
    Option<&O::print_after>("print-after", "RE", "", "the module after matching passes"),
    Option<&O::print_after_all>("print-after-all", "", "", "the module after every pass").Advanced(),
    Option<&O::print_changed>("print-changed", "diff|full", "", "what each pass changed").Bare("diff"),
    Option<&O::debug_rewrites>("debug-rewrites", "", "", "every rewrite: pass, rule, before, after")
        .Advanced(),
    Option<&O::time_passes>("time-passes", "", "", "a table of times"),
    Option<&O::pass_stats>("pass-stats", "", "", "counters of passes and rules").Advanced(),
    Option<&O::trace>("trace", "FILE", "", "Chrome trace of the passes").Advanced(),
};
constexpr OptionRow kDumpRows[] = {
    Option<&O::dump_to>("dump-to", "DIR", "",
                        "files under XLA's names, before and after by default; `-`: stdout")
        .MayBeEmpty(),
    Option<&O::dump_pass_re>("dump-pass-re", "RE", "", "dump around matching passes").Advanced(),
    Option<&O::dump_pipeline_re>("dump-pipeline-re", "RE", "", "only in matching pipelines").Advanced(),
    Option<&O::dump_module_re>("dump-module-re", "RE", "", "only matching modules").Advanced(),
    Option<&O::dump_as>("dump-as", "LIST", "text", "forms of dumps: text, json, proto, dot, html")
        .Advanced()
        .ListOf(&FormWords),
    Option<&O::dump_unchanged>("dump-unchanged", "", "", "also after passes that changed nothing").Advanced(),
    Option<&O::dump_timestamp>("dump-include-timestamp", "", "", "the time in file names").Advanced(),
    Option<&O::dump_max_modules>("dump-max-hlo-modules", "N", "all", "only of the first N modules")
        .Advanced(),
    Option<&O::dump_large_constants>("dump-large-constants", "", "", "constants in full").Advanced(),
    Option<&O::dump_text>("xla-dump-hlo-as-text", "", "", "as --dump-as=text").Advanced(),
    Option<&O::dump_proto>("xla-dump-hlo-as-proto", "", "", "as --dump-as=proto").Advanced(),
    Option<&O::dump_dot>("xla-dump-hlo-as-dot", "", "", "as --dump-as=dot").Advanced(),
    Option<&O::dump_html>("xla-dump-hlo-as-html", "", "", "as --dump-as=html").Advanced(),
    Option<&O::dump_url>("xla-dump-hlo-as-url", "", "", "refused: there is no drawing service").Advanced(),
    Option<&O::dump_riegeli>("xla-dump-hlo-as-riegeli", "", "", "refused: this form is not written")
        .Advanced(),
    Option<&O::dump_compress>("xla-dump-compress-protos", "", "", "dumps as proto are gzipped").Advanced(),
    Option<&O::dump_subfolder>("xla-dump-hlo-to-subfolder", "", "", "into DIR/MODULE/HOST_PID").Advanced(),
    Option<&O::dump_metadata>("xla-dump-module-metadata", "", "", "what each pass did, as a file").Advanced(),
    Option<&O::dump_config>("xla-dump-full-hlo-config", "", "",
                            "the module's configuration and the options given")
        .Advanced(),
    Option<&O::dump_fusion_visualization>("xla-dump-fusion-visualization", "", "",
                                          "drawings before and after passes that fuse")
        .Advanced(),
    Option<&O::dump_enabled>("xla-enable-dumping", "", "on", "off: no dumps, whatever else is said")
        .Advanced(),
};

}  // namespace

std::vector<OptionGroup> PassGroups(PassRunOptions& options) {
  return {{"Passes", kPassRows, &options},
          {"Observation", kObservationRows, &options},
          {"Dumps", kDumpRows, &options}};
}

}  // namespace hlo
