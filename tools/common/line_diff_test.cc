#include "tools/common/line_diff.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

TEST(LineDiff, EqualTextsGiveNothing) { EXPECT_EQ(LineDiff("a\nb\n", "a\nb\n"), ""); }

TEST(LineDiff, ShowsOneHunkPerDistantChange) {
  EXPECT_EQ(LineDiff("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\nh\n", 1),
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -6,3 +6,2 @@\n f\n-g\n h\n");
}

TEST(LineDiff, EmptySides) {
  EXPECT_EQ(LineDiff("", "x\n"), "@@ -1,0 +1,1 @@\n+x\n");
  EXPECT_EQ(LineDiff("x\ny\n", ""), "@@ -1,2 +1,0 @@\n-x\n-y\n");
}

TEST(LineDiff, AppliesBack) {
  // Any script must turn one text into the other: rebuild both sides from a diff with full context.
  std::string a, b;
  for (int i = 0; i < 400; ++i) {
    if (i % 7 != 0) a += "line " + std::to_string(i * i % 31) + "\n";
    if (i % 5 != 0) b += "line " + std::to_string(i * i % 31) + "\n";
  }
  std::string left, right;
  const std::string text = LineDiff(a, b, 1000);
  llvm::StringRef diff = text;
  diff = diff.split('\n').second;
  while (!diff.empty()) {
    const auto [line, rest] = diff.split('\n');
    if (line[0] != '+') left += line.drop_front().str() + "\n";
    if (line[0] != '-') right += line.drop_front().str() + "\n";
    diff = rest;
  }
  EXPECT_EQ(left, a);
  EXPECT_EQ(right, b);
}

}  // namespace
}  // namespace hlo
