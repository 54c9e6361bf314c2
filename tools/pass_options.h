// The options about passes: which run, how far, and what is shown of them (tools.md §2.1).
#pragma once
#include "tools/options.h"
#include "tools/pass_dumps.h"
#include "tools/pass_observers.h"

namespace hlo {

enum class ListForm : uint8_t { Unset, Text, Names, Json };
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
  std::optional<DumpForm> dump_as;
  bool dump_unchanged = false, dump_timestamp = false, dump_large_constants = false;
  bool dump_text = false, dump_json = false, dump_proto = false, dump_dot = false, dump_html = false;
  int64_t dump_max_modules = -1;
};

/// The groups "Passes", "Observation" and "Dumps".
std::vector<OptionGroup> PassGroups(PassRunOptions& options);

template <>
inline constexpr OptionWord<ListForm> kOptionWords<ListForm>[] = {
    {"text", ListForm::Text}, {"names", ListForm::Names}, {"json", ListForm::Json}};
template <>
inline constexpr OptionWord<RunPasses> kOptionWords<RunPasses>[] = {
    {"auto", RunPasses::Auto}, {"always", RunPasses::Always}, {"never", RunPasses::Never}};
template <>
inline constexpr OptionWord<ChangedForm> kOptionWords<ChangedForm>[] = {{"diff", ChangedForm::Diff},
                                                                        {"full", ChangedForm::Full}};
template <>
inline constexpr OptionWord<DumpForm> kOptionWords<DumpForm>[] = {{"text", DumpForm::Text},
                                                                  {"json", DumpForm::Json},
                                                                  {"proto", DumpForm::Proto},
                                                                  {"dot", DumpForm::Dot},
                                                                  {"html", DumpForm::Html}};

}  // namespace hlo
