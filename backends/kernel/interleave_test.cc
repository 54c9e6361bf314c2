#include "backends/kernel/interleave.h"

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/test_target.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

/// Sums of `extent` products along columns of an array of three.
std::string Columns(int extent, const char* loop, const char* op = "add") {
  return "kernel k(b0: f32[" + std::to_string(3 * extent) + "], b1: f32[" + std::to_string(extent) +
         "], out b2: f32[3]) {\n  %0 = constant f32 0x40000000\n  for i0 in 3 " + loop +
         "{\n    %1 = reduce i1 in " + std::to_string(extent) +
         " init %0 {\n      %2 = load b0[i0 + i1*3]\n      %3 = load b1[i1]\n"
         "      %4 = multiply f32 %2, %3\n      yield %4\n    } by (%5, %6) {\n      %7 = " +
         op + " f32 %6, %5\n      yield %7\n    }\n    store b2[i0], %1\n  }\n}\n";
}

Kernel Parsed(const std::string& text) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return std::move(*kernel);
}

TEST(InterleaveSums, PartsGiveTheSameSums) {
  for (const int extent : {16, 17, 18, 19, 64}) {
    Kernel kernel = Parsed(Columns(extent, "vector(4, 1) "));
    EXPECT_EQ(InterleaveSums(kernel, TestTarget()), 1);
    const std::string text = ToString(kernel);
    EXPECT_NE(text.find("reduce i1 in " + std::to_string(extent / 4) + " init %0, %"), std::string::npos)
        << text;
    // What is written can be read again, which verifies it.
    EXPECT_EQ(ToString(Parsed(text)), text);
    std::vector<float> x, y, sums(3);
    for (int i = 0; i < 3 * extent; ++i) x.push_back(static_cast<float>(i % 7));
    for (int i = 0; i < extent; ++i) y.push_back(static_cast<float>(i % 5));
    ASSERT_TRUE(Interpret(kernel, {x.data(), y.data(), sums.data()}));
    for (int j = 0; j < 3; ++j) {
      float expected = 2;
      for (int i = 0; i < extent; ++i)
        expected += x[static_cast<size_t>(3 * i + j)] * y[static_cast<size_t>(i)];
      EXPECT_EQ(sums[static_cast<size_t>(j)], expected);
    }
  }
}

TEST(InterleaveSums, OthersStay) {
  for (const std::string& text : {Columns(15, "vector(4, 1) "), Columns(64, ""),
                                  Columns(64, "vector(4, 1) ", "maximum"), Columns(64, "vector(32, 2) ")}) {
    Kernel kernel = Parsed(text);
    EXPECT_EQ(InterleaveSums(kernel, TestTarget()), 0);
    EXPECT_EQ(ToString(kernel), text);
  }
}

}  // namespace
}  // namespace hlo::kernel
