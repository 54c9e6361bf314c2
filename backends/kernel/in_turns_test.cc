#include "backends/kernel/in_turns.h"

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/side_by_side.h"
#include "backends/kernel/test_kernels.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

Kernel Parsed(llvm::StringRef text) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return std::move(*kernel);
}

// Three blocks of two threads, the last not whole: y[i] = x[at + i] + y[i].
constexpr llvm::StringLiteral kAdd = R"(kernel add(b0: s32[60], b1: s64[1], b2: s32[5], out b3: s32[5]) {
  %0 = load b1[0]
  for i0 in 3 block.x {
    for i1 in 2 of i0 below 5 thread.x {
      %1 = load b0[i0*2 + i1 + %0*5]
      %2 = load b2[i0*2 + i1]
      %3 = add s32 %1, %2
      store b3[i0*2 + i1], %3
    }
  }
}
)";
constexpr llvm::StringLiteral kNext = R"(kernel next(b0: s64[1], out b1: s64[1]) {
  %0 = load b0[0]
  %1 = constant s64 0x1
  %2 = add s64 %0, %1
  store b1[0], %2
}
)";

// The sum of all rows: what one turn has written the next one reads.
TEST(InTurns, LoopsCarryTheirState) {
  const Kernel add = Parsed(kAdd), next = Parsed(kNext);
  ASSERT_TRUE(ShapeInTurn(add) && ShapeInTurn(next));
  EXPECT_EQ(ShapeInTurn(add)->x, 2);
  EXPECT_EQ(ShapeInTurn(add)->y, 3);
  TurnsBuilder builder("all", {{.type = ElementType::S32, .count = 60},
                               {.type = ElementType::S64, .count = 1, .written = true},
                               {.type = ElementType::S32, .count = 5, .written = true}});
  builder.BeginLoop(12);
  builder.Add(add, {0, 1, 2, 2});
  builder.Add(next, {1, 1});
  builder.EndLoop();
  const Kernel all = builder.Finish();
  const Status verified = VerifyKernel(all);
  ASSERT_TRUE(verified) << verified.error().message << ToString(all);
  const auto read = ParseKernel(ToString(all));
  ASSERT_TRUE(read) << read.error().message << ToString(all);
  std::vector<int32_t> rows(60), sums(5), expected(5);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<int32_t>(i * i % 23);
    expected[i % 5] += rows[i];
  }
  int64_t at = 0;
  const Status status = Interpret(all, {rows.data(), &at, sums.data()});
  ASSERT_TRUE(status) << status.error().message << ToString(all);
  EXPECT_EQ(sums, expected);
  EXPECT_EQ(at, 12);
}

// Shared arrays, atomics, blocks in two directions, a loop beside that of the blocks.
TEST(InTurns, OthersHaveNoTurns) {
  for (const llvm::StringRef text : {kRowSums, kTranspose, kScatter}) EXPECT_FALSE(ShapeInTurn(Parsed(text)));
  EXPECT_FALSE(
      ShapeInTurn(Parsed("kernel k(out b0: s32[4]) {\n  %0 = constant s32 0x1\n  for i0 in 2 block.x "
                         "{\n    for i1 in 2 {\n    }\n    for i2 in 2 thread.x {\n      store "
                         "b0[i0*2 + i2], %0\n    }\n  }\n}\n")));
}

TEST(InTurns, KernelsSideBySideHaveNoTurns) {
  const Kernel add = Parsed(kAdd);
  ASSERT_TRUE(ShapeInTurn(add));
  const std::vector<Buffer> arrays(add.buffers.begin(), add.buffers.end());
  EXPECT_FALSE(ShapeInTurn(SideBySide("both", arrays, {{&add, {0, 1, 2, 3}}})));
}

}  // namespace
}  // namespace hlo::kernel
