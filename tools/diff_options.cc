#include "tools/diff_options.h"

namespace hlo {
namespace {

using D = HloDiffOptions;

constexpr OptionRow kReportRows[] = {
    Option<&D::exit_code>("exit-code", "", "on", "exit 1 if the modules differ"),
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-diff before.hlo after.hlo",
};

}  // namespace

const ToolInfo kHloDiff = {
    "hlo-diff", "shows what differs between two HLO modules as graphs", "[options] OLD NEW", {}, {},
    kExamples};

std::vector<OptionGroup> DiffGroups(HloDiffOptions& options) { return {{"Report", kReportRows, &options}}; }

}  // namespace hlo
