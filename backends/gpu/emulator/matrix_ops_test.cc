// A product through ldmatrix and mma.sync with the addresses and layouts that kernels use (ptx.md §6.2,
// §6.3).
#include "backends/gpu/emulator/device.h"
#include "backends/gpu/ptx/parser.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

constexpr const char* kText = R"(.version 7.0
.target sm_80
.shared .align 16 .b8 sa[512];
.shared .align 16 .b8 sb[256];
.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{
  .reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .f32 %f<8>; .reg .b32 l, ra, rb;
  ld.param.u64 %rd1, [pa];
  ld.param.u64 %rd2, [pb];
  ld.param.u64 %rd3, [pd];
  mov.u32 l, %laneid;
  mov.u32 ra, sa;
  mov.u32 rb, sb;
  // A and B into shared memory as they are.
  mul.wide.u32 %rd4, l, 16;
  add.s64 %rd4, %rd4, %rd1;
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd4];
  mad.lo.u32 %r5, l, 16, ra;
  st.shared.v4.u32 [%r5], {%r1, %r2, %r3, %r4};
  mul.wide.u32 %rd5, l, 8;
  add.s64 %rd5, %rd5, %rd2;
  ld.global.v2.u32 {%r1, %r2}, [%rd5];
  mad.lo.u32 %r5, l, 8, rb;
  st.shared.v2.u32 [%r5], {%r1, %r2};
  bar.sync 0;
  // A [m][k]: row l & 15, k 8 * (l >> 4). B [n][k]: n = l & 7, k = 8 * ((l >> 3) & 1).
  and.b32 %r5, l, 15;
  mad.lo.u32 %r5, %r5, 32, ra;
  shr.u32 %r6, l, 4;
  mad.lo.u32 %r5, %r6, 16, %r5;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];
  and.b32 %r5, l, 7;
  mad.lo.u32 %r5, %r5, 32, rb;
  shr.u32 %r6, l, 3;
  and.b32 %r6, %r6, 1;
  mad.lo.u32 %r5, %r6, 16, %r5;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r5];
  mov.f32 %f1, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f1, %f1, %f1};
  // D: rows l >> 2 and 8 more, columns 2 * (l & 3) and one more.
  shr.u32 %r6, l, 2;
  and.b32 %r7, l, 3;
  shl.b32 %r7, %r7, 1;
  mad.lo.u32 %r8, %r6, 8, %r7;
  mul.wide.u32 %rd6, %r8, 4;
  add.s64 %rd6, %rd6, %rd3;
  st.global.v2.f32 [%rd6], {%f2, %f3};
  st.global.v2.f32 [%rd6+256], {%f4, %f5};
  ret;
}
)";

uint16_t ToBf16(int value) {
  const auto x = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

TEST(MatrixOps, AProductOfDistinctNumbers) {
  constexpr int kM = 16, kN = 8, kK = 16;
  auto device = Device::Create({.memory = 1 << 20});
  ASSERT_TRUE(device);
  const auto source = std::make_shared<SourceBuffer>("mma.ptx", kText);
  const auto module = ptx::ParseModule(source);
  ASSERT_TRUE(module) << Render(module.error());
  const auto code = LoadedModule::Load(*module, **device);
  ASSERT_TRUE(code) << Render(code.error());
  const auto a_of = [](int m, int k) { return (5 * m + 3 * k) % 11 - 5; };
  const auto b_of = [](int n, int k) { return (7 * n + 2 * k) % 13 - 6; };
  DeviceMemory& memory = (*device)->memory();
  uint64_t addresses[3];
  for (uint64_t& address : addresses) {
    address = *memory.Allocate(512);
    memory.SetWritten(address, 512, true);
  }
  auto** arrays = reinterpret_cast<uint16_t**>(addresses);
  for (int m = 0; m < kM; ++m)
    for (int k = 0; k < kK; ++k) arrays[0][m * kK + k] = ToBf16(a_of(m, k));
  for (int n = 0; n < kN; ++n)
    for (int k = 0; k < kK; ++k) arrays[1][n * kK + k] = ToBf16(b_of(n, k));
  LaunchSize size;
  size.block[0] = 32;
  const Fault fault = (*device)->Launch(**code, *(*module)->FindEntry("k"), size,
                                        reinterpret_cast<const uint8_t*>(addresses));
  ASSERT_FALSE(fault) << fault.text;
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      int sum = 0;
      for (int k = 0; k < kK; ++k) sum += a_of(m, k) * b_of(n, k);
      EXPECT_EQ(reinterpret_cast<float*>(arrays[2])[m * kN + n], static_cast<float>(sum)) << m << ", " << n;
    }
}

}  // namespace
}  // namespace hlo::gpu
