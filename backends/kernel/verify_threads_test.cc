// What is refused of blocks and threads, and what is found when they run.
#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

std::string ErrorOf(llvm::StringRef text) {
  const auto kernel = ParseKernel(text);
  return kernel ? "" : kernel.error().message;
}

std::string RunError(llvm::StringRef text, llvm::ArrayRef<void*> buffers) {
  const auto kernel = ParseKernel(text);
  if (!kernel) return kernel.error().message;
  const Status status = Interpret(*kernel, buffers);
  return status ? "" : status.error().message;
}

struct Refused {
  const char* body;
  const char* message;
};

constexpr const char* kHead =
    "kernel k(b0: s32[64], out b1: s32[64], shared b2: s32[64], local b3: s32[64], out b4: s16[9], out b5: "
    "c64[9]) {\n%0 = constant s32 0x1\n";
constexpr Refused kCases[] = {
    {"for i0 in 2 {\n barrier\n}", "line 4: a barrier outside of a block loop"},
    {"for i0 in 8 thread.x {\n}", "line 3: i0 is bound to thread.x outside of a block loop"},
    {"for i0 in 2 block.x {\n for i1 in 8 lane {\n for i2 in 8 thread.x {\n }\n }\n}",
     "line 5: i2 is bound to thread.x inside of i1: lanes are the innermost"},
    {"for i0 in 2 block.x {\n for i1 in 8 thread.x {\n for i2 in 8 of i1 below 60 {\n barrier\n }\n }\n}",
     "line 6: a barrier in i2, of which threads have different numbers of iterations"},
    {"for i0 in 2 block.x {\n for i1 in 8 of i0 below 15 thread.x {\n barrier\n }\n}",
     "line 5: a barrier in i1, which not all threads of the block run"},
    {"for i0 in 2 block.x {\n for i1 in 8 thread.x {\n store b2[i1], %0\n }\n for i2 in 4 thread.x {\n"
     " barrier\n }\n}",
     "line 8: a barrier in i2, which not all threads of the block run"},
    {"for i0 in 2 block.x {\n for i1 in 8 thread.y {\n for i2 in 4 thread.x {\n }\n }\n for i3 in 8 "
     "thread.y {\n"
     " barrier\n }\n}",
     "line 9: a barrier in a nest of loops that not all threads of the block run"},
    {"for i0 in 2 block.x {\n for i1 in 8 thread.x {\n for i2 in 8 vector(4, 1) {\n barrier\n }\n }\n}",
     "line 6: a barrier in i2, which is a vector"},
    {"%9 = compare EQ pred %0, %0\nfor i0 in 2 block.x {\n for i1 in 8 thread.x {\n for i2 in 1 when %9 {\n"
     " barrier\n }\n }\n}",
     "line 7: a barrier in i2, which has a condition"},
    {"%9 = constant s64 0x2\nfor i0 in 2 block.x {\n for i1 in 8 thread.x {\n for i2 in 4 before %9 {\n"
     " barrier\n }\n }\n}",
     "line 7: a barrier in i2, of which threads have different numbers of iterations"},
    {"for i0 in 2 block.x {\n %1 = reduce i1 in 4 init %0 {\n yield %0\n } by (%2, %3) {\n barrier\n"
     " %4 = add s32 %2, %3\n yield %4\n }\n}",
     "line 7: a barrier in what a reduce folds by"},
    {"%1 = load b2[0]",
     "line 3: load of b2, which is shared by the threads of a block, outside of the block "
     "loops"},
    {"for i0 in 4 block.x {\n for i1 in 8 thread.x {\n }\n store b1[i0], %0\n}",
     "line 6: store to b1 outside of the thread loops: every thread would do it"},
    {"for i0 in 4 block.x {\n store b1[i0], %0\n for i1 in 2 block.y {\n }\n}",
     "line 4: beside a block loop there are values only"},
    {"for i0 in 4 block.x {\n for i1 in 2 thread.y {\n store b1[i0], %0\n for i2 in 2 thread.x {\n }\n "
     "}\n}",
     "line 5: beside a thread loop inside of another there are values only"},
    {"for i0 in 4 block.x {\n for i1 in 2 thread.y {\n for i2 in 2 {\n for i3 in 2 thread.x {\n }\n }\n "
     "}\n}",
     "line 6: i3 is bound to thread.x inside of i2, which is not bound, inside of threads"},
    {"for i0 in 4 block.x {\n}\nfor i1 in 4 block.x {\n}",
     "line 5: i1 is bound to block.x, but there are blocks before"},
    {"for i0 in 4 {\n for i1 in 4 block.x {\n }\n}",
     "line 4: i1 is bound to block.x inside of i0, which is not"},
    {"for i0 in 4 block.x {\n for i1 in 4 block.x {\n }\n}",
     "line 4: i1 is bound to block.x, as i0 around it"},
    {"for i0 in 4 parallel block.x {\n}",
     "line 3: i0 is bound to block.x, but ordered, parallel, a vector or written out"},
    {"for i0 in 4 block.x {\n for i1 in 2048 thread.x {\n }\n}",
     "line 4: i1 is bound to thread.x: 2048 threads of a block, expected at most 1024"},
    {"for i0 in 4 block.x {\n for i1 in 4611686018427387904 thread.y {\n for i2 in 4 thread.x {\n }\n }\n}",
     "line 4: i1 is bound to thread.y: 65536 threads of a block, expected at most 1024"},
    {"for i0 in 4 block.x {\n for i1 in 12 lane {\n }\n}",
     "line 4: i1 is bound to lane: expected a power of two of lanes, all of which exist"},
    {"for i0 in 4 block.x {\n for i1 in 8 lane {\n }\n for i2 in 16 lane {\n }\n}",
     "line 4: i1 is bound to lane: expected 16 lanes, as elsewhere"},
    {"%9 = compare EQ pred %0, %0\nfor i0 in 4 block.x {\n for i1 in 1 when %9 {\n for i2 in 8 thread.x {\n "
     "}\n }\n"
     " for i3 in 8 thread.x {\n }\n}",
     "line 9: i3 is bound to thread.x beside a section"},
    {"%9 = compare EQ pred %0, %0\nfor i0 in 4 block.x {\n for i1 in 1 when %9 {\n for i2 in 8 thread.x {\n "
     "}\n"
     " for i3 in 4 thread.x {\n barrier\n }\n }\n}",
     "line 9: a barrier in i3, which not all threads of the block run"},
    {"for i0 in 4 block.x {\n %1 = reduce i1 in 4 lane init %0 {\n yield %0\n } by (%2, %3) {\n"
     " %4 = add s32 %2, %3\n yield %4\n }\n}",
     "line 4: i1 of a reduce is bound to lane"},
    {"for i0 in 4 block.x {\n for i1 in 4 thread.x {\n %1 = shuffle up %0 by 1\n }\n}",
     "line 5: a shuffle outside of a lane loop"},
    {"for i0 in 4 block.x {\n for i1 in 4 lane {\n for i2 in 4 of i1 below 15 {\n %1 = lane-reduce add %0\n"
     " }\n }\n}",
     "line 6: a lane-reduce in i2, of which lanes have different numbers of iterations"},
    {"for i0 in 4 block.x {\n for i1 in 4 lane {\n %1 = lane-reduce subtract %0\n }\n}",
     "line 5: %1: there is no lane-reduce subtract of s32"},
    {"for i0 in 4 block.x {\n for i1 in 4 lane {\n %1 = load b5[0]\n %2 = shuffle up %1 by 1\n }\n}",
     "line 6: %2: there is no shuffle of c64"},
    {"%1 = constant s16 0x1\natomic add b4[0], %1", "line 4: atomic add on b4: there is none of s16"},
    {"atomic add b0[0], %0", "line 3: atomic on b0, which is no output"},
    {"for i0 in 4 block.x {\n atomic add b3[0], %0\n}",
     "line 4: atomic on b3, which each thread has for itself"},
    {"%1 = constant s64 0x1\natomic add b1[0], %1", "line 4: %1 is s64, expected s32"},
    {"atomic subtract b1[0], %0", "line 3: found 'subtract b1[0], %0', expected an atomic operation"},
    {"%1 = shuffle left %0 by 1", "line 3: found 'left %0 by 1', expected up, down, xor or index"},
    {"%1 = atomic add b1[0], %0 if %0", "line 4: found '}', expected 'else'"},
};

TEST(KernelThreads, BrokenKernelsAreRefused) {
  for (const auto& [body, message] : kCases)
    EXPECT_EQ(ErrorOf(std::string(kHead) + body + "\n}"), message) << body;
}

TEST(KernelThreads, BlocksRunOneSection) {
  std::vector<int32_t> x(64), y(64);
  const auto run = [&](const char* second) {
    return RunError(
        "kernel k(b0: s32[64], out b1: s32[64]) {\n%0 = constant s64 0x2\nfor i0 in 4 block.x {\n"
        "%1 = index i0\n%2 = compare LT pred %1, %0\n%3 = compare " +
            std::string(second) +
            " pred %1, %0\nfor i1 in 1 when %2 {\nfor i2 in 4 thread.x {\nbarrier\n}\n}\n"
            "for i3 in 1 when %3 {\nfor i4 in 2 thread.y {\nfor i5 in 8 thread.x {\nbarrier\n"
            "%4 = load b0[i0*16 + i4*8 + i5]\nstore b1[i0*16 + i4*8 + i5], %4\n}\n}\n}\n}\n}",
        {x.data(), y.data()});
  };
  EXPECT_EQ(run("GE"), "");
  EXPECT_EQ(run("LE"), "a block runs i3, a section, and another one");
}

TEST(KernelThreads, WrongRunsAreFound) {
  std::vector<int32_t> x(64), y(64);
  const auto run = [&](const std::string& body) {
    return RunError(
        "kernel k(b0: s32[64], out b1: s32[64], shared b2: s32[64], local b3: s32[2]) {\n"
        "for i0 in 2 block.x {\nfor i1 in 4 thread.x {\nfor i2 in 8 lane {\n" +
            body + "}\n}\n}\n}",
        {x.data(), y.data(), nullptr, nullptr});
  };
  const std::string load = "%0 = load b0[i0*32 + i1*8 + i2]\n";
  EXPECT_EQ(run(load + "store b2[i1*8 + i2], %0\nbarrier\n%1 = load b2[i1*-8 + i2*-1 + 31]\n"), "");
  EXPECT_EQ(run(load + "store b2[i1*8 + i2], %0\n%1 = load b2[i1*-8 + i2*-1 + 31]\n"),
            "a race: thread 0 reads b2[31], which thread 31 writes with no barrier between");
  EXPECT_EQ(run(load + "store b2[i2], %0\n"),
            "a race: thread 8 writes b2[0], which thread 0 writes with no barrier between");
  EXPECT_EQ(run(load + "store b2[i1*8 + i2], %0\nbarrier\n%1 = load b2[0]\nstore b2[i1*8 + i2], %0\n"),
            "a race: thread 0 writes b2[0], which another thread reads with no barrier between");
  EXPECT_EQ(run(load + "store b1[i1*8 + i2], %0\n"),
            "a race: thread 0 writes b1[0], which another block writes with no barrier between");
  EXPECT_EQ(run(load + "atomic add b1[0], %0\n"), "");
  EXPECT_EQ(run(load + "atomic add b1[0], %0\n%1 = load b1[0]\n"),
            "a race: thread 0 reads b1[0], which another thread changes with no barrier between");
  EXPECT_EQ(run("%0 = load b2[i2]\n"), "thread 0 reads b2[0], which its block has not written");
  EXPECT_EQ(run(load + "atomic add b2[i2], %0\n"), "thread 0 reads b2[0], which its block has not written");
  EXPECT_EQ(run(load + "store b3[0], %0\n%1 = load b3[1]\n"),
            "thread 0 reads b3[1], which it has not written");
  EXPECT_EQ(run("%0 = load b0[i1*24 + i2]\n"), "b0[72] is used, but b0 has 64 elements");
  EXPECT_EQ(run("for i3 in 8 of i1 below 30 {\n%0 = constant s32 0x1\n%1 = shuffle down %0 by 1\n}\n"), "");
}

}  // namespace
}  // namespace hlo::kernel
