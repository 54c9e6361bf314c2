// The list of options that do not exist yet, and the other spellings.
#include "tools/run/options.h"

#include <gtest/gtest.h>

#include "tools/common/tool_main.h"

namespace hlo {
namespace {

/// Options that are announced but missing. Whoever adds one takes it off the list and lowers the count.
TEST(HloRunOptions, ThoseNotAvailableYet) {
  EXPECT_EQ(kHloRun.unavailable.size(), 20u);
  for (const UnavailableOption& option : kHloRun.unavailable) {
    const std::string arg = "--" + option.name.str() + "=1";
    std::string out, err;
    llvm::raw_string_ostream out_stream(out), err_stream(err);
    EXPECT_EQ(HloRunMain({arg.c_str()}, "", out_stream, err_stream), ExitCode::Unavailable) << arg;
    EXPECT_NE(err.find("is not available yet [unavailable-feature]"), std::string::npos) << err;
  }
}

TEST(HloRunOptions, EveryAliasNamesAnOption) {
  RunOptions options;
  std::vector<OptionGroup> groups = RunGroups(options);
  llvm::append_range(groups, CommonGroups(options));
  for (const OptionAlias& alias : kHloRun.aliases) {
    bool found = false;
    for (const OptionGroup& group : groups)
      for (const OptionRow& row : group.rows) found |= row.name == alias.name;
    EXPECT_TRUE(found) << alias.alias.str();
  }
}

}  // namespace
}  // namespace hlo
