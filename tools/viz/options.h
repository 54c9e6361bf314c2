// The options of hlo-viz (tools.md §5.1).
#pragma once
#include "tools/common/common_options.h"
#include "tools/viz/drawing/groups.h"

namespace hlo {

enum class ColorBy : uint8_t { Opcode, Type, Sharding, Memory, Computation, None };
enum class HeatMetric : uint8_t { Unset, Time, Bytes, Flops, Roofline, Memory };

struct VizOptions : CommonOptions {
  // What is drawn.
  std::string computation;
  bool all_computations = false;
  std::vector<std::string> around;  // NAME[,N]
  NameList boundary;
  std::string paths;  // A,B[,MAX]
  std::string slice;  // forward:NAME or backward:NAME
  std::string select;
  int64_t context = 0;
  std::optional<NameList> expand;
  // How.
  GroupNodesBy group_by = GroupNodesBy::Unset;
  int64_t max_nodes = 400;
  std::chrono::milliseconds layout_timeout{20'000};
  ColorBy color_by = ColorBy::Opcode;
  NameList show, hide;
  // What is known about it.
  std::string heat;  // a file, or `static`
  HeatMetric heat_metric = HeatMetric::Unset;
  std::string diff, values;
  // Text instead of a drawing.
  std::string list, info;
  int64_t json_indent = 0;
};

extern const ToolInfo kHloViz;
std::vector<OptionGroup> VizGroups(VizOptions& options);
/// The words of --output-format, --show and --expand.
std::vector<llvm::StringRef> VizFormatWords();
std::vector<llvm::StringRef> VizPartWords();
std::vector<llvm::StringRef> VizExpandWords();

template <>
inline constexpr OptionWord<GroupNodesBy> kOptionWords<GroupNodesBy>[] = {
    {"computation", GroupNodesBy::Computation}, {"op-name", GroupNodesBy::OpName},
    {"source", GroupNodesBy::Source},           {"schedule", GroupNodesBy::Schedule},
    {"device", GroupNodesBy::Device},           {"none", GroupNodesBy::None},
};
template <>
inline constexpr OptionWord<ColorBy> kOptionWords<ColorBy>[] = {
    {"opcode", ColorBy::Opcode},           {"type", ColorBy::Type},
    {"sharding", ColorBy::Sharding},       {"memory", ColorBy::Memory},
    {"computation", ColorBy::Computation}, {"none", ColorBy::None},
};
template <>
inline constexpr OptionWord<HeatMetric> kOptionWords<HeatMetric>[] = {
    {"time", HeatMetric::Time},         {"bytes", HeatMetric::Bytes},   {"flops", HeatMetric::Flops},
    {"roofline", HeatMetric::Roofline}, {"memory", HeatMetric::Memory},
};

}  // namespace hlo
