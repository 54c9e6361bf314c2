// Tiles of matrices in the registers of lanes, and copies that are waited for: read, printed back, verified,
// interpreted.
#include "backends/kernel/matrix_units.h"

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "gtest/gtest.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::kernel {
namespace {

/// One tile of 32 lanes, whose factors are copied to shared memory.
constexpr llvm::StringLiteral kTile =
    R"(kernel k(b0: bf16[256], b1: bf16[128], out b2: f32[128], shared b3: bf16[256] swizzle(3, 16), shared b4: bf16[128], local b5: f32[4], local b6: u32[4], local b7: u32[2], shared b8: f32[128] over b3) {
  for i0 in 1 block.x {
    for i1 in 32 lane {
      copy b3[i1*8], b0[i1*8] of 8
      copy b4[i1*4], b1[i1*4] of 4
      commit-copies
      %0 = constant f32 0x0
      for i2 in 4 {
        store b5[i2], %0
      }
      wait-for-copies 0
      barrier
      load-matrix bf16 16x8x16 left b6[0], b3[0] pitch 16
      load-matrix bf16 16x8x16 right b7[0], b4[0] pitch 8 across
      multiply-matrix bf16 16x8x16 b5[0], b6[0], b7[0]
      barrier
      for i3 in 4 {
        %1 = load b5[i3]
        store b8[i1*4 + i3], %1
        store b2[i1*4 + i3], %1
      }
    }
  }
}
)";

TEST(KernelMatrixUnits, LanesMultiplyATile) {
  const auto kernel = ParseKernel(kTile);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kTile);
  std::vector<uint16_t> left(256), right(128);
  std::vector<float> sums(128);
  const auto bf16 = [](size_t n) {
    return static_cast<uint16_t>(FromDouble(ElementType::BF16, static_cast<double>(n % 7) - 3));
  };
  for (size_t i = 0; i < left.size(); ++i) left[i] = bf16(i * 5);
  for (size_t i = 0; i < right.size(); ++i) right[i] = bf16(i * 3 + 1);
  std::vector<void*> buffers(kernel->buffers.size(), nullptr);
  buffers[0] = left.data(), buffers[1] = right.data(), buffers[2] = sums.data();
  const Status status = Interpret(*kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t i = 0; i < 4; ++i) {
      // The layout that NVIDIA's manual gives.
      const size_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = 0;
      for (size_t k = 0; k < 16; ++k)
        sum += ToDouble(ElementType::BF16, left[row * 16 + k]) *
               ToDouble(ElementType::BF16, right[k * 8 + column]);
      EXPECT_EQ(sums[lane * 4 + i], sum) << lane << ' ' << i;
    }
}

TEST(KernelMatrixUnits, TheirStatementsAreHeldToRules) {
  struct Case {
    const char *text, *instead, *why;
  };
  const Case cases[] = {
      {"multiply-matrix bf16 16x8x16", "multiply-matrix bf16 16x8x8",
       "line 15: there are no tiles bf16 16x8x8"},
      {"left b6[0]", "left b5[0]", "line 13: b5 is of f32, its words are u32"},
      {"left b6[0], b3", "left b6[0], b0", "line 13: b0 is not shared"},
      {"local b6: u32", "shared b6: u32", "line 13: b6 is no array of each thread's own"},
      {"of 4\n", "of 3\n", "line 5: a copy of 3 of bf16 to bf16: expected 4, 8 or 16 bytes of one type"},
      {"b1[i1*4] of", "b3[i1*4] of", "line 5: b3 is no array of the caller's"},
      {"32 lane", "16 lane", "line 13: a load-matrix of 16 lanes, expected 32"},
      {"32 lane", "32 thread.x", "line 13: a load-matrix outside of a lane loop"},
      {"f32[128] over b3", "f32[256] over b3",
       "b8 lies over b3: expected a larger shared array with memory of its own"},
      {"over b3", "over b9", "b8 lies over b9, which is not before it"},
      {"swizzle(3, 16)", "swizzle(3, 8)",
       "b3 is no shared array of lines of 128 bytes, pieces of which change places by the line"},
      {"wait-for-copies 0", "wait-for-copies -1", "line 11: a wait for -1 groups of copies"},
  };
  for (const auto& [text, instead, why] : cases) {
    std::string changed = kTile.str();
    ASSERT_NE(changed.find(text), std::string::npos) << text;
    changed.replace(changed.find(text), llvm::StringRef(text).size(), instead);
    const auto kernel = ParseKernel(changed);
    ASSERT_FALSE(kernel) << instead;
    EXPECT_EQ(kernel.error().message, why);
  }
}

TEST(KernelMatrixUnits, CopiesAreWaitedFor) {
  std::string text = kTile.str();
  text.replace(text.find("wait-for-copies 0"), 17, "wait-for-copies 1");
  const auto kernel = ParseKernel(text);
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<uint16_t> left(256, 0x3f80), right(128, 0x3f80);  // ones
  std::vector<float> sums(128);
  std::vector<void*> buffers(kernel->buffers.size(), nullptr);
  buffers[0] = left.data(), buffers[1] = right.data(), buffers[2] = sums.data();
  ASSERT_TRUE(Interpret(*kernel, buffers));
  EXPECT_NE(sums[0], 16);
}

}  // namespace
}  // namespace hlo::kernel
