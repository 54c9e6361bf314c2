// The options about passes: which run, how far, and what is shown of them (tools.md §2.1).
#pragma once
#include <algorithm>
#include <array>

#include "tools/common/options.h"
#include "tools/opt/pass_dumps.h"
#include "tools/opt/pass_observers.h"

namespace hlo {

enum class ListForm : uint8_t { Unset, Text, Names, Json, Absent };
enum class RunPasses : uint8_t { Auto, Always, Never };

struct PassRunOptions {
  // Which
  std::vector<std::string> passes;
  std::optional<int64_t> level;  // -O
  RunPasses run = RunPasses::Auto;
  bool fast_math = false, strict_fp = false, deterministic = false;
  NameList disable_passes, enable_passes_only, execution_threads;
  std::string start_from;
  int64_t pass_limit = -1;
  std::vector<std::string> rewrite_limit, rule_limit;  // NAME=N[,NAME=N]
  NameList disable_rule, enable_rules_only;
  // Lists
  ListForm list_passes = ListForm::Unset;
  bool list_pipelines = false, print_pipeline = false;
  std::string describe_pass;
  // Observation
  std::optional<Regex> print_before, print_after;
  bool print_after_all = false;
  ChangedForm print_changed = ChangedForm::Unset;
  bool time_passes = false, pass_stats = false, debug_rewrites = false;
  std::string trace;
  // Dumps
  std::string dump_to;
  std::optional<Regex> dump_pass_re, dump_pipeline_re, dump_module_re;
  NameList dump_as;
  bool dump_enabled = true, dump_unchanged = false, dump_timestamp = false, dump_large_constants = false;
  bool dump_compress = false, dump_subfolder = false, dump_metadata = false, dump_config = false,
       dump_fusion_visualization = false;
  bool dump_text = false, dump_proto = false, dump_dot = false, dump_html = false, dump_url = false,
       dump_riegeli = false;
  int64_t dump_max_modules = -1;
};

/// Other spellings of these options, XLA's among them.
inline constexpr OptionAlias kPassAliases[] = {
    {"pass-pipeline", "passes"},
    {"opt-bisect-limit", "pass-limit"},
    {"xla_backend_optimization_level", "O"},
    {"xla_disable_all_hlo_passes", "run-hlo-passes", "never"},
    {"xla_run_hlo_passes_starting_from", "run-passes-from"},
    {"xla_fuel", "rewrite-limit"},
    {"xla_cpu_enable_fast_math", "fast-math"},
    {"xla_gpu_deterministic_ops", "deterministic"},
    {"xla_dump_to", "dump-to"},
    {"xla_dump_hlo_pass_re", "dump-pass-re"},
    {"xla_dump_hlo_pipeline_re", "dump-pipeline-re"},
    {"xla_dump_hlo_module_re", "dump-module-re"},
    {"xla_dump_include_timestamp", "dump-include-timestamp"},
    {"xla_dump_max_hlo_modules", "dump-max-hlo-modules"},
    {"xla_dump_large_constants", "dump-large-constants"},
    {"xla_disable_hlo_passes", "disable-passes"},
    {"xla_enable_hlo_passes_only", "enable-passes-only"},
};
/// How dumps are written, and what makes them be.
inline constexpr OptionRelation kDumpNeeds = {
    "dump-unchanged|dump-include-timestamp|dump-max-hlo-modules|dump-large-constants",
    "dump-to|dump-as|dump-pass-re|dump-module-re|dump-pipeline-re|xla-dump-hlo-as-text|xla-dump-hlo-as-proto|"
    "xla-dump-hlo-as-dot|xla-dump-hlo-as-html|xla-dump-hlo-as-url"};
/// A tool's own aliases and these.
template <size_t kCount>
constexpr auto WithPassAliases(const OptionAlias (&own)[kCount]) {
  std::array<OptionAlias, kCount + std::size(kPassAliases)> all{};
  std::copy(std::begin(own), std::end(own), all.begin());
  std::copy(std::begin(kPassAliases), std::end(kPassAliases), all.begin() + kCount);
  return all;
}

/// The groups "Passes", "Observation" and "Dumps".
std::vector<OptionGroup> PassGroups(PassRunOptions& options);

template <>
inline constexpr OptionWord<ListForm> kOptionWords<ListForm>[] = {{"text", ListForm::Text},
                                                                  {"names", ListForm::Names},
                                                                  {"json", ListForm::Json},
                                                                  {"absent", ListForm::Absent}};
template <>
inline constexpr OptionWord<RunPasses> kOptionWords<RunPasses>[] = {{"auto", RunPasses::Auto},
                                                                    {"always", RunPasses::Always},
                                                                    {"never", RunPasses::Never},
                                                                    {"true", RunPasses::Always},
                                                                    {"false", RunPasses::Never}};
template <>
inline constexpr OptionWord<ChangedForm> kOptionWords<ChangedForm>[] = {{"diff", ChangedForm::Diff},
                                                                        {"full", ChangedForm::Full}};

}  // namespace hlo
