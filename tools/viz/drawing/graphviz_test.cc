#include "tools/viz/drawing/graphviz.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

class GraphvizTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!HasGraphviz(why)) GTEST_SKIP() << why;
  }
};

TEST_F(GraphvizTest, PicturesOfEachFormat) {
  for (const auto& [format, begin] : {std::pair("svg", "<?xml"), {"png", "\x89PNG"}, {"pdf", "%PDF"}}) {
    const auto picture = RenderDot("digraph g { a -> b }", format, {});
    ASSERT_TRUE(picture.has_value()) << picture.error().message;
    EXPECT_FALSE(picture->timed_out);
    EXPECT_TRUE(llvm::StringRef(picture->bytes).starts_with(begin)) << format;
  }
}

TEST_F(GraphvizTest, TheLimitEndsTheLayout) {
  const auto picture = RenderDot("digraph g { a -> b }", "svg", {std::chrono::milliseconds(0), true});
  ASSERT_TRUE(picture.has_value());
  EXPECT_TRUE(picture->timed_out);
  EXPECT_TRUE(picture->bytes.empty());
}

TEST_F(GraphvizTest, WhatCannotBeMadeIsNamed) {
  const auto text = RenderDot("digraph g { a -> ", "svg", {});
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().id.text(), "unavailable-library");
  const auto format = RenderDot("digraph g { a }", "holo", {});
  ASSERT_FALSE(format.has_value());
  EXPECT_NE(format.error().message.find("holo"), std::string::npos);
}

}  // namespace
}  // namespace hlo
