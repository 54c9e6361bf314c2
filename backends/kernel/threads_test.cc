// Kernels of blocks and threads, written by hand: read, printed back, verified, interpreted.
#include "backends/kernel/threads.h"

#include <cmath>
#include <numeric>

#include "backends/kernel/dedupe.h"
#include "backends/kernel/fold.h"
#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/test_kernels.h"
#include "backends/kernel/test_target.h"
#include "backends/kernel/trim.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::kernel {
namespace {

Kernel Parsed(llvm::StringRef text) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(ToString(*kernel), text);
  return std::move(*kernel);
}

TEST(KernelThreads, BlocksReduce) {
  const Kernel kernel = Parsed(kRowSums);
  std::vector<float> x(3000), sums(3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 37);
  void* buffers[] = {x.data(), sums.data(), nullptr};
  const Status status = Interpret(kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(sums[row], std::accumulate(x.begin() + row * 1000, x.begin() + (row + 1) * 1000, 0.0F)) << row;
}

TEST(KernelThreads, TilesAreTransposed) {
  const Kernel kernel = Parsed(kTranspose);
  std::vector<uint16_t> x(560), y(560);
  std::iota(x.begin(), x.end(), uint16_t{1});
  void* buffers[] = {x.data(), y.data(), nullptr};
  const Status status = Interpret(kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  for (size_t i = 0; i < 20; ++i)
    for (size_t j = 0; j < 28; ++j) ASSERT_EQ(y[j * 20 + i], x[i * 28 + j]) << i << ' ' << j;
}

TEST(KernelThreads, UpdatesAreScattered) {
  const Kernel kernel = Parsed(kScatter);
  std::vector<int32_t> at(100), counts = {0, -1, 0};
  std::vector<float> by(100), sums(10, 1), expected(10, 1);
  int32_t counted = 0;
  for (int32_t i = 0; i < 100; ++i) {
    const auto n = static_cast<size_t>(i);
    at[n] = i * 7 % 13 - 2;
    by[n] = static_cast<float>(i);
    if (at[n] < 0 || at[n] >= 10) continue;
    expected[static_cast<size_t>(at[n])] += by[n];
    ++counted;
  }
  void* buffers[] = {at.data(), by.data(), sums.data(), counts.data()};
  const Status status = Interpret(kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(sums, expected);
  EXPECT_EQ(counts, (std::vector<int32_t>{counted, counted - 1, at[0]}));
}

TEST(KernelThreads, LanesHandOnWhatTheyHave) {
  const Kernel kernel = Parsed(R"(kernel lanes(b0: s32[16], out b1: s32[80]) {
  for i0 in 1 block.x {
    for i1 in 2 thread.y {
      for i2 in 8 lane {
        %0 = load b0[i1*8 + i2]
        %1 = shuffle up %0 by 3
        store b1[i1*40 + i2], %1
        %2 = shuffle down %0 by i1 + 1
        store b1[i1*40 + i2 + 8], %2
        %3 = shuffle xor %0 by 5
        store b1[i1*40 + i2 + 16], %3
        %4 = shuffle index %0 by i2*-1 + 7
        store b1[i1*40 + i2 + 24], %4
        %5 = lane-reduce maximum %0
        store b1[i1*40 + i2 + 32], %5
      }
    }
  }
}
)");
  std::vector<int32_t> x(16), y(80);
  std::iota(x.begin(), x.end(), 100);
  void* buffers[] = {x.data(), y.data()};
  const Status status = Interpret(kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  for (int32_t group = 0; group < 2; ++group)
    for (int32_t lane = 0; lane < 8; ++lane) {
      const auto place = static_cast<size_t>(group) * 40 + static_cast<size_t>(lane);
      const auto at = [&](size_t row) { return y[place + row * 8]; };
      const int32_t first = 100 + group * 8;
      EXPECT_EQ(at(0), first + (lane < 3 ? lane : lane - 3));
      EXPECT_EQ(at(1), first + (lane + group + 1 > 7 ? lane : lane + group + 1));
      EXPECT_EQ(at(2), first + (lane ^ 5));
      EXPECT_EQ(at(3), first + 7 - lane);
      EXPECT_EQ(at(4), first + 7);
    }
}

TEST(KernelThreads, LanesFoldAsWideReductionsDo) {
  const Kernel lanes = Parsed(R"(kernel k(b0: f32[16], out b1: f32[1]) {
  for i0 in 1 block.x {
    for i1 in 16 lane {
      %0 = load b0[i1]
      %1 = lane-reduce add %0
      %2 = constant s64 0x0
      %3 = index i1
      %4 = compare EQ pred %2, %3
      store b1[0], %1 if %4
    }
  }
}
)");
  const Kernel wide = Parsed(R"(kernel k(b0: f32[16], out b1: f32[1]) {
  %0 = constant f32 0x80000000
  %1 = reduce i0 in 16 vector(16, 1) init %0 {
    %2 = load b0[i0]
    yield %2
  } by (%3, %4) {
    %5 = add f32 %3, %4
    yield %5
  }
  store b1[0], %1
}
)");
  std::vector<float> x(16);
  for (size_t i = 0; i < 16; ++i) x[i] = std::sin(static_cast<float>(i)) * 1e3F;
  float y = 0, z = 1;
  ASSERT_TRUE(Interpret(lanes, {x.data(), &y}));
  ASSERT_TRUE(Interpret(wide, {x.data(), &z}));
  EXPECT_EQ(y, z);
}

// Sums of a tile of a product stay in what each thread has for itself, from nest to nest and round to round.
TEST(KernelThreads, LocalsAreTheThreadsOwn) {
  const Kernel kernel = Parsed(
      R"(kernel product(b0: s32[64], b1: s32[64], out b2: s32[64], shared b3: s32[16], local b4: s32[1]) {
  %0 = constant s32 0x0
  for i0 in 4 block.x {
    for i1 in 4 thread.y {
      for i2 in 4 thread.x {
        store b4[0], %0
      }
    }
    for i3 in 2 {
      for i4 in 4 thread.y {
        for i5 in 4 thread.x {
          %1 = load b0[i0*16 + i3*8 + i4*2]
          store b3[i4*4 + i5], %1
        }
      }
      barrier
      for i6 in 4 thread.y {
        for i7 in 4 thread.x {
          %2 = load b4[0]
          %3 = load b3[i6 + i7*4]
          %4 = add s32 %2, %3
          store b4[0], %4
        }
      }
      barrier
    }
    for i8 in 4 thread.y {
      for i9 in 4 thread.x {
        %5 = load b4[0]
        store b2[i0*16 + i8*4 + i9], %5
      }
    }
  }
}
)");
  std::vector<int32_t> x(64), y(64), z(64);
  std::iota(x.begin(), x.end(), 0);
  void* buffers[] = {x.data(), y.data(), z.data(), nullptr, nullptr};
  const Status status = Interpret(kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;
  for (int32_t block = 0; block < 4; ++block)
    for (int32_t i = 0; i < 16; ++i)
      EXPECT_EQ(z[static_cast<size_t>(block * 16 + i)], 2 * block * 16 + 8 + 4 * (i % 4));
}

TEST(KernelThreads, SchedulesBind) {
  constexpr llvm::StringLiteral kPlain = R"(kernel k(b0: s32[200], out b1: s32[200]) {
  for i0 in 200 {
    %0 = load b0[i0]
    %1 = negate s32 %0
    store b1[i0], %1
  }
}
)";
  constexpr llvm::StringLiteral kText = "split i0 by 50 into i1, i2; bind i1 to block.x; bind i2 to thread.x";
  auto kernel = ParseKernel(kPlain);
  const auto schedule = ParseSchedule(kText);
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(ToString(*schedule), kText);
  const Status status = ApplySchedule(*kernel, *schedule);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_NE(ToString(*kernel).find("for i1 in 4 block.x {\n    for i2 in 50 thread.x {"), std::string::npos)
      << ToString(*kernel);
  std::vector<int32_t> x(200), y(200);
  std::iota(x.begin(), x.end(), 0);
  ASSERT_TRUE(Interpret(*kernel, {x.data(), y.data()}));
  for (int32_t i = 0; i < 200; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], -i);

  // Some threads of the last block have nothing to do.
  auto partial = ParseKernel(kPlain);
  ASSERT_TRUE(ApplySchedule(
      *partial, *ParseSchedule("split i0 by 64 into i1, i2\nbind i1 to block.x\nbind i2 to thread.x")));
  y.assign(200, 7);
  ASSERT_TRUE(Interpret(*partial, {x.data(), y.data()}));
  for (int32_t i = 0; i < 200; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], -i);

  const std::pair<const char*, const char*> cases[] = {
      {"bind i0 to thread.x", "i0 is bound to thread.x outside of a block loop"},
      {"bind i0 to block.x\nsplit i0 by 50 into i1, i2",
       "'split i0 by 50 into i1, i2': i0 in 200 cannot be cut into pieces of 50"},
      {"bind i0 to block.x\nvector i0 by 4", "'vector i0 by 4': i0 is bound, or holds what threads do"},
      {"bind i0 to block.x\nparallel i0", "'parallel i0': i0 is not an outermost loop, or ordered"},
      {"parallel i0\nbind i0 to block.x",
       "'bind i0 to block.x': i0 belongs to a reduction, or is run in another way already"},
      {"split i0 by 50 into i1, i2\nbind i2 to block.x", "i2 is bound to block.x inside of i1, which is not"},
  };
  for (const auto& [text, message] : cases) {
    auto again = ParseKernel(kPlain);
    const Status refused = ApplySchedule(*again, *ParseSchedule(text));
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message, message);
  }
  EXPECT_EQ(ParseSchedule("bind i0 to grid").error().message,
            "step 1: found 'grid', expected block.x, block.y, block.z, thread.x, thread.y, thread.z or lane");
}

TEST(KernelThreads, ChangesOfKernelsKeepWhatThreadsDo) {
  auto kernel = ParseKernel(R"(kernel k(b0: s32[64], out b1: s32[900], shared b2: s32[32]) {
  %0 = constant s64 0x3
  %1 = constant s32 0x1
  for i0 in 2 block.x {
    for i1 in 32 lane {
      %2 = load b0[i0*32 + i1]
      %3 = load b0[i0*32 + i1]
      store b2[i1], %3
      barrier
      %4 = load b2[%0]
      barrier
      %5 = load b2[%0]
      %6 = atomic add b1[%0*100 + 500], %4
      %7 = shuffle index %2 by %0
      %8 = lane-reduce add %7
      atomic add b1[%0 + 500], %8
      atomic add b1[505], %5
    }
  }
}
)");
  ASSERT_TRUE(kernel) << kernel.error().message;
  RemoveDuplicates(*kernel);
  FoldConstants(*kernel);
  EXPECT_EQ(TrimBuffers(*kernel, 16), (llvm::SmallVector<int64_t, 8>{0, 503, 0}));
  EXPECT_EQ(MergeLoops(*kernel), 0);
  EXPECT_TRUE(ChooseSchedule(*kernel, TestTarget()).empty());
  EXPECT_TRUE(VerifyKernel(*kernel));
  EXPECT_EQ(ToString(*kernel), R"(kernel k(b0: s32[64], out b1: s32[298], shared b2: s32[32]) {
  for i0 in 2 block.x {
    for i1 in 32 lane {
      %0 = load b0[i0*32 + i1]
      store b2[i1], %0
      barrier
      %1 = load b2[3]
      barrier
      %2 = load b2[3]
      %3 = atomic add b1[297], %1
      %4 = shuffle index %0 by 3
      %5 = lane-reduce add %4
      atomic add b1[0], %5
      atomic add b1[2], %2
    }
  }
}
)");
}

/// Reads and runs the text, if it is a kernel; a wrong one is refused, at a line where the text is at fault.
/// Returns whether it ran to its end.
bool Survives(const std::string& text) {
  const auto kernel = ParseKernel(text);
  if (!kernel) {
    EXPECT_TRUE(llvm::StringRef(kernel.error().message).starts_with("line "))
        << kernel.error().message << text;
    return false;
  }
  const std::string printed = ToString(*kernel);
  const auto again = ParseKernel(printed);
  EXPECT_TRUE(again) << again.error().message << printed;
  if (again) EXPECT_EQ(ToString(*again), printed);
  std::vector<std::vector<uint8_t>> memory;
  std::vector<void*> pointers;
  for (const Buffer& buffer : kernel->buffers) {
    memory.emplace_back(static_cast<size_t>(buffer.count) *
                        static_cast<size_t>(Info(buffer.type).host_bytes()));
    pointers.push_back(memory.back().data());
  }
  const Status status = Interpret(*kernel, pointers);
  if (!status) EXPECT_EQ(status.error().id.text(), "kernel-invalid") << text;
  return static_cast<bool>(status);
}

TEST(KernelThreads, DamagedTextsAreRefusedOrRun) {
  int ran = 0, refused = 0;
  for (const llvm::StringRef text :
       {llvm::StringRef(kRowSums), llvm::StringRef(kTranspose), llvm::StringRef(kScatter)}) {
    llvm::SmallVector<llvm::StringRef, 64> lines;
    text.split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      auto without = lines, twice = lines, swapped = lines;
      without.erase(without.begin() + static_cast<int64_t>(i));
      twice.insert(twice.begin() + static_cast<int64_t>(i), lines[i]);
      if (i > 0) std::swap(swapped[i], swapped[i - 1]);
      // Whoever does not wait is found.
      if (lines[i].trim() == "barrier") EXPECT_FALSE(Survives(llvm::join(without, "\n")));
      for (const auto& damaged : {without, twice, swapped})
        ++(Survives(llvm::join(damaged, "\n")) ? ran : refused);
    }
  }
  EXPECT_GT(ran, 20);
  EXPECT_GT(refused, 100);
}

TEST(KernelThreads, MachinesWithoutThreadsRefuse) {
  const std::pair<llvm::StringRef, const char*> cases[] = {
      {kRowSums, "b2 is shared: there are no blocks and threads here"},
      {"kernel k() {\n  for i0 in 3 block.x {\n  }\n}\n",
       "i0 is bound to block.x: there are no blocks and threads here"},
      {"kernel k(out b0: s32[1]) {\n  %0 = constant s32 0x1\n  atomic add b0[0], %0\n}\n",
       "it has an atomic add: there are no blocks and threads here"},
  };
  for (const auto& [text, message] : cases) {
    const Kernel kernel = Parsed(text);
    EXPECT_TRUE(UsesThreads(kernel));
    const Status status = CheckWithoutThreads(kernel);
    ASSERT_FALSE(status);
    EXPECT_TRUE(IsDeclined(status.error()));
    EXPECT_EQ(status.error().message, message);
  }
}

}  // namespace
}  // namespace hlo::kernel
