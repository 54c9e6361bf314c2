#include "backends/kernel/fold.h"
#include "backends/kernel/interpret.h"
#include "backends/kernel/lower.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/test_target.h"
#include "backends/kernel/trim.h"
#include "gtest/gtest.h"
#include "ir/module.h"
#include "parser/parser.h"

namespace hlo::kernel {
namespace {

constexpr llvm::StringLiteral kSums = R"(kernel sums(b0: s32[231], b1: s32[11], out b2: s32[33]) {
  %0 = constant s32 0x5
  for i0 in 11 {
    %1 = load b1[i0]
    for i1 in 3 {
      %5 = reduce i2 in 7 init %0 {
        %2 = load b0[i0*21 + i1*7 + i2]
        %3 = multiply s32 %2, %1
        yield %3
      } by (%6, %7) {
        %8 = add s32 %6, %7
        yield %8
      }
      store b2[i0*3 + i1], %5
    }
  }
}
)";

std::string ErrorOf(llvm::StringRef text) {
  const auto kernel = ParseKernel(text);
  return kernel ? "" : kernel.error().message;
}

TEST(KernelIr, ErrorsOfTextAndOfMeaningHaveIds) {
  EXPECT_EQ(ParseKernel("kernel k() {\n  lop i0 in 4 {\n").error().id.text(), "kernel-text");
  EXPECT_EQ(ParseKernel("kernel k(out b0: f32[4]) {\n  store b0[0], %1\n}").error().id.text(),
            "kernel-invalid");
  EXPECT_EQ(ParseSchedule("melt i0").error().id.text(), "kernel-schedule");
}

TEST(KernelIr, TextIsReadAsItIsWritten) {
  auto kernel = ParseKernel(kSums);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kSums);
  const auto schedule = ParseSchedule("split i0 by 4 into i7, i8\nparallel i7\nvector i2 by 4 unroll 2");
  ASSERT_TRUE(schedule);
  ASSERT_TRUE(ApplySchedule(*kernel, *schedule));
  const std::string text = ToString(*kernel);
  EXPECT_NE(text.find("for i8 in 4 of i7 below 11"), std::string::npos) << text;
  const auto again = ParseKernel(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToString(*again), text);
}

TEST(KernelIr, TextHasBitcasts) {
  constexpr llvm::StringLiteral kText =
      "kernel k(b0: f32[8], out b1: u32[8]) {\n  for i0 in 8 {\n    %0 = load b0[i0]\n"
      "    %1 = bitcast-convert u32 %0\n    store b1[i0], %1\n  }\n}\n";
  const auto kernel = ParseKernel(kText);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kText);
}

TEST(KernelIr, TextHasStreamsPrecisionsAndBounds) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: f32[64], out b1: f32[64]) {
  for i0 in 64 vector(16, 1) {
    %0 = load b0[i0]
    %1 = reduce-precision e5m10 f32 %0
    %2 = exponential bounded f32 %1
    stream b1[i0], %2
  }
}
)";
  const auto kernel = ParseKernel(kText);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kText);
}

TEST(KernelIr, OnlyWhatGainsByItIsBounded) {
  const auto kernel = ParseKernel(
      "kernel k(b0: f32[8], out b1: f32[8]) {\n  for i0 in 8 {\n    %0 = load b0[i0]\n"
      "    %1 = logistic bounded f32 %0\n    store b1[i0], %1\n  }\n}\n");
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().message.find("%1: logistic bounded"), std::string::npos) << kernel.error().message;
}

TEST(KernelIr, ConstantsAreFolded) {
  auto kernel = ParseKernel(R"(kernel k(b0: f32[100], out b1: f32[100]) {
  %0 = constant s32 0xfffffffd
  %1 = convert s64 %0
  %2 = constant s64 0x0
  %3 = constant s64 0x7
  %4 = clamp s64 %2, %1, %3
  %5 = compare LE pred %4, %3
  %6 = constant f32 0x0
  %7 = load b0[%3*5 + %4 + 1] if %5 else %6
  %8 = load b0[3]
  for i0 in 9 {
    %9 = index i0
    %10 = compare LT pred %9, %3
    %11 = and pred %5, %10
    %12 = select f32 %5, %7, %8
    store b1[i0 + %3*2], %12 if %11
  }
  %13 = compare GT pred %2, %3
  store b1[0], %6 if %13
}
)");
  ASSERT_TRUE(kernel) << kernel.error().message;
  FoldConstants(*kernel);
  ASSERT_TRUE(VerifyKernel(*kernel));
  EXPECT_EQ(ToString(*kernel), R"(kernel k(b0: f32[100], out b1: f32[100]) {
  %0 = constant s64 0x7
  %1 = load b0[36]
  for i0 in 9 {
    %2 = index i0
    %3 = compare LT pred %2, %0
    store b1[i0 + 14], %1 if %3
  }
}
)");
}

TEST(KernelIr, IndicesThatFollowFromLoopsAreFolded) {
  auto kernel = ParseKernel(R"(kernel k(b0: f32[100], out b1: f32[100]) {
  %0 = constant s32 0x3
  %1 = constant s32 0x0
  %2 = constant s64 0x0
  %3 = constant s64 0x63
  for i0 in 20 {
    %4 = index i0*2 + 5
    %5 = convert s32 %4
    %6 = subtract s32 %5, %0
    %7 = compare LT pred %6, %1
    %8 = add s32 %6, %0
    %9 = select s32 %7, %8, %6
    %10 = convert s64 %9
    %11 = clamp s64 %2, %10, %3
    %12 = load b0[%11]
    %13 = convert u8 %4
    %14 = multiply u8 %13, %13
    %15 = convert s64 %14
    %16 = clamp s64 %2, %15, %3
    %17 = load b0[%16]
    %18 = add f32 %12, %17
    store b1[i0], %18
  }
}
)");
  ASSERT_TRUE(kernel) << kernel.error().message;
  FoldConstants(*kernel);
  ASSERT_TRUE(VerifyKernel(*kernel));
  EXPECT_EQ(ToString(*kernel), R"(kernel k(b0: f32[100], out b1: f32[100]) {
  %0 = constant s64 0x0
  %1 = constant s64 0x63
  for i0 in 20 {
    %2 = index i0*2 + 5
    %3 = load b0[i0*2 + 2]
    %4 = convert u8 %2
    %5 = multiply u8 %4, %4
    %6 = convert s64 %5
    %7 = clamp s64 %0, %6, %1
    %8 = load b0[%7]
    %9 = add f32 %3, %8
    store b1[i0], %9
  }
}
)");
}

TEST(KernelIr, ArraysAreTrimmedToWhatIsTouched) {
  auto kernel =
      ParseKernel(R"(kernel k(b0: f32[900], b1: s32[64], b2: f32[500], out b3: f32[300], b4: f32[4]) {
  %0 = load b1[63]
  %1 = convert s64 %0
  for i0 in 10 {
    for i1 in 5 {
      %2 = load b0[i0*20 + i1*-2 + 500]
      %3 = load b2[i1 + %1*5 + 7]
      %4 = load b4[3]
      %5 = add f32 %2, %3
      %6 = add f32 %5, %4
      store b3[i0*5 + i1 + 100], %6
    }
  }
}
)");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(TrimBuffers(*kernel, 16), (llvm::SmallVector<int64_t, 8>{492, 63, 0, 100, 0}));
  ASSERT_TRUE(VerifyKernel(*kernel));
  EXPECT_EQ(ToString(*kernel),
            R"(kernel k(b0: f32[189], b1: s32[1], b2: f32[500], out b3: f32[50], b4: f32[4]) {
  %0 = load b1[0]
  %1 = convert s64 %0
  for i0 in 10 {
    for i1 in 5 {
      %2 = load b0[i0*20 + i1*-2 + 8]
      %3 = load b2[i1 + %1*5 + 7]
      %4 = load b4[3]
      %5 = add f32 %2, %3
      %6 = add f32 %5, %4
      store b3[i0*5 + i1], %6
    }
  }
}
)");
}

TEST(KernelIr, BrokenKernelsAreRefused) {
  EXPECT_EQ(ErrorOf("kernel k(b0: f32[4]) {\n  %0 = load b1[0]\n}"),
            "line 2: found '[0]', expected a buffer of the kernel");
  EXPECT_EQ(ErrorOf("kernel k(b0: f32[4]) {\n  %0 = load b0[i1]\n}"),
            "line 2: i1 is used outside of its loop");
  EXPECT_EQ(ErrorOf("kernel k(b0: f32[4]) {\n  %0 = load b0[0]\n  store b0[0], %0\n}"),
            "line 3: store to b0, which is no output");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  store b0[0], %1\n}"),
            "line 2: %1 is used where it is not defined");
  EXPECT_EQ(
      ErrorOf("kernel k(out b0: s64[4]) {\n  for i0 in 4 {\n    %0 = index i0\n  }\n  store b0[0], %0\n}"),
      "line 5: %0 is used where it is not defined");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  %0 = index 7\n  store b0[0], %0\n}"),
            "line 3: %0 is s64, expected f32");
  EXPECT_EQ(ErrorOf("kernel k() {\n  %0 = frobnicate s32 %1\n}"),
            "line 2: found 'frobnicate s32 %1', expected an elementwise opcode");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  store b0[0], i1\n}"),
            "line 2: found 'i1', expected a value like %0");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  for b1 in 4 {\n  }\n}"),
            "line 2: found 'b1 in 4 {', expected a loop like i0");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  store i1[0], %0\n}"),
            "line 2: found 'i1[0], %0', expected a buffer like b0");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  %0 = constant f32 0x0\n  %1 = reduce i0 in 4 init %0 {\n"
                    "    yield %0, %0\n  } by (%2, %3) {\n    yield %2\n  }\n}"),
            "line 5: found '{', expected a result, an element and two parameters for each init");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  for i0 in 4 ordered parallel {\n  }\n}"),
            "line 2: i0 is ordered, but vector or parallel");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  for i0 in 4 unroll(3) {\n  }\n}"),
            "line 2: 3 iterations of i0 at once do not divide 4");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  %0 = constant pred 0x1\n  for i0 in 4 when %0 {\n  }\n}"),
            "line 3: i0 has a condition, but more than one iteration, or is bound or parallel");
  EXPECT_EQ(ErrorOf("kernel k(out b0: f32[4]) {\n  %0 = constant f32 0x0\n  for i0 in 1 when %0 {\n  }\n}"),
            "line 3: %0 is f32, expected pred");
}

TEST(KernelIr, LoopsEndBeforeValues) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s64[4], out b1: s64[4]) {
  %0 = constant s64 0x2
  for i0 in 4 {
    %1 = load b0[i0]
    store b1[i0], %0
    for i1 in 3 before %1 ordered {
      %2 = load b1[i0]
      %3 = multiply s64 %2, %2
      store b1[i0], %3
    }
  }
}
)";
  auto kernel = ParseKernel(kText);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kText);
  FoldConstants(*kernel);
  EXPECT_EQ(ToString(*kernel), kText);
  std::vector<int64_t> x = {2, -1, 0, 9}, y(4);
  void* buffers[] = {x.data(), y.data()};
  ASSERT_TRUE(Interpret(*kernel, buffers));
  EXPECT_EQ(y, (std::vector<int64_t>{16, 2, 2, 256}));
  EXPECT_EQ(
      ErrorOf("kernel k(out b0: f32[4]) {\n  %0 = constant pred 0x1\n  for i0 in 4 before %0 {\n  }\n}"),
      "line 3: i0 ends before what is no s64");
  EXPECT_EQ(
      ErrorOf(
          "kernel k(out b0: f32[4]) {\n  %0 = constant s64 0x1\n  for i0 in 4 before %0 parallel {\n  }\n}"),
      "line 3: i0 ends before a value, but is cut, bound, parallel, a vector, written out or has a "
      "condition");
}

TEST(KernelIr, LoopsOfOneIterationHaveConditions) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[6], out b1: s32[6]) {
  %0 = constant s32 0x3
  for i0 in 6 {
    %1 = load b0[i0]
    store b1[i0], %0
    %2 = compare LT pred %1, %0
    for i1 in 1 when %2 {
      store b1[i0 + i1], %1
    }
  }
}
)";
  const auto kernel = ParseKernel(kText);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), kText);
  std::vector<int32_t> x = {5, 1, 3, 2, -7, 9}, y(6);
  void* buffers[] = {x.data(), y.data()};
  ASSERT_TRUE(Interpret(*kernel, buffers));
  EXPECT_EQ(y, (std::vector<int32_t>{3, 1, 3, 2, -7, 3}));
}

std::vector<int32_t> RunSums(const Kernel& kernel) {
  std::vector<int32_t> x(231), y(11), z(33);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * i % 101);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int32_t>(i) - 5;
  void* buffers[] = {x.data(), y.data(), z.data()};
  EXPECT_TRUE(Interpret(kernel, buffers));
  return z;
}

TEST(KernelIr, SchedulesKeepWhatIsComputed) {
  const std::vector<int32_t> expected = RunSums(*ParseKernel(kSums));
  int64_t sum = 5;
  for (int64_t k = 0; k < 7; ++k) sum += (7 + k) * (7 + k) % 101 * -5;
  EXPECT_EQ(expected[1], sum);
  for (const char* text :
       {"vector i2 by 4", "vector i2 by 2 unroll 4", "vector i1 by 2", "reorder i1, i0",
        "split i0 by 3 into i3, i4", "split i0 by 3 into i3, i4\nreorder i3, i1, i4\nvector i4 by 4",
        "split i2 by 2 into i3, i4\nvector i4 by 2", "unroll i1 by 3\nparallel i0",
        "split i1 by 2 into i3, i4\nreorder i3, i0, i4\nunroll i4 by 2", "unroll i0 by 11\nparallel i0"}) {
    auto kernel = ParseKernel(kSums);
    const auto schedule = ParseSchedule(text);
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_EQ(ParseSchedule(ToString(*schedule)).value(), *schedule);
    const Status status = ApplySchedule(*kernel, *schedule);
    ASSERT_TRUE(status) << text << ": " << status.error().message;
    ASSERT_TRUE(VerifyKernel(*kernel)) << text;
    EXPECT_EQ(RunSums(*kernel), expected) << text;
  }
}

TEST(KernelIr, ReductionsOfFreeOrderAreReordered) {
  auto kernel = ParseKernel(R"(kernel k(b0: s32[77], out b1: s32[1]) {
  %0 = constant s32 0x5
  %1 = reduce i0 in 7, i1 in 11 init %0 {
    %2 = load b0[i0*11 + i1]
    yield %2
  } by (%3, %4) {
    %5 = add s32 %3, %4
    yield %5
  }
  store b1[0], %1
})");
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_TRUE(ApplySchedule(*kernel, *ParseSchedule("reorder i1, i0")));
  EXPECT_NE(ToString(*kernel).find("reduce i1 in 11, i0 in 7 init"), std::string::npos) << ToString(*kernel);
  ASSERT_TRUE(VerifyKernel(*kernel));
  std::vector<int32_t> x(77, 3), sum(1);
  void* buffers[] = {x.data(), sum.data()};
  ASSERT_TRUE(Interpret(*kernel, buffers));
  EXPECT_EQ(sum[0], 5 + 77 * 3);
}

TEST(KernelIr, LoopsOfSeveralNestsAreNotReordered) {
  constexpr llvm::StringLiteral kText = R"(kernel k(b0: s32[12], out b1: s32[12]) {
  for i0 in 3 {
    for i1 in 4 {
      %0 = load b0[i0*4 + i1]
      store b1[i0*4 + i1], %0
    }
    for i2 in 4 {
      %1 = load b0[i0*4 + i2]
      store b1[i0*4 + i2], %1
    }
    store b1[i0], %2
  }
})";
  const std::string text = kText.str(), value = "  %2 = constant s32 0x1\n  for i0";
  const std::string whole = std::string(text).replace(text.find("  for i0"), 8, value);
  const size_t second = whole.find("    for i2"), last = whole.find("    store b1[i0], %2");
  std::string one = whole;
  one.erase(second, last - second);  // i1 and a store
  const std::pair<std::string, std::pair<const char*, const char*>> cases[] = {
      {whole, {"reorder i1, i0", "i0 holds other loops too"}},
      {whole, {"reorder i1, i2", "the loops to reorder are not nested in each other"}},
      {one, {"reorder i1, i0", "i0 holds statements that cannot move into an inner loop"}},
  };
  for (const auto& [kernel_text, expected] : cases) {
    auto kernel = ParseKernel(kernel_text);
    ASSERT_TRUE(kernel) << kernel.error().message;
    const Status status = ApplySchedule(*kernel, *ParseSchedule(expected.first));
    ASSERT_FALSE(status) << expected.first;
    EXPECT_EQ(status.error().message, std::string("'") + expected.first + "': " + expected.second);
  }
}

TEST(KernelIr, TransposesAreTiled) {
  auto kernel = ParseKernel(R"(kernel transpose(b0: f32[1850], out b1: f32[1850]) {
  for i0 in 37 {
    for i1 in 50 {
      %0 = load b0[i0 + i1*37]
      store b1[i0*50 + i1], %0
    }
  }
})");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(ToString(ChooseSchedule(*kernel, TestTarget())),
            "split i0 by 16 into i2, i3; split i1 by 16 into i4, i5; reorder i2, i4, i3, i5; "
            "unroll i3 by 16; vector i5 by 16; parallel i2");
  ASSERT_TRUE(ScheduleLoops(*kernel, TestTarget()));
  EXPECT_TRUE(VerifyKernel(*kernel));
}

TEST(KernelIr, IllegalSchedulesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"vector i9 by 4", "there is no loop i9"},
      {"vector i0 by 3", "vectors of 3 lanes, 1 of them: expected powers of two, together up to 1024"},
      {"vector i2 by 4\nvector i0 by 4", "i0 holds another vector loop"},
      {"parallel i1", "i1 is not an outermost loop, or ordered"},
      {"split i0 by 11 into i3, i4", "i0 in 11 cannot be cut into pieces of 11"},
      {"split i0 by 4 into i1, i4", "split i0 into i1 and i4, which are not new"},
      {"split i0 by 4 into i3, i4\nreorder i4, i3", "i4 must stay inside of i3"},
      {"unroll i0 by 3", "i0 cannot be written out 3 times"},
      {"split i0 by 4 into i3, i4\nsplit i3 by 2 into i5, i6",
       "i3 is half of a cut whose pieces are not all whole"},
      {"split i0 by 4 into i3, i16777215", "i16777215 is too large a number"},
      {"reorder i2, i0", "reorder must name all loops of the reduction"},
  };
  for (const auto& [text, message] : cases) {
    auto kernel = ParseKernel(kSums);
    const auto schedule = ParseSchedule(text);
    ASSERT_TRUE(schedule) << text;
    const Status status = ApplySchedule(*kernel, *schedule);
    ASSERT_FALSE(status) << text;
    const auto [before, last] = llvm::StringRef(text).rsplit('\n');
    EXPECT_EQ(status.error().message, ("'" + (last.empty() ? before : last) + "': " + message).str());
  }
  EXPECT_EQ(ParseSchedule("\nsplit i0 8").error().message, "step 1: found '8', expected 'by'");
  EXPECT_EQ(
      ParseSchedule("melt i0").error().message,
      "step 1: found 'melt', expected split, reorder, vector, unroll, parallel, bind, fuse, once, team, "
      "join, tile, atomic, product or distribute");
}

}  // namespace
}  // namespace hlo::kernel
