#include "backends/cpu/jit.h"

#include <numeric>

#include "backends/kernel/parse.h"
#include "gtest/gtest.h"
#include "ir/support/parallel.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::cpu {
namespace {

constexpr int32_t kKernels = 200;

/// b1[i] = b0[i] * number + 1
kernel::Kernel MakeKernel(int32_t number) {
  return std::move(*kernel::ParseKernel("kernel k(b0: s32[64], out b1: s32[64]) {\n  %0 = constant s32 0x" +
                                        llvm::utohexstr(static_cast<uint64_t>(number), true) +
                                        "\n  %1 = constant s32 0x1\n  for i0 in 64 vector(16, 1) {\n"
                                        "    %2 = load b0[i0]\n    %3 = multiply s32 %2, %0\n"
                                        "    %4 = add s32 %3, %1\n    store b1[i0], %4\n  }\n}\n"));
}

/// Copies 64 KiB from slot 0 to slot 1, and calls the first and the last kernel on slots 2, 3 and 4.
kernel::Routine MakeRoutine() {
  kernel::Routine routine;
  routine.slots = {{65536}, {65536, false, true}, {256}, {256, false, true}, {256, false, true}};
  routine.body.push_back({kernel::CopyStep{0, 1, 65536}});
  routine.body.push_back({kernel::CallStep{0, {2, 3}, 1}});
  routine.body.push_back({kernel::CallStep{kKernels - 1, {3, 4}, 1}});
  return routine;
}

/// Adds all kernels and the routine, whose number is given.
int32_t AddAll(Jit& jit) {
  for (int32_t k = 0; k < kKernels; ++k) {
    const auto number = jit.Add(MakeKernel(k + 2));
    EXPECT_TRUE(number && *number == k) << k;
  }
  EXPECT_EQ(*jit.Add(MakeKernel(7)), 5);
  return jit.AddRoutine(MakeRoutine());
}

/// Looks at what they compute.
void CheckCode(const Jit& jit, int32_t routine) {
  std::vector<int32_t> in(64), out(64), last(64), from(16384, 42), to(16384);
  std::iota(in.begin(), in.end(), -3);
  for (int32_t k = 1; k + 1 < kKernels; ++k) {
    void* buffers[] = {in.data(), out.data()};
    jit.Function(k)(buffers, 0, 1);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], in[i] * (k + 2) + 1) << k;
  }
  void* slots[] = {from.data(), to.data(), in.data(), out.data(), last.data()};
  jit.Function(routine)(slots, 0, 0);
  EXPECT_EQ(from, to);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(last[i], (in[i] * 2 + 1) * (kKernels + 1) + 1);
}

TEST(Jit, CodeOfManyPartsIsTheSameForAllThreadCounts) {
  CompiledCode code;
  std::vector<std::string> images;
  for (const int threads : {1, 2, 3}) {
    SetThreadCount(threads);
    Jit jit(HostMachine());
    const int32_t routine = AddAll(jit);
    const Status status = jit.Compile();
    ASSERT_TRUE(status) << status.error().message;
    CheckCode(jit, routine);
    code = jit.TakeCode();
    images.push_back(code.image.bytes);
  }
  SetThreadCount(0);
  EXPECT_EQ(images[0], images[1]);
  EXPECT_EQ(images[0], images[2]);
}

TEST(Jit, CodeIsRestored) {
  Jit compiled(HostMachine());
  const int32_t routine = AddAll(compiled);
  ASSERT_TRUE(compiled.Compile());
  Jit restored(HostMachine());
  ASSERT_TRUE(restored.Restore(compiled.TakeCode()));
  EXPECT_EQ(restored.AddRoutine(MakeRoutine()), routine);
  CheckCode(restored, routine);
}

}  // namespace
}  // namespace hlo::cpu
