// Titles and common beginnings of op_names.
#include "tools/viz/drawing/op_names.h"

#include "gtest/gtest.h"

namespace hlo {
namespace {

TEST(OpNames, TitlesAreWords) {
  EXPECT_EQ(OpNameTitle("jit(step)"), "step");
  EXPECT_EQ(OpNameTitle("transpose(jvp(layer_1))"), "layer_1, backward");
  EXPECT_EQ(OpNameTitle("jvp(a)/b"), "a/b");
  EXPECT_EQ(OpNameTitle("transpose(jvp())"), "program, backward");
  EXPECT_EQ(OpNameTitle("while"), "while");
  EXPECT_EQ(OpNameTitle("vmap(transpose(jvp(f)))/checkpoint(g)"), "f/g, batched, backward, recomputed");
  EXPECT_EQ(OpNameTitle("f(x)"), "f(x)");
  EXPECT_EQ(OpNameTitle(""), "");
}

TEST(OpNames, CommonBeginnings) {
  EXPECT_EQ(CommonOpName({}), "");
  EXPECT_EQ(CommonOpName({{"f", "a"}, {"f", "a", "x"}, {"f", "b"}}), "f/a");
  EXPECT_EQ(CommonOpName({{"f"}, {"g"}}), "");
  EXPECT_EQ(CommonOpName({{"f"}, {}, {}}), "");
}

}  // namespace
}  // namespace hlo
