#include "tools/diff_options.h"

namespace hlo {
namespace {

using D = HloDiffOptions;

constexpr OptionRow kComparisonRows[] = {
    Option<&D::mode>("mode", "MODE", "semantic", "semantic: as graphs; canonical, text: line by line"),
};
constexpr OptionRow kReportRows[] = {
    Option<&D::exit_code>("exit-code", "", "on", "exit 1 if the modules differ"),
};
constexpr OptionRow kOutputRows[] = {
    Option<&CommonOptions::output>("output", "FILE", "-", "main output; `-` is standard output").Letter('o'),
    Option<&CommonOptions::output_format>("output-format", "FORMAT", "extension of -o, else text",
                                          "text, summary, json")
        .Letter('T'),
};

constexpr OptionAlias kAliases[] = {
    {"format", "input-format"},
    {"debug_options_file", "config"},
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-diff before.hlo after.hlo",
};

}  // namespace

const ToolInfo kHloDiff = {
    "hlo-diff", "shows what differs between two HLO modules as graphs", "[options] OLD NEW", kAliases, {},
    kExamples};

std::vector<OptionGroup> DiffGroups(HloDiffOptions& options) {
  return {{"Comparison", kComparisonRows, &options},
          {"Report", kReportRows, &options},
          {"Output", kOutputRows, static_cast<CommonOptions*>(&options)}};
}

}  // namespace hlo
