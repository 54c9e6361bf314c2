// The options of hlo-diff (tools.md §4.2).
#pragma once
#include "tools/common_options.h"
#include "tools/diff/module_diff.h"

namespace hlo {

enum class DiffFormat : uint8_t { Text, Summary, SideBySide, Json, Html, Dot };

struct HloDiffOptions : CommonOptions {
  DiffFormat format = DiffFormat::Text;
  bool exit_code = true;
};

extern const ToolInfo kHloDiff;
std::vector<OptionGroup> DiffGroups(HloDiffOptions& options);

template <>
inline constexpr OptionWord<DiffFormat> kOptionWords<DiffFormat>[] = {
    {"text", DiffFormat::Text}, {"summary", DiffFormat::Summary}, {"side-by-side", DiffFormat::SideBySide},
    {"json", DiffFormat::Json}, {"html", DiffFormat::Html},       {"dot", DiffFormat::Dot},
};

}  // namespace hlo
