// The options of hlo-diff (tools.md §4.2).
#pragma once
#include "tools/common_options.h"
#include "tools/diff/report.h"

namespace hlo {

/// What is compared: graphs, or lines of texts.
enum class DiffMode : uint8_t { Semantic, Canonical, Text };
enum class DiffInline : uint8_t { None, Fusion, Call, All };

struct HloDiffOptions : CommonOptions {
  DiffMode mode = DiffMode::Semantic;
  DiffOptions compare;
  DiffInline inlined = DiffInline::None;
  std::vector<std::string> map;  // OLD=NEW
  DiffReportOptions report;
  NameList only;  // words of kinds
  Regex opcode, computation;
  bool filter_exit = false;
  bool exit_code = true;
  std::string text_output, html_output;
  // Inputs as XLA's tool names them.
  std::string first_hlo_text, second_hlo_text;
};

extern const ToolInfo kHloDiff;
std::vector<OptionGroup> DiffGroups(HloDiffOptions& options);

template <>
inline constexpr OptionWord<DiffMode> kOptionWords<DiffMode>[] = {
    {"semantic", DiffMode::Semantic}, {"canonical", DiffMode::Canonical}, {"text", DiffMode::Text}};
template <>
inline constexpr OptionWord<DiffInline> kOptionWords<DiffInline>[] = {{"none", DiffInline::None},
                                                                      {"fusion", DiffInline::Fusion},
                                                                      {"call", DiffInline::Call},
                                                                      {"all", DiffInline::All}};

}  // namespace hlo
