// The options of hlo-diff (tools.md §4.2).
#pragma once
#include <optional>

#include "tools/common/common_options.h"
#include "tools/diff/compare/report.h"

namespace hlo {

/// What is compared: graphs, or lines of texts.
enum class DiffMode : uint8_t { Semantic, Canonical, Text };
/// Calls that are compared as if inlined.
enum class DiffInline : uint8_t { None, Fusion, Call, All };

struct HloDiffOptions : CommonOptions {
  DiffMode mode = DiffMode::Semantic;
  DiffOptions compare;
  DiffInline inlined = DiffInline::None;
  std::vector<std::string> map;  // OLD=NEW
  DiffReportOptions report;
  std::optional<int64_t> max_entries;  // that of the form without it
  NameList only;                       // words of kinds
  Regex opcode, computation;
  bool filter_exit = false;
  bool exit_code = true;
  std::string text_output, html_output;
  // Dumps of one compilation after the other.
  std::string series, find;
  // What is told besides.
  bool cost = false, verify_equivalence = false, accept_equivalent = false;
  // Inputs as XLA's tool names them.
  std::string first_hlo_text, second_hlo_text, first_hlo_proto, second_hlo_proto, first_hlo_module_proto,
      second_hlo_module_proto, first_hlo_snapshot, second_hlo_snapshot;
};

/// `--ignore` and `--no-ignore`: words of DiffProperty, set or cleared in the bits of DiffOptions::ignored.
Status ParseIgnored(const OptionUse& use, uint32_t& ignored, bool ignore);

extern const ToolInfo kHloDiff;
std::vector<OptionGroup> DiffGroups(HloDiffOptions& options);

template <>
inline constexpr OptionWord<DiffMode> kOptionWords<DiffMode>[] = {
    {"semantic", DiffMode::Semantic}, {"canonical", DiffMode::Canonical}, {"text", DiffMode::Text}};
template <>
inline constexpr OptionWord<DiffProperty> kOptionWords<DiffProperty>[] = {
    {"metadata", DiffProperty::Metadata},
    {"names", DiffProperty::Names},
    {"layout", DiffProperty::Layout},
    {"shape", DiffProperty::Shape},
    {"sharding", DiffProperty::Sharding},
    {"backend-config", DiffProperty::BackendConfig},
    {"frontend-attributes", DiffProperty::FrontendAttributes},
    {"constants", DiffProperty::Constants},
    {"schedule", DiffProperty::Schedule},
    {"control-deps", DiffProperty::ControlDeps},
    {"memory-space", DiffProperty::MemorySpace},
    {"precision", DiffProperty::Precision},
    {"channel-id", DiffProperty::ChannelId},
};
template <>
inline constexpr OptionWord<DiffInline> kOptionWords<DiffInline>[] = {{"none", DiffInline::None},
                                                                      {"fusion", DiffInline::Fusion},
                                                                      {"call", DiffInline::Call},
                                                                      {"all", DiffInline::All}};

}  // namespace hlo
