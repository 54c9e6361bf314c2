// --explain has something to say about every diagnostic; scripts/explanations runs the examples.
#include "tools/common/explain.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

TEST(Explain, EveryDiagnosticWithAnExample) {
  for (const DiagnosticInfo& info : AllDiagnostics()) {
    const llvm::StringRef section = FindExplanation(info.name);
    EXPECT_TRUE(section.contains(("[" + info.name + "]").str())) << info.name.str();
    EXPECT_FALSE(section.contains("\n## ")) << info.name.str();
  }
  EXPECT_EQ(FindExplanation("verify"), "");
}

TEST(Explain, Printed) {
  std::string text;
  llvm::raw_string_ostream out(text);
  PrintExplanation(
      "One two" + std::string(92, '.') + " three.\n\n```hlo\nENTRY e\n```\n\n```\n$ hlo-opt\n\nerror\n```",
      out);
  EXPECT_EQ(text, "One two" + std::string(92, '.') +
                      "\nthree.\n\nm.hlo:\n    ENTRY e\n\n    $ hlo-opt\n\n    error\n");
}

}  // namespace
}  // namespace hlo
