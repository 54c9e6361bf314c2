#include "tools/viz_options.h"

namespace hlo {
namespace {

using V = VizOptions;

constexpr OptionRow kSelectionRows[] = {
    Option<&V::computation>("computation", "NAME", "entry", "draw this computation"),
    Option<&V::all_computations>("all-computations", "", "", "draw all of them"),
};

constexpr OptionRow kOutputRows[] = {
    Option<&CommonOptions::output>("output", "FILE", "-", "main output; `-` is standard output").Letter('o'),
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-viz m.hlo | dot -Tsvg > m.svg",
};

}  // namespace

const ToolInfo kHloViz = {"hlo-viz", "draws HLO modules", "[options] FILE... -o OUT", {}, {}, kExamples};

std::vector<OptionGroup> VizGroups(VizOptions& options) {
  return {{"Selection", kSelectionRows, &options}, {"Output", kOutputRows, &options}};
}

}  // namespace hlo
