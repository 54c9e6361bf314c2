#include "backends/kernel/side_by_side.h"

#include <numeric>

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/test_kernels.h"
#include "backends/kernel/threads.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

Kernel Parsed(llvm::StringRef text) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return std::move(*kernel);
}

std::vector<Buffer> ArraysOf(llvm::ArrayRef<const Kernel*> kernels) {
  std::vector<Buffer> arrays;
  for (const Kernel* kernel : kernels)
    for (const Buffer& buffer : kernel->buffers)
      if (buffer.space == Space::Global) arrays.push_back(buffer);
  return arrays;
}

// Kernels of other numbers of blocks and threads, with shared arrays, lanes and a cut whose last piece is not
// whole.
TEST(SideBySide, EachHasBlocksOfItsOwn) {
  const Kernel rows = Parsed(kRowSums), scatter = Parsed(kScatter);
  ASSERT_TRUE(MayBePart(rows));
  ASSERT_TRUE(MayBePart(scatter));
  const std::vector<Buffer> arrays = ArraysOf({&scatter, &rows, &scatter});
  const Kernel all =
      SideBySide("all", arrays, {{&scatter, {0, 1, 2, 3}}, {&rows, {4, 5}}, {&scatter, {6, 7, 8, 9}}});
  EXPECT_EQ(ShapeOfGrid(all), (std::array<int64_t, 3>{11, 1, 1}));
  EXPECT_EQ(ShapeOfBlocks(all).extents, (std::array<int64_t, 4>{1, 128, 1, 1}));
  EXPECT_EQ(SharedBytes(all), 16);
  // What is printed is the same kernel.
  const auto read = ParseKernel(ToString(all));
  ASSERT_TRUE(read) << read.error().message << '\n' << ToString(all);
  EXPECT_EQ(ToString(*read), ToString(all));

  std::vector<float> x(3000), row_sums(3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 37);
  std::vector<int32_t> at(100);
  std::vector<float> by(100);
  for (int32_t i = 0; i < 100; ++i) at[static_cast<size_t>(i)] = i * 7 % 13 - 2;
  std::iota(by.begin(), by.end(), 0.0F);
  std::vector<float> alone(10, 1), first(10, 1), last(10, 1);
  std::vector<int32_t> counts(3), first_counts(3), last_counts(3);
  ASSERT_TRUE(Interpret(scatter, {at.data(), by.data(), alone.data(), counts.data()}));
  void* buffers[] = {at.data(), by.data(), first.data(), first_counts.data(), x.data(), row_sums.data(),
                     at.data(), by.data(), last.data(),  last_counts.data(),  nullptr};
  const Status status = Interpret(all, buffers);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(first, alone);
  EXPECT_EQ(last, alone);
  EXPECT_EQ(first_counts, counts);
  EXPECT_EQ(last_counts, counts);
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(row_sums[row], std::accumulate(x.begin() + row * 1000, x.begin() + (row + 1) * 1000, 0.0F));
}

// Blocks in two directions, no blocks, no threads, what is a part already.
TEST(SideBySide, OthersAreNoParts) {
  EXPECT_FALSE(MayBePart(Parsed(kTranspose)));
  EXPECT_FALSE(
      MayBePart(Parsed("kernel k(out b0: s32[4]) {\n  %0 = constant s32 0x1\n  for i0 in 4 {\n    "
                       "store b0[i0], %0\n  }\n}\n")));
  EXPECT_FALSE(
      MayBePart(Parsed("kernel k(out b0: s32[4]) {\n  %0 = constant s32 0x1\n  for i0 in 4 block.x {\n"
                       "    store b0[i0], %0\n  }\n}\n")));
  const Kernel rows = Parsed(kRowSums);
  EXPECT_FALSE(MayBePart(SideBySide("k", ArraysOf({&rows}), {{&rows, {0, 1}}})));
}

}  // namespace
}  // namespace hlo::kernel
