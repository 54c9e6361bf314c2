// Kernels whose loops become one, and rows that threads share: what they compute stays.
#include "backends/kernel/team.h"

#include <cmath>
#include <numeric>

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/test_target.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

Kernel Scheduled(llvm::StringRef text, llvm::StringRef schedule) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  const auto steps = ParseSchedule(schedule);
  EXPECT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(ToString(*steps), schedule);
  const Status status = ApplySchedule(*kernel, *steps);
  EXPECT_TRUE(status) << status.error().message << '\n' << schedule.str();
  // What is printed is read back as it is.
  const auto again = ParseKernel(ToString(*kernel));
  EXPECT_TRUE(again) << again.error().message << '\n' << ToString(*kernel);
  if (again) EXPECT_EQ(ToString(*again), ToString(*kernel));
  return std::move(*kernel);
}

/// Runs a kernel of one input and one output, the latter's elements all 7 before.
template <class T>
std::vector<T> Computed(const Kernel& kernel, std::vector<T> x) {
  std::vector<T> y(static_cast<size_t>(kernel.buffers[1].count), T{7});
  std::vector<void*> buffers(kernel.buffers.size(), nullptr);
  buffers[0] = x.data(), buffers[1] = y.data();
  const Status status = Interpret(kernel, buffers);
  EXPECT_TRUE(status) << status.error().message << '\n' << ToString(kernel);
  return y;
}

std::vector<int32_t> Numbers(size_t count) {
  std::vector<int32_t> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<int32_t>(i * i % 1009) - 400;
  return x;
}

TEST(KernelFuse, LoopsCountThroughAll) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[42], out b1: s32[210]) {
  for i0 in 6 {
    for i1 in 7 {
      %0 = load b0[i0 + i1*6]
      for i2 in 5 {
        %1 = index i2 + i1*2
        %2 = convert s32 %1
        %3 = add s32 %0, %2
        store b1[i0*35 + i1*5 + i2], %3
      }
    }
  }
}
)";
  const auto x = Numbers(42);
  const auto expected = Computed(*ParseKernel(kText), x);
  for (const char* schedule :
       {"fuse i0, i1, i2 into i3", "fuse i0, i1 into i3", "fuse i1, i2 into i3",
        "fuse i0, i1, i2 into i3; split i3 by 32 into i4, i5; bind i4 to block.x; bind i5 to thread.x",
        "fuse i0, i1 into i3; split i3 by 4 into i4, i5; bind i4 to block.x; bind i5 to thread.x"})
    EXPECT_EQ(Computed(Scheduled(kText, schedule), x), expected) << schedule;
  // Where the nest counts through memory there is no division.
  EXPECT_NE(ToString(Scheduled(kText, "fuse i0, i1, i2 into i3")).find("store b1[i3]"), std::string::npos);

  const std::pair<const char*, const char*> cases[] = {
      {"fuse i0, i2 into i3", "i0 holds other loops too"},
      {"fuse i1, i0 into i3", "i1 is not in i0, but around it"},
      {"fuse i0, i1 into i2", "i2 is not new"},
      {"fuse i0, i0 into i3", "i0 is named twice"},
      {"vector i2 by 4; fuse i1, i2 into i3", "i2 is run in a way of its own"},
      {"split i0 by 4 into i3, i4; fuse i4, i1 into i5", "i4 is run in a way of its own"},
      {"once into i2", "i2 is not new"},
      {"team i0 by 32", "i0 is not bound"},
      {"bind i0 to block.x; team i0 by 33",
       "a team of 33: expected a power of two up to 32, or a multiple of it"},
      {"bind i0 to block.x; team i0 by 2048", "a team of 2048: expected at most 1024"},
  };
  for (const auto& [schedule, message] : cases) {
    auto kernel = ParseKernel(kText);
    const Status status = ApplySchedule(*kernel, *ParseSchedule(schedule));
    ASSERT_FALSE(status) << schedule;
    EXPECT_TRUE(llvm::StringRef(status.error().message).ends_with(message)) << status.error().message;
  }
}

/// Sums of rows, and what each element is above them.
std::string Rows(int64_t rows, int64_t columns) {
  return llvm::formatv(R"(kernel k(b0: s32[{0}], out b1: s32[{0}]) {{
  %0 = constant s32 0x3
  for i0 in {1} {{
    %1 = reduce i1 in {2} init %0 {{
      %2 = load b0[i0*{2} + i1]
      yield %2
    } by (%3, %4) {{
      %5 = add s32 %3, %4
      yield %5
    }
    %6 = reduce i2 in {2} init %0 {{
      %7 = load b0[i0*{2} + i2]
      yield %7
    } by (%8, %9) {{
      %10 = maximum s32 %8, %9
      yield %10
    }
    for i3 in {2} {{
      %11 = load b0[i0*{2} + i3]
      %12 = subtract s32 %11, %6
      %13 = multiply s32 %12, %1
      store b1[i0*{2} + i3], %13
    }
  }
}
)",
                       rows * columns, rows, columns)
      .str();
}

TEST(KernelTeam, RowsAreShared) {
  for (const int64_t columns : {8, 40, 128, 1000, 1024}) {
    const std::string text = Rows(5, columns);
    const auto x = Numbers(static_cast<size_t>(5 * columns));
    const auto expected = Computed(*ParseKernel(text), x);
    for (const char* schedule :
         {"bind i0 to block.x; team i0 by 32", "bind i0 to block.x; team i0 by 8 vector 4",
          "bind i0 to block.x; team i0 by 1", "bind i0 to block.x; team i0 by 64 vector 4",
          "bind i0 to block.x; team i0 by 96 vector 2", "bind i0 to block.x; team i0 by 96 vector 2 keep",
          "bind i0 to block.x; team i0 by 8 keep",
          "split i0 by 4 into i4, i5; bind i4 to block.x; bind i5 to thread.x; team i5 by 32 vector 4",
          "split i0 by 2 into i4, i5; bind i4 to block.x; bind i5 to thread.x; team i5 by 16"})
      EXPECT_EQ(Computed(Scheduled(text, schedule), x), expected) << columns << ' ' << schedule;
  }
}

/// Sums and largest of columns.
std::string ColumnsOf(int64_t rows, int64_t columns) {
  return llvm::formatv(R"(kernel k(b0: s32[{0}], out b1: s32[{2}]) {{
  %0 = constant s32 0x3
  for i0 in {2} {{
    %1 = reduce i1 in {1} init %0 {{
      %2 = load b0[i0 + i1*{2}]
      yield %2
    } by (%3, %4) {{
      %5 = add s32 %3, %4
      yield %5
    }
    %6 = reduce i2 in {1} init %0 {{
      %7 = load b0[i0 + i2*{2}]
      %8 = subtract s32 %7, %1
      yield %8
    } by (%9, %10) {{
      %11 = maximum s32 %9, %10
      yield %11
    }
    %12 = multiply s32 %6, %1
    store b1[i0], %12
  }
}
)",
                       rows * columns, rows, columns)
      .str();
}

TEST(KernelTeam, ColumnsAreShared) {
  for (const int64_t rows : {2, 16, 33, 100}) {
    const std::string text = ColumnsOf(rows, 40);
    const auto x = Numbers(static_cast<size_t>(40 * rows));
    const auto expected = Computed(*ParseKernel(text), x);
    for (const char* schedule :
         {"once into i3; bind i3 to block.x; bind i0 to thread.x; team i0 by 16 across",
          "split i0 by 8 into i3, i4; bind i3 to block.x; bind i4 to thread.x; team i4 by 4 across",
          "split i0 by 20 into i3, i4; bind i3 to block.x; bind i4 to thread.x; team i4 by 32 keep across"})
      EXPECT_EQ(Computed(Scheduled(text, schedule), x), expected) << rows << ' ' << schedule;
  }
  const std::pair<const char*, const char*> cases[] = {
      {"bind i0 to block.x; team i0 by 16 across",
       "i0 is not bound to thread.x, or cut such that its last piece is smaller"},
      {"split i0 by 16 into i3, i4; bind i3 to block.x; bind i4 to thread.x; team i4 by 4 across",
       "i4 is not bound to thread.x, or cut such that its last piece is smaller"},
      {"bind i0 to thread.x; team i0 by 64 across",
       "a team of 64 across: expected a power of two from 2 to 32, without vectors"},
  };
  for (const auto& [schedule, message] : cases) {
    auto kernel = ParseKernel(ColumnsOf(8, 40));
    const Status status = ApplySchedule(*kernel, *ParseSchedule(schedule));
    ASSERT_FALSE(status) << schedule;
    EXPECT_TRUE(llvm::StringRef(status.error().message).ends_with(message)) << status.error().message;
  }
}

TEST(KernelTeam, AWholeKernelIsOneRow) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[5000], out b1: s32[1]) {
  %0 = constant s32 0x3
  %1 = reduce i0 in 5000 init %0 {
    %2 = load b0[i0]
    yield %2
  } by (%3, %4) {
    %5 = add s32 %3, %4
    yield %5
  }
  store b1[0], %1
}
)";
  const auto x = Numbers(5000);
  const int32_t sum = std::accumulate(x.begin(), x.end(), 3);
  for (const char* schedule : {"once into i1; bind i1 to block.x; team i1 by 1024 vector 4",
                               "once into i1; bind i1 to block.x; team i1 by 32"})
    EXPECT_EQ(Computed(Scheduled(kText, schedule), x), std::vector<int32_t>{sum}) << schedule;
}

TEST(KernelJoin, LoopsRunSideBySide) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[300], out b1: s32[600]) {
  %0 = constant s32 0x3
  for i0 in 300 {
    %1 = load b0[i0]
    %2 = add s32 %1, %0
    store b1[i0], %2
  }
  for i1 in 100 {
    for i2 in 3 {
      %3 = load b0[i1 + i2*100]
      store b1[i1*3 + i2 + 300], %3
    }
  }
}
)";
  const auto x = Numbers(300);
  const auto expected = Computed(*ParseKernel(kText), x);
  for (const char* schedule :
       {"split i0 by 32 into i3, i4; fuse i1, i2 into i5; split i5 by 50 into i6, i7; join i3, i6 into i8; "
        "bind i8 to block.x; bind i4 to thread.x; bind i7 to thread.x",
        "split i0 by 128 into i3, i4; join i3, i1 into i8",
        "split i0 by 50 into i3, i4; fuse i1, i2 into i5; join i3, i5 into i6; bind i6 to block.x; "
        "bind i4 to thread.x; bind i5 to thread.x"})
    EXPECT_EQ(Computed(Scheduled(kText, schedule), x), expected) << schedule;
  const std::pair<const char*, const char*> cases[] = {
      {"split i0 by 128 into i3, i4; join i3 into i5", "i1 is an outermost loop, too"},
      {"split i0 by 128 into i3, i4; join i3, i1, i4 into i5", "expected all outermost loops"},
      {"split i0 by 128 into i3, i4; join i3, i1 into i4", "i4 is not new"},
  };
  for (const auto& [schedule, message] : cases) {
    auto kernel = ParseKernel(kText);
    const Status status = ApplySchedule(*kernel, *ParseSchedule(schedule));
    ASSERT_FALSE(status) << schedule;
    EXPECT_TRUE(llvm::StringRef(status.error().message).ends_with(message)) << status.error().message;
  }
}

// As of a concatenation within rows, with what both parts read in the middle.
TEST(KernelDistribute, LoopsSideBySideGetLoopsOfTheirOwn) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[400], out b1: s32[700]) {
  for i0 in 100 {
    %0 = load b0[i0*4]
    for i1 in 4 {
      %1 = load b0[i0*4 + i1]
      %2 = add s32 %1, %0
      store b1[i0*7 + i1], %2
    }
    for i2 in 2 {
      store b1[i0*7 + i2 + 4], %0
    }
    store b1[i0*7 + 6], %0
  }
}
)";
  const auto x = Numbers(400);
  const auto expected = Computed(*ParseKernel(kText), x);
  const Kernel parted = Scheduled(kText, "distribute i0");
  EXPECT_EQ(
      llvm::count_if(parted.body.stmts, [](const Stmt& s) { return std::holds_alternative<LoopStmt>(s); }),
      3);
  EXPECT_EQ(Computed(parted, x), expected);
  // Loops are numbered anew, piece after piece: what is stored beside loops comes first.
  for (const char* schedule :
       {"distribute i0; split i3 by 32 into i20, i21; fuse i6, i7 into i22; split i22 by 50 into i23, i24; "
        "split i9 by 64 into i25, i26; join i20, i23, i25 into i27; bind i27 to block.x; bind i21 to "
        "thread.x; "
        "bind i24 to thread.x; bind i26 to thread.x"})
    EXPECT_EQ(Computed(Scheduled(kText, schedule), x), expected) << ToString(parted);
  const std::pair<const char*, const char*> cases[] = {
      {"distribute i1", "expected all outermost loops"},
      {"distribute i0; distribute i3, i6, i9", "there are no loops side by side that may be parted"},
      {"split i0 by 7 into i3, i4; distribute i3", "there are no loops side by side that may be parted"},
  };
  for (const auto& [schedule, message] : cases) {
    auto kernel = ParseKernel(kText);
    const Status status = ApplySchedule(*kernel, *ParseSchedule(schedule));
    ASSERT_FALSE(status) << schedule;
    EXPECT_TRUE(llvm::StringRef(status.error().message).ends_with(message)) << status.error().message;
  }
}

Target Machine() {
  Target target = TestTarget();
  target.blocks = {.threads = 128,
                   .most_threads = 1024,
                   .lanes = 32,
                   .access = 16,
                   .full = 64,
                   .shared = 49152,
                   .units = {}};
  return target;
}

std::string Chosen(llvm::StringRef text) {
  const auto kernel = ParseKernel(text);
  return kernel ? ToString(ChooseSchedule(*kernel, Machine())) : kernel.error().message;
}

TEST(KernelTeam, SchedulesFitTheKernel) {
  // Neighbours of a thread fill its accesses; where there are few elements threads have one each.
  const auto elementwise = [](llvm::StringRef type, int64_t count) {
    return llvm::formatv(R"(kernel k(b0: {0}[{1}], out b1: {0}[{1}]) {{
  for i0 in {1} {{
    %0 = load b0[i0]
    %1 = negate {0} %0
    store b1[i0], %1
  }
}
)",
                         type, count)
        .str();
  };
  EXPECT_EQ(
      Chosen(elementwise("f32", 4096)),
      "split i0 by 4 into i1, i2; vector i2 by 4; split i1 by 128 into i3, i4; bind i3 to block.x; bind i4 "
      "to thread.x");
  EXPECT_EQ(
      Chosen(elementwise("bf16", 4096)),
      "split i0 by 8 into i1, i2; vector i2 by 8; split i1 by 128 into i3, i4; bind i3 to block.x; bind i4 "
      "to thread.x");
  EXPECT_EQ(Chosen(elementwise("f32", 32)),
            "split i0 by 16 into i1, i2; bind i1 to block.x; bind i2 to thread.x");
  EXPECT_EQ(Chosen(elementwise("f32", 1)), "bind i0 to block.x");
  EXPECT_EQ(Chosen(Rows(100, 4096)), "bind i0 to block.x; team i0 by 256 vector 4 keep");
  // The row is read once, and not kept where it is longer than registers.
  const std::string kept = ToString(Scheduled(Rows(100, 4096), Chosen(Rows(100, 4096))));
  EXPECT_EQ(llvm::StringRef(kept).count("load b0["), 1U) << kept;
  EXPECT_EQ(Chosen(Rows(2, 1 << 17)), "bind i0 to block.x; team i0 by 1024 vector 4");
  EXPECT_EQ(Chosen(Rows(100, 512)),
            "split i0 by 4 into i4, i5; bind i4 to block.x; bind i5 to thread.x; team i5 by 32 vector 4 "
            "keep");
  EXPECT_EQ(Chosen(Rows(100, 30)),
            "split i0 by 8 into i4, i5; bind i4 to block.x; bind i5 to thread.x; team i5 by 16 vector 2 "
            "keep");

  // All that is chosen is legal, and computes the same.
  for (const int64_t rows : {1, 2, 3, 100})
    for (const int64_t columns : {1, 2, 7, 8, 30, 33, 512, 1025}) {
      const std::string text = Rows(rows, columns);
      const auto x = Numbers(static_cast<size_t>(rows * columns));
      EXPECT_EQ(Computed(Scheduled(text, Chosen(text)), x), Computed(*ParseKernel(text), x))
          << rows << ' ' << columns;
    }
}

}  // namespace
}  // namespace hlo::kernel
