// PTX of kernels of blocks and threads: what NVIDIA's assembler takes, with the accesses and instructions
// that make it fast. Each of LLVM's traps has a test.
#include "backends/gpu/codegen/ptx_module.h"

#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/test_kernels.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

using llvm::StringRef;

std::string PtxOf(StringRef text, StringRef target = "h100", StringRef schedule = "") {
  auto kernel = kernel::ParseKernel(text);
  if (!kernel) return kernel.error().message;
  if (!schedule.empty())
    if (const Status status = kernel::ApplySchedule(*kernel, *kernel::ParseSchedule(schedule)); !status)
      return status.error().message;
  auto module = PtxModule::Create(*FindTarget(target));
  if (!module) return module.error().message;
  if (const Status status = module->Add(*kernel); !status) return status.error().message;
  auto ptx = module->Print(PtxForm::Ptx);
  return ptx ? *ptx : ptx.error().message;
}

/// The text has all of these, one after the other.
void ExpectInOrder(StringRef text, llvm::ArrayRef<StringRef> parts) {
  StringRef rest = text;
  for (const StringRef part : parts) {
    const size_t at = rest.find(part);
    ASSERT_NE(at, StringRef::npos) << part.str() << " is not in, or not behind the others in\n" << text.str();
    rest = rest.drop_front(at + part.size());
  }
}

/// What no kernel of ours has: arrays in memory of the thread, calls, rounding that the assembler may change,
/// functions that approximate.
void ExpectClean(StringRef ptx) {
  EXPECT_TRUE(ptx.contains(".visible .entry")) << ptx.str();
  for (const StringRef bad : {".local", "call", ".approx", ".ftz", ".full", ".extern", ".func"})
    EXPECT_FALSE(ptx.contains(bad)) << bad.str() << " in\n" << ptx.str();
  for (const StringRef bad : {"mul.f32", "add.f32 ", "mul.f64", "add.f64 ", "sub.f32 ", "div.f32"}) {
    size_t at = 0;
    while ((at = ptx.find(bad, at)) != StringRef::npos) {
      // Atomics round to nearest without saying so.
      const StringRef before = ptx.take_front(at);
      EXPECT_TRUE(before.ends_with("atom.global.") || before.ends_with("atom.shared."))
          << bad.str() << " in\n"
          << ptx.str();
      at += bad.size();
    }
  }
}

constexpr llvm::StringLiteral kRowSums =
    R"(kernel row_sums(b0: f32[3000], out b1: f32[3], shared b2: f32[4]) {
  %0 = constant f32 0x0
  %1 = constant s64 0x3e8
  %2 = constant s64 0x0
  %3 = constant s64 0x4
  for i0 in 3 block.x {
    for i1 in 4 thread.x {
      for i2 in 32 lane {
        %4 = reduce i3 in 8 init %0 {
          %5 = index i1*32 + i2 + i3*128
          %6 = compare LT pred %5, %1
          %7 = load b0[i0*1000 + i1*32 + i2 + i3*128] if %6 else %0
          yield %7
        } by (%8, %9) {
          %10 = add f32 %8, %9
          yield %10
        }
        %11 = lane-reduce add %4
        %12 = index i2
        %13 = compare EQ pred %12, %2
        store b2[i1], %11 if %13
        barrier
        %14 = compare LT pred %12, %3
        %15 = load b2[i2] if %14 else %0
        %16 = lane-reduce add %15
        %17 = index i1*32 + i2
        %18 = compare EQ pred %17, %2
        store b1[i0], %16 if %18
      }
    }
  }
}
)";

TEST(PtxModule, BlocksReduce) {
  for (const StringRef target : {"a100", "h100"}) {
    const std::string ptx = PtxOf(kRowSums, target);
    ExpectClean(ptx);
    EXPECT_TRUE(StringRef(ptx).contains(target == "a100" ? ".target sm_80" : ".target sm_90")) << ptx;
    ExpectInOrder(ptx, {".visible .entry row_sums(", ".reqntid 128, 1, 1", "row_sums_b2[16]"});
    ExpectInOrder(ptx, {"ld.global.nc.f32", "add.rn.f32", "shfl.sync.bfly.b32", "st.shared.f32", "bar.sync",
                        "ld.shared.f32", "shfl.sync.bfly.b32", "st.global.f32"});
    // Five steps of 32 lanes, twice.
    EXPECT_EQ(StringRef(ptx).count("shfl.sync.bfly.b32"), 10U) << ptx;
  }
}

/// Whole periods of pieces that change places, and numbers that share no bits with what varies, are known in
/// accesses; what is left is worked out once.
TEST(PtxModule, PlacesInLinesAreKnownInAccesses) {
  const std::string ptx = PtxOf(R"(kernel k(out b0: f32[128], shared b1: f32[2048] swizzle(3, 48)) {
  %0 = constant f32 0x3f800000
  for i0 in 1 block.x {
    for i1 in 32 lane {
      for i2 in 4 {
        store b1[i1*16 + i2*512], %0
      }
      barrier
      for i3 in 4 {
        %1 = load b1[i1*16 + i3*512]
        store b0[i1 + i3*32], %1
      }
    }
  }
}
)");
  ExpectClean(ptx);
  ExpectInOrder(ptx, {"bar.sync", "ld.shared.f32", "ld.shared.f32", "+2048]", "ld.shared.f32", "+4096]",
                      "ld.shared.f32", "+6144]"});
  EXPECT_LE(StringRef(ptx).count("xor.b"), 1U) << ptx;
}

TEST(PtxModule, TilesAreTransposed) {
  const std::string ptx = PtxOf(kernel::kTranspose);
  ExpectClean(ptx);
  ExpectInOrder(ptx, {".reqntid 8, 8, 1", ".shared .align 16 .b8", "[144]", "ld.global.nc.u16",
                      "st.shared.u16", "bar.sync", "ld.shared.u16", "st.global.u16"});
}

TEST(PtxModule, UpdatesAreScattered) {
  const std::string ptx = PtxOf(kernel::kScatter);
  ExpectClean(ptx);
  ExpectInOrder(ptx, {".reqntid 32, 1, 1", "ld.global.nc.u32", "atom.global.add.f32", "atom.global.add.u32",
                      "atom.global.max.s32", "atom.global.cas.b32"});
}

TEST(PtxModule, AtomicsThatMachinesLackAreExchanges) {
  const auto atomic = [](StringRef op, StringRef type) {
    return llvm::formatv(R"(kernel k(b0: {1}[64], out b1: {1}[8]) {{
  for i0 in 2 block.x {{
    for i1 in 32 thread.x {{
      %0 = load b0[i0*32 + i1]
      atomic {0} b1[i0], %0
    }
  }
}
)",
                         op, type)
        .str();
  };
  for (const StringRef target : {"a100", "h100"})
    for (const auto& [op, type, instruction] : {std::tuple("maximum", "f32", "atom.global.cas.b32"),
                                                {"add", "bf16", "atom.global.cas.b32"},
                                                {"add", "f16", "atom.global.cas.b32"},
                                                {"multiply", "f64", "atom.global.cas.b64"},
                                                {"add", "f64", "atom.global.add.f64"},
                                                {"minimum", "u64", "atom.global.min.u64"},
                                                {"exchange", "f32", "atom.global.exch.b32"}}) {
      const std::string ptx = PtxOf(atomic(op, type), target);
      ExpectClean(ptx);
      EXPECT_TRUE(StringRef(ptx).contains(instruction)) << op << ' ' << type << '\n' << ptx;
    }
}

/// out = op(in), for 4096 elements of each thread block by block.
std::string Unary(StringRef op, StringRef from, StringRef to) {
  return llvm::formatv(R"(kernel k(b0: {1}[8192], out b1: {2}[8192]) {{
  for i0 in 8192 {{
    %0 = load b0[i0]
    %1 = {0} {2} %0
    store b1[i0], %1
  }
}
)",
                       op, from, to)
      .str();
}

std::string Elementwise(int width) {
  if (width == 1) return "split i0 by 128 into i3, i4; bind i3 to block.x; bind i4 to thread.x";
  return llvm::formatv(
             "split i0 by {0} into i1, i2; vector i2 by {0}; split i1 by 128 into i3, i4; "
             "bind i3 to block.x; bind i4 to thread.x",
             width)
      .str();
}

TEST(PtxModule, AccessesAreSixteenBytes) {
  for (const auto& [type, width] :
       {std::pair("f32", 4), {"f64", 2}, {"bf16", 8}, {"f16", 8}, {"s8", 16}, {"u64", 2}, {"s32", 4}}) {
    const std::string ptx = PtxOf(Unary("negate", type, type), "h100", Elementwise(width));
    ExpectClean(ptx);
    const bool wide = width == 2;
    EXPECT_TRUE(StringRef(ptx).contains(wide ? "ld.global.nc.v2." : "ld.global.nc.v4.")) << type << '\n'
                                                                                         << ptx;
    EXPECT_TRUE(StringRef(ptx).contains(wide ? "st.global.v2." : "st.global.v4.")) << type << '\n' << ptx;
    EXPECT_EQ(StringRef(ptx).count("ld.global"), 1U) << type << '\n' << ptx;
    EXPECT_EQ(StringRef(ptx).count("st.global"), 1U) << type << '\n' << ptx;
  }
}

TEST(PtxModule, MathIsOurs) {
  for (const char* op : {"exponential", "log", "tanh", "logistic", "sine", "cosine", "tan", "sqrt", "rsqrt",
                         "cbrt", "erf", "exponential-minus-one", "log-plus-one"})
    for (const char* type : {"f32", "f64", "bf16", "f16"}) {
      const std::string ptx = PtxOf(Unary(op, type, type), "h100", Elementwise(1));
      ExpectClean(ptx);
    }
  const std::string exponential = PtxOf(Unary("exponential", "f32", "f32"), "h100", Elementwise(4));
  EXPECT_TRUE(StringRef(exponential).contains("fma.rn.f32")) << exponential;
}

TEST(PtxModule, NothingIsFused) {
  const std::string ptx = PtxOf(R"(kernel k(b0: f32[8192], out b1: f32[8192]) {
  for i0 in 8192 {
    %0 = load b0[i0]
    %1 = multiply f32 %0, %0
    %2 = add f32 %1, %0
    store b1[i0], %2
  }
}
)",
                                "h100", Elementwise(4));
  ExpectClean(ptx);
  EXPECT_TRUE(StringRef(ptx).contains("mul.rn.f32")) << ptx;
  EXPECT_TRUE(StringRef(ptx).contains("add.rn.f32")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("fma")) << ptx;
}

TEST(PtxModule, DivisionAndRootsAreRounded) {
  const std::string ptx = PtxOf(R"(kernel k(b0: f32[8192], out b1: f32[8192]) {
  for i0 in 8192 {
    %0 = load b0[i0]
    %1 = sqrt f32 %0
    %2 = divide f32 %1, %0
    %3 = maximum f32 %2, %0
    store b1[i0], %3
  }
}
)",
                                "a100", Elementwise(1));
  ExpectClean(ptx);
  ExpectInOrder(ptx, {"sqrt.rn.f32", "div.rn.f32"});
}

TEST(PtxModule, RemaindersAreExact) {
  const std::string ptx = PtxOf(R"(kernel k(b0: f32[8192], b1: f32[8192], out b2: f32[8192]) {
  for i0 in 8192 {
    %0 = load b0[i0]
    %1 = load b1[i0]
    %2 = remainder f32 %0, %1
    store b2[i0], %2
  }
}
)",
                                "h100", Elementwise(1));
  ExpectClean(ptx);
  EXPECT_TRUE(StringRef(ptx).contains("rem.u32")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("div.")) << ptx;
}

TEST(PtxModule, IndicesAreNarrow) {
  // A broadcast: the row of an element is a division, of 32 bits.
  const std::string ptx = PtxOf(R"(kernel k(b0: f32[700], out b1: f32[70000]) {
  for i0 in 700 {
    for i1 in 100 {
      %0 = load b0[i0]
      store b1[i0*100 + i1], %0
    }
  }
}
)",
                                "h100",
                                "fuse i0, i1 into i2; split i2 by 128 into i3, i4; bind i3 to block.x; "
                                "bind i4 to thread.x");
  ExpectClean(ptx);
  EXPECT_FALSE(StringRef(ptx).contains("div.s64")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("mul.hi.u64")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("mul.hi.s64")) << ptx;
}

TEST(PtxModule, ShufflesOfFewLanesKeepToTheirGroup) {
  const std::string ptx = PtxOf(R"(kernel lanes(b0: f64[16], out b1: f64[48]) {
  for i0 in 1 block.x {
    for i1 in 2 thread.y {
      for i2 in 8 lane {
        %0 = load b0[i1*8 + i2]
        %1 = shuffle up %0 by 3
        store b1[i1*24 + i2], %1
        %2 = shuffle down %0 by i1 + 1
        store b1[i1*24 + i2 + 8], %2
        %3 = shuffle index %0 by i2*-1 + 7
        store b1[i1*24 + i2 + 16], %3
      }
    }
  }
}
)");
  ExpectClean(ptx);
  EXPECT_TRUE(StringRef(ptx).contains("%laneid")) << ptx;
  // Segments of 8 lanes: 24 << 8, from lane 0 or to lane 31.
  EXPECT_TRUE(StringRef(ptx).contains(", 6144, ")) << ptx;
  EXPECT_TRUE(StringRef(ptx).contains(", 6175, ")) << ptx;
}

TEST(PtxModule, HalvesAreConvertedByInstructions) {
  // The NaN of GPUs has all bits set: rounding by integers would make it a zero.
  for (const StringRef target : {"a100", "h100"}) {
    const std::string ptx = PtxOf(Unary("sqrt", "bf16", "bf16"), target, Elementwise(1));
    ExpectClean(ptx);
    EXPECT_TRUE(StringRef(ptx).contains("cvt.rn.bf16x2.f32")) << ptx;
  }
}

TEST(PtxModule, HalvesAreConvertedTwoAtOnce) {
  // Instructions that convert one take eight times as long as those for two.
  const std::string ptx = PtxOf(Unary("sqrt", "bf16", "bf16"), "h100", Elementwise(8));
  ExpectClean(ptx);
  EXPECT_EQ(StringRef(ptx).count("cvt.rn.bf16x2.f32"), 4U) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("cvt.rn.bf16.f32")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("cvt.u32.u16")) << ptx;
}

TEST(PtxModule, ExponentialsOfVectorsAskOnce) {
  // What is large or NaN is seen together; subnormals cost nothing.
  const std::string ptx = PtxOf(Unary("exponential", "f32", "f32"), "h100", Elementwise(4));
  ExpectClean(ptx);
  EXPECT_EQ(StringRef(ptx).count("setp.gtu.f32"), 4U) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("cvt.r")) << ptx;
  const auto [usual, rare] = StringRef(ptx).split("bra");
  EXPECT_FALSE(usual.contains("selp")) << ptx;
  EXPECT_EQ(usual.count("fma.rn.f32"), 4U * 9) << ptx;
}

TEST(PtxModule, TablesAreReadInPairs) {
  for (const auto& [op, pairs] : {std::pair("tanh", 4U), {"erf", 3U}}) {
    const std::string ptx = PtxOf(Unary(op, "f32", "f32"), "h100", Elementwise(4));
    ExpectClean(ptx);
    EXPECT_EQ(StringRef(ptx).count("ld.global.nc.v2.f32"), 4 * pairs) << ptx;
    EXPECT_FALSE(StringRef(ptx).contains("ld.global.nc.f32")) << ptx;
  }
}

TEST(PtxModule, QuotientsOfRowsAskOnce) {
  const auto of = [](StringRef type) {
    return PtxOf(llvm::formatv(R"(kernel k(b0: {0}[8192], b1: {0}[8], out b2: {0}[8192]) {{
  for i0 in 8 {{
    for i1 in 1024 {{
      %0 = load b0[i0*1024 + i1]
      %1 = load b1[i0]
      %2 = divide {0} %0, %1
      store b2[i0*1024 + i1], %2
    }
  }
}
)",
                               type)
                     .str(),
                 "h100",
                 "split i1 by 8 into i2, i3; vector i3 by 8; bind i0 to block.x; bind i2 to thread.x");
  };
  // Quotients of numbers of 8 bits are right but for divisors that are seldom.
  const std::string bf16 = of("bf16");
  ExpectClean(bf16);
  EXPECT_EQ(StringRef(bf16).count("setp."), 1U) << bf16;
  const std::string f32 = of("f32");
  ExpectClean(f32);
  EXPECT_EQ(StringRef(f32).count("min.u32"), 7U) << f32;
  EXPECT_EQ(StringRef(f32).count("setp."), 10U) << f32;
}

TEST(PtxModule, StoresPastCachesAreStores) {
  // A fence would end LLVM's selection of instructions.
  const std::string ptx = PtxOf(R"(kernel k(b0: f32[8192], out b1: f32[8192]) {
  for i0 in 16 block.x {
    for i1 in 128 thread.x {
      for i2 in 4 vector(4, 1) {
        %0 = load b0[i0*512 + i1*4 + i2]
        stream b1[i0*512 + i1*4 + i2], %0
      }
    }
  }
}
)");
  ExpectClean(ptx);
  EXPECT_TRUE(StringRef(ptx).contains("st.global.v4.f32")) << ptx;
  EXPECT_FALSE(StringRef(ptx).contains("fence")) << ptx;
}

TEST(PtxModule, WhatIsMissingIsDeclinedAndForgotten) {
  auto module = PtxModule::Create(*FindTarget("h100"));
  ASSERT_TRUE(module);
  auto scales = kernel::ParseKernel(Unary("exponential", "f8e8m0fnu", "f8e8m0fnu"));
  const Status status = module->Add(*scales);
  ASSERT_FALSE(status);
  EXPECT_TRUE(IsDeclined(status.error()));
  auto other = kernel::ParseKernel(Unary("negate", "f64", "f64"));
  other->name = "other";
  ASSERT_TRUE(module->Add(*other));
  const auto ptx = module->Print(PtxForm::Ptx);
  ASSERT_TRUE(ptx);
  EXPECT_TRUE(StringRef(*ptx).contains(".visible .entry other("));
  EXPECT_FALSE(StringRef(*ptx).contains("entry k("));
}

TEST(PtxModule, NamesAreThoseOfPtx) {
  EXPECT_EQ(SymbolFor("k0.fusion.1"), "k0_fusion_1");
  EXPECT_EQ(SymbolFor("a-b"), "a_b");
  EXPECT_EQ(SymbolFor("7up"), "k_7up");
  EXPECT_EQ(SymbolFor("_"), "k__");
  EXPECT_EQ(SymbolFor("$x"), "$x");
}

TEST(PtxModule, RefusesWhatTheTargetLacks) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel k(out b0: s32[1]) {\n  for i0 in 70000 block.y {\n  }\n}\n",
       "70000 blocks of block.y, there are at most 65535"},
      {"kernel k(out b0: s32[1]) {\n  for i0 in 2 block.x {\n    for i1 in 128 thread.z {\n    }\n  }\n}\n",
       "128 threads of a block in direction 2, there are at most 64"},
      {"kernel k(out b0: s32[1]) {\n  for i0 in 2 block.x {\n    for i1 in 64 lane {\n    }\n  }\n}\n",
       "64 lanes of a group, there are at most 32"},
      {"kernel k(out b0: s32[1], shared b1: s32[20000]) {\n  for i0 in 2 block.x {\n  }\n}\n",
       "80000 bytes of shared memory, a block has 49152"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(PtxOf(text), message);
}

}  // namespace
}  // namespace hlo::gpu
