// Tiles of shared memory: what kernels compute stays, whatever the loops' extents.
#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

/// y = x transposed + 1000 * its row + z, batch by batch; with `masked`, x is there only in some places.
std::string Transposition(int64_t batches, int64_t rows, int64_t columns, bool masked = false) {
  return llvm::formatv(R"(kernel k(b0: s32[{0}], b1: s32[{1}], out b2: s32[{0}]) {{
  for i0 in {1} {{
    for i1 in {2} {{
      %0 = index i1*1000
      %1 = convert s32 %0
      for i2 in {3} {{
        %6 = index i0*5 + i1*2 + i2*3
        %7 = constant s64 0x46
        %8 = compare LT pred %6, %7
        %2 = load b0[i0*{4} + i1 + i2*{2}]{5}
        %3 = add s32 %2, %1
        %4 = load b1[i0]
        %5 = add s32 %3, %4
        store b2[i0*{4} + i1*{3} + i2], %5
      }
    }
  }
}
)",
                       batches * rows * columns, batches, rows, columns, rows * columns,
                       masked ? " if %8 else %1" : "")
      .str();
}

std::vector<int32_t> Computed(const Kernel& kernel) {
  std::vector<int32_t> x(static_cast<size_t>(kernel.buffers[0].count)),
      z(static_cast<size_t>(kernel.buffers[1].count)), y(x.size(), 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * i % 1009);
  for (size_t i = 0; i < z.size(); ++i) z[i] = static_cast<int32_t>(i) * 1000000;
  std::vector<void*> buffers(kernel.buffers.size(), nullptr);
  buffers[0] = x.data(), buffers[1] = z.data(), buffers[2] = y.data();
  const Status status = Interpret(kernel, buffers);
  EXPECT_TRUE(status) << status.error().message << '\n' << ToString(kernel);
  return y;
}

Result<Kernel> Scheduled(llvm::StringRef text, llvm::StringRef schedule) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  const auto steps = ParseSchedule(schedule);
  EXPECT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(ToString(*steps), schedule);
  HLO_CHECK_OK(ApplySchedule(*kernel, *steps));
  const auto again = ParseKernel(ToString(*kernel));
  EXPECT_TRUE(again) << again.error().message;
  return std::move(*kernel);
}

void ExpectSameValues(const std::string& text, const char* schedule) {
  const auto kernel = Scheduled(text, schedule);
  ASSERT_TRUE(kernel) << schedule << ": " << kernel.error().message;
  EXPECT_EQ(Computed(*kernel), Computed(*ParseKernel(text))) << schedule << '\n' << ToString(*kernel);
  EXPECT_EQ(kernel->buffers.size(), 4U);
  EXPECT_EQ(kernel->buffers[3].space, Space::Shared);
}

TEST(KernelTiles, ValuesStayWhateverTheExtents) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{64, 64}, {32, 96}, {40, 72}, {33, 31}, {3, 200}, {150, 4}, {5, 33}}) {
    for (const bool masked : {false, true}) {
      const std::string text = Transposition(3, rows, columns, masked);
      ExpectSameValues(text, "tile i1, i2 by 128 into i3; fuse i0, i3 into i20; bind i20 to block.x");
      ExpectSameValues(text, "tile i1, i2 by 32 into i3; bind i0 to block.y; bind i3 to block.x");
      if (rows % 2 == 0 && columns % 2 == 0)
        ExpectSameValues(text,
                         "tile i1, i2 by 256 vector 2 into i3; fuse i0, i3 into i20; bind i20 to block.x");
    }
  }
}

TEST(KernelTiles, MasksOfWhatIsLoadedHaveNoTiles) {
  const auto kernel = Scheduled(R"(kernel k(b0: s32[64], b1: s32[64], out b2: s32[64]) {
  %0 = constant s32 0x0
  for i0 in 8 {
    for i1 in 8 {
      %1 = load b1[i0*8 + i1]
      %2 = compare GT pred %1, %0
      %3 = load b0[i0 + i1*8] if %2 else %0
      store b2[i0*8 + i1], %3
    }
  }
}
)",
                                "tile i0, i1 by 128 into i2");
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().message.find("nothing in i1 runs along i0"), std::string::npos);
}

TEST(KernelTiles, WhatDoesNotFitIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"tile i0, i1 by 128 into i3", "i1 holds more than values and stores"},
      {"tile i1, i2 by 100 into i3", "a tile for 100 threads: expected whole warps that divide 32"},
      {"tile i2, i1 by 128 into i3", "i2 is not in i1, but around it"},
      {"tile i1, i2 by 128 vector 16 into i3", "i1 in 40 has no whole vectors of 16"},
      {"tile i1, i2 by 128 into i0", "i0 is not new"},
      {"vector i2 by 4; tile i1, i2 by 128 into i3", "i2 is run in a way of its own"},
  };
  for (const auto& [schedule, message] : cases) {
    const auto kernel = Scheduled(Transposition(2, 40, 72), schedule);
    ASSERT_FALSE(kernel) << schedule;
    EXPECT_NE(kernel.error().message.find(message), std::string::npos) << kernel.error().message;
  }
  // Nothing runs along the outer loop.
  const auto plain = Scheduled(R"(kernel k(b0: s32[64], out b1: s32[64]) {
  for i0 in 8 {
    for i1 in 8 {
      %0 = load b0[i0*8 + i1]
      store b1[i0*8 + i1], %0
    }
  }
}
)",
                               "tile i0, i1 by 128 into i2");
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().message.find("nothing in i1 runs along i0"), std::string::npos);
}

}  // namespace
}  // namespace hlo::kernel
