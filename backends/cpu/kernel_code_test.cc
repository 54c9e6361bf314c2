// Compiled kernels and those run in tiles against interpreted ones, under several schedules.
#include <random>

#include "backends/cpu/jit.h"
#include "backends/cpu/kernel_target.h"
#include "backends/kernel/dedupe.h"
#include "backends/kernel/fold.h"
#include "backends/kernel/interpret.h"
#include "backends/kernel/lower.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/share.h"
#include "backends/llvm/emit_kernel.h"
#include "backends/tile/program.h"
#include "gtest/gtest.h"
#include "ir/module.h"
#include "parser/parser.h"

namespace hlo::cpu {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

/// Random elements, the same for every call.
Bytes MakeBuffers(const kernel::Kernel& kernel) {
  std::minstd_rand random(7);
  Bytes buffers;
  for (const kernel::Buffer& b : kernel.buffers) {
    const auto width = static_cast<size_t>(Info(b.type).host_bytes());
    buffers.emplace_back(static_cast<size_t>(b.count) * width);
    for (int64_t i = 0; i < b.count && !b.written; ++i) {
      const auto n = static_cast<int32_t>(random() % 41) - 20;
      const float f = static_cast<float>(n) * 0.37F;
      uint8_t* at = buffers.back().data() + static_cast<size_t>(i) * width;
      if (b.type == ElementType::F32)
        std::memcpy(at, &f, width);
      else
        std::memcpy(at, &n, std::min(width, sizeof n));
    }
  }
  return buffers;
}

llvm::SmallVector<void*> Pointers(Bytes& buffers) {
  llvm::SmallVector<void*> pointers;
  for (auto& b : buffers) pointers.push_back(b.data());
  return pointers;
}

/// What the caller sees.
Bytes Outer(const kernel::Kernel& kernel, Bytes buffers) {
  while (kernel.buffers[buffers.size() - 1].IsLocal()) buffers.pop_back();
  return buffers;
}

Bytes Interpreted(const kernel::Kernel& kernel) {
  Bytes buffers = MakeBuffers(kernel);
  const Status status = kernel::Interpret(kernel, Pointers(buffers));
  EXPECT_TRUE(status) << status.error().message;
  return Outer(kernel, std::move(buffers));
}

Bytes Compiled(const kernel::Kernel& kernel) {
  Jit jit(HostMachine());
  const auto copy = kernel::ParseKernel(kernel::ToString(kernel));
  EXPECT_TRUE(copy) << copy.error().message;
  const auto number = jit.Add(std::move(*kernel::ParseKernel(kernel::ToString(kernel))));
  EXPECT_TRUE(number) << number.error().message;
  const Status status = jit.Compile();
  EXPECT_TRUE(status) << status.error().message;
  Bytes buffers = MakeBuffers(kernel);
  // As two threads would.
  const int64_t extent = kernel::ParallelExtent(kernel);
  const int64_t group = codegen::ParallelGrain(kernel);
  const int64_t middle = extent / 2 / group * group;
  if (middle > 0) jit.Function (*number)(Pointers(buffers).data(), 0, middle);
  jit.Function (*number)(Pointers(buffers).data(), middle, extent);
  return Outer(kernel, std::move(buffers));
}

Bytes Tiled(const kernel::Kernel& kernel) {
  Bytes buffers = MakeBuffers(kernel);
  const auto program = tile::Program::Make(kernel);
  EXPECT_TRUE(program) << program.error().message;
  const int64_t extent = kernel::ParallelExtent(kernel);
  const int64_t group = codegen::ParallelGrain(kernel);
  const int64_t middle = extent / 2 / group * group;
  if (middle > 0) program->Run(Pointers(buffers).data(), 0, middle);
  program->Run(Pointers(buffers).data(), middle, extent);
  return Outer(kernel, std::move(buffers));
}

struct Case {
  const char* name;
  const char* text;
};
std::ostream& operator<<(std::ostream& os, const Case& c) { return os << c.name; }

class KernelCode : public testing::TestWithParam<Case> {};

TEST_P(KernelCode, EqualsItsInterpretation) {
  const auto parsed = ParseModule(GetParam().text);
  ASSERT_NE(parsed.module, nullptr);
  const auto lower = [&] {
    auto lowered = kernel::Lower(*parsed.module->entry(), "k", KernelTarget());
    EXPECT_TRUE(lowered) << lowered.error().message;
    kernel::MergeLoops(lowered->kernel);
    EXPECT_TRUE(kernel::VerifyKernel(lowered->kernel)) << kernel::ToString(lowered->kernel);
    return std::move(lowered->kernel);
  };
  // Values that are kept for another loop change nothing.
  const auto lower_sharing = [&] {
    kernel::Kernel kernel = lower();
    kernel::FoldConstants(kernel);
    EXPECT_TRUE(kernel::VerifyKernel(kernel)) << kernel::ToString(kernel);
    kernel::RemoveDuplicates(kernel);
    kernel::ShareBetweenLoops(kernel, KernelTarget());
    EXPECT_TRUE(kernel::VerifyKernel(kernel)) << kernel::ToString(kernel);
    return kernel;
  };
  const kernel::Kernel sharing = lower_sharing();
  EXPECT_EQ(Compiled(sharing), Interpreted(lower()));
  // Without a schedule, with the chosen ones for wide and for narrow vectors.
  const kernel::Kernel plain = lower();
  EXPECT_EQ(Compiled(plain), Interpreted(plain)) << kernel::ToString(plain);
  EXPECT_EQ(Tiled(plain), Interpreted(plain)) << kernel::ToString(plain);
  EXPECT_EQ(Tiled(sharing), Interpreted(plain)) << kernel::ToString(sharing);
  kernel::Target few = KernelTarget(), some = KernelTarget();
  few.vectors.lanes = 4, few.vectors.interleaved = 2, few.vectors.shortest_loop = 2, few.vectors.tile = 4;
  some.vectors.lanes = 8, some.vectors.interleaved = 1, some.vectors.shortest_loop = 4, some.vectors.tile = 8;
  for (const kernel::Target& target : {KernelTarget(), few, some}) {
    kernel::Kernel scheduled = lower_sharing();
    EXPECT_TRUE(kernel::ScheduleLoops(scheduled, target));
    ASSERT_TRUE(kernel::VerifyKernel(scheduled)) << kernel::ToString(scheduled);
    EXPECT_EQ(Compiled(scheduled), Interpreted(scheduled)) << kernel::ToString(scheduled);
    EXPECT_EQ(Tiled(scheduled), Interpreted(scheduled)) << kernel::ToString(scheduled);
  }
}

TEST(RowsSideBySide, HaveBuffersOfTheirOwn) {
  const auto parsed = kernel::ParseKernel(R"(kernel k(b0: f32[1400], out b1: f32[1400], local b2: f32[100]) {
  %0 = constant f32 0x0
  for i0 in 14 {
    %1 = reduce i1 in 100 vector(16, 4) init %0 {
      %2 = load b0[i0*100 + i1]
      %3 = multiply f32 %2, %2
      store b2[i1], %3
      yield %3
    } by (%4, %5) {
      %6 = add f32 %4, %5
      yield %6
    }
    for i2 in 100 vector(16, 4) {
      %7 = load b2[i2]
      %8 = divide f32 %7, %1
      store b1[i0*100 + i2], %8
    }
  }
})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  for (const char* text : {"unroll i0 by 2\nparallel i0", "unroll i0 by 7\nparallel i0"}) {
    auto kernel = kernel::ParseKernel(kernel::ToString(*parsed));
    ASSERT_TRUE(kernel::ApplySchedule(*kernel, *kernel::ParseSchedule(text))) << text;
    ASSERT_TRUE(kernel::VerifyKernel(*kernel)) << text;
    EXPECT_EQ(Compiled(*kernel), Interpreted(*parsed)) << text;
    EXPECT_EQ(Tiled(*kernel), Interpreted(*parsed)) << text;
  }
}

TEST(Stores, GoBackwards) {
  const auto kernel =
      kernel::ParseKernel(R"(kernel k(b0: s32[100], b1: pred[100], out b2: s32[100], out b3: s32[100]) {
  for i0 in 100 vector(16, 1) {
    %0 = load b0[i0]
    %1 = load b1[i0]
    store b2[i0*-1 + 99], %0
    store b3[i0*-1 + 99], %0 if %1
  }
})");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(Compiled(*kernel), Interpreted(*kernel));
  EXPECT_EQ(Tiled(*kernel), Interpreted(*kernel));
}

constexpr Case kCases[] = {
    {"chain", R"(HloModule m
ENTRY e { x = f32[37,19] parameter(0)  b = f32[19] parameter(1)
  y = f32[37,19] broadcast(b), dimensions={1}  s = f32[37,19] add(x, y)
  ROOT r = f32[37,19] maximum(s, x) })"},
    {"sum", R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY e { x = f32[13,1000] parameter(0)  z = f32[] constant(0.5)
  r = f32[13] reduce(x, z), dimensions={1}, to_apply=add  c = f32[1000] reduce(x, z), dimensions={0}, to_apply=add
  a = f32[] reduce(x, z), dimensions={0,1}, to_apply=add  ROOT t = (f32[13], f32[1000], f32[]) tuple(r, c, a) })"},
    {"softmax", R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
max { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] maximum(x, y) }
ENTRY e { x = f32[13,100] parameter(0)  z = f32[] constant(0)  i = f32[] constant(-inf)
  m = f32[13] reduce(x, i), dimensions={1}, to_apply=max  mb = f32[13,100] broadcast(m), dimensions={0}
  d = f32[13,100] subtract(x, mb)  q = f32[13,100] divide(d, x)  s = f32[13] reduce(q, z), dimensions={1}, to_apply=add
  sb = f32[13,100] broadcast(s), dimensions={0}  ROOT r = f32[13,100] divide(q, sb) })"},
    {"transpose", R"(HloModule m
ENTRY e { x = s32[50,37] parameter(0)  y = s32[37,50] parameter(1)
  t = s32[37,50] transpose(x), dimensions={1,0}  ROOT s = s32[37,50] add(t, y) })"},
    {"transpose_batch", R"(HloModule m
ENTRY e { x = s8[3,32,64] parameter(0)  ROOT t = s8[3,64,32] transpose(x), dimensions={0,2,1} })"},
    {"reverse_pad", R"(HloModule m
ENTRY e { x = s16[3,41] parameter(0)  z = s16[] constant(7)
  p = s16[3,90] pad(x, z), padding=0_0x5_4_1  q = s16[3,131] concatenate(p, x), dimensions={1}
  ROOT v = s16[3,131] reverse(q), dimensions={1} })"},
    {"gather_rows", R"(HloModule m
ENTRY e { x = f32[30,40] parameter(0)  i = s32[9] parameter(1)
  ROOT g = f32[9,40] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,40} })"},
    {"gather_windows", R"(HloModule m
ENTRY e { x = s16[3,30,40] parameter(0)  i = s8[3,9,2] parameter(1)
  ROOT g = s16[3,9,2,5] gather(x, i), offset_dims={2,3}, collapsed_slice_dims={}, start_index_map={2,1},
    operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,2,5} })"},
    {"pool", R"(HloModule m
max { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] maximum(x, y) }
ENTRY e { x = f32[2,17,19,20] parameter(0)  z = f32[] constant(-inf)
  ROOT r = f32[2,9,10,20] reduce-window(x, z), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}, to_apply=max })"},
    {"dilated_windows", R"(HloModule m
add { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT s = s32[] add(x, y) }
ENTRY e { x = s32[40,13] parameter(0)  z = s32[] constant(3)
  ROOT r = s32[80,25] reduce-window(x, z), window={size=3x4 pad=2_3x0_3 lhs_dilate=2x2 rhs_dilate=2x1}, to_apply=add })"},
    {"small_dots", R"(HloModule m
ENTRY e { x = f32[5,6,7] parameter(0)  y = f32[7,5,20] parameter(1)
  ROOT d = f32[5,6,20] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0} })"},
    {"integer_dot", R"(HloModule m
ENTRY e { x = s8[6,70] parameter(0)  y = s8[20,70] parameter(1)
  ROOT d = s32[6,20] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1} })"},
    {"argmax", R"(HloModule m
best { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE  v = f32[] select(g, a, b)  k = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k) }
ENTRY e { x = f32[7,90] parameter(0)  i = s32[7,90] iota(), iota_dimension=1  z = f32[] constant(-inf)  n = s32[] constant(0)
  r = (f32[7], s32[7]) reduce(x, i, z, n), dimensions={1}, to_apply=best
  ROOT c = (f32[90], s32[90]) reduce(x, i, z, n), dimensions={0}, to_apply=best })"},
    {"scatter_rows", R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY e { x = f32[9,70] parameter(0)  i = s32[6,1] parameter(1)  u = f32[6,70] parameter(2)
  ROOT s = f32[9,70] scatter(x, i, u), to_apply=add, update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1 })"},
    {"borders", R"(HloModule m
ENTRY e { x = s8[5,40] parameter(0)  z = s8[] parameter(1)
  ROOT p = s8[9,45] pad(x, z), padding=3_1x-2_7 })"},
    {"parts", R"(HloModule m
ENTRY e { x = f32[600] parameter(0)  y = f32[7] parameter(1)  n = f32[600] negate(x)
  ROOT p = f32[1207] concatenate(x, y, n), dimensions={0} })"},
    {"rows_and_parts", R"(HloModule m
ENTRY e { x = f32[6,50] parameter(0)  y = f32[6,3] parameter(1)  n = f32[6,50] negate(x)
  ROOT p = f32[6,103] concatenate(x, y, n), dimensions={1} })"},
    {"stride", R"(HloModule m
ENTRY e { x = s32[7,200] parameter(0)  ROOT s = s32[7,66] slice(x), slice={[0:7],[1:199:3]} })"},
};
INSTANTIATE_TEST_SUITE_P(, KernelCode, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(KernelTexts, OfThreadsAreRefused) {
  const auto parsed = kernel::ParseKernel(R"(kernel k(b0: s32[8], out b1: s32[8]) {
  for i0 in 2 block.x {
    for i1 in 4 thread.x {
      %0 = load b0[i0*4 + i1]
      store b1[i0*4 + i1], %0
    }
  }
})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto program = tile::Program::Make(*parsed);
  ASSERT_FALSE(program);
  const Status code = codegen::CheckKernel(*parsed);
  ASSERT_FALSE(code);
  for (const Diagnostic& error : {program.error(), code.error()}) {
    EXPECT_TRUE(IsDeclined(error));
    EXPECT_EQ(error.message, "i0 is bound to block.x: there are no blocks and threads here");
  }
}

}  // namespace
}  // namespace hlo::cpu
