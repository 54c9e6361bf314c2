// Kernels that may write an array over one that they read.
#include "backends/kernel/rows_in_place.h"

#include "backends/kernel/parse.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

bool MayWrite(llvm::StringRef text, llvm::StringRef schedule) {
  const auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  const auto steps = ParseSchedule(schedule);
  EXPECT_TRUE(steps) << steps.error().message;
  if (!kernel || !steps) return false;
  return MayWriteOver(*kernel, *steps, 0, 1);
}

/// Rows of 8 divided by the sum of what `LOAD` reads, or folded by `COMBINE`.
std::string Rows(llvm::StringRef load = "load b0[i0*8 + i1]", llvm::StringRef combine = "add f32 %1, %2") {
  return llvm::formatv(R"(kernel k(b0: f32[48], out b1: f32[48]) {{
  for i0 in 6 {{
    %0 = constant f32 0x0
    %4 = reduce i1 in 8 init %0 {{
      %3 = {0}
      yield %3
    } by (%1, %2) {{
      %5 = {1}
      yield %5
    }
    for i2 in 8 {{
      %6 = load b0[i0*8 + i2]
      %7 = divide f32 %6, %4
      store b1[i0*8 + i2], %7
    }
  }
})",
                       load, combine)
      .str();
}

constexpr llvm::StringLiteral kTeam = "bind i0 to block.x; team i0 by 32";

TEST(MayWriteOver, RowsThatAreFoldedBefore) {
  EXPECT_TRUE(MayWrite(Rows(), kTeam));
  EXPECT_TRUE(MayWrite(Rows(), "split i0 by 2 into i3, i4; bind i3 to block.x; bind i4 to thread.x"));
  EXPECT_TRUE(
      MayWrite(Rows(), "split i0 by 2 into i3, i4; bind i3 to block.x; bind i4 to thread.y; team i4 by 32"));
}

TEST(MayWriteOver, NotWhatOtherRowsRead) {
  EXPECT_FALSE(MayWrite(Rows("load b0[i0*8 + i1 + 1]"), kTeam));
  EXPECT_FALSE(MayWrite(Rows("load b0[i0 + i1*6]"), kTeam));
  EXPECT_FALSE(MayWrite(Rows("load b0[i1]"), kTeam));
}

TEST(MayWriteOver, NotWhereThreadsDoNotWait) {
  // All threads of a team fold by themselves what keeps its order.
  EXPECT_FALSE(MayWrite(Rows("load b0[i0*8 + i1]", "subtract f32 %1, %2"), kTeam));
  // Threads that divide a row fold all of it, each.
  EXPECT_FALSE(MayWrite(Rows(), "bind i0 to block.x; bind i2 to thread.x"));
  EXPECT_FALSE(MayWrite(Rows(), "split i0 by 2 into i3, i4; bind i3 to block.x; team i3 by 32"));
  EXPECT_FALSE(MayWrite(Rows(), ""));
}

TEST(MayWriteOver, NotWhatAllOfATeamReadBesideFolds) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: f32[6], out b1: f32[6], b2: f32[48]) {
  for i0 in 6 {
    %0 = constant f32 0x0
    %6 = load b0[i0]
    %4 = reduce i1 in 8 init %0 {
      %3 = load b2[i0*8 + i1]
      yield %3
    } by (%1, %2) {
      %5 = add f32 %1, %2
      yield %5
    }
    %7 = add f32 %6, %4
    store b1[i0], %7
  }
})";
  EXPECT_FALSE(MayWrite(kText, kTeam));
  EXPECT_TRUE(MayWrite(kText, "split i0 by 2 into i3, i4; bind i3 to block.x; bind i4 to thread.x"));
}

TEST(MayWriteOver, NotWhatIsReadAfterwards) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: f32[48], out b1: f32[48], out b2: f32[6]) {
  for i0 in 6 {
    for i2 in 8 {
      %6 = load b0[i0*8 + i2]
      %7 = negate f32 %6
      store b1[i0*8 + i2], %7
    }
    %0 = constant f32 0x0
    %4 = reduce i1 in 8 init %0 {
      %3 = load b0[i0*8 + i1]
      yield %3
    } by (%1, %2) {
      %5 = add f32 %1, %2
      yield %5
    }
    store b2[i0], %4
  }
})";
  EXPECT_FALSE(MayWrite(kText, kTeam));
}

TEST(MayWriteOver, TheElementThatIsWrittenNext) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: f32[48], out b1: s32[48]) {
  for i0 in 48 {
    %6 = load b0[i0]
    %7 = bitcast-convert s32 %6
    store b1[i0], %7
  }
})";
  EXPECT_TRUE(MayWrite(kText, "split i0 by 32 into i1, i2; bind i1 to block.x; bind i2 to thread.x"));
  constexpr llvm::StringLiteral kTurned = R"(kernel k(b0: f32[48], out b1: f32[48]) {
  for i0 in 48 {
    %6 = load b0[47 + i0*-1]
    store b1[i0], %6
  }
})";
  EXPECT_FALSE(MayWrite(kTurned, "split i0 by 32 into i1, i2; bind i1 to block.x; bind i2 to thread.x"));
}

}  // namespace
}  // namespace hlo::kernel
