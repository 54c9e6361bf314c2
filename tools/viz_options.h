// The options of hlo-viz (tools.md §5.1).
#pragma once
#include "tools/common_options.h"

namespace hlo {

struct VizOptions : CommonOptions {
  std::string computation;
  bool all_computations = false;
};

extern const ToolInfo kHloViz;
std::vector<OptionGroup> VizGroups(VizOptions& options);

}  // namespace hlo
