// Which way products take, and that each way has a test that forces it.
#include <gtest/gtest.h>

#include "backends/cpu/compile.h"
#include "backends/cpu/product_problem.h"
#include "backends/products/common/vnni_kernels.h"
#include "backends/products/product.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"

namespace hlo::cpu {
namespace {

using gemm::Isa;
using gemm::Target;

std::unique_ptr<Module> Parse(llvm::StringRef x, llvm::StringRef y, llvm::StringRef root) {
  const std::string text = llvm::formatv(
      "HloModule m\nENTRY e {{\n  x = {0} parameter(0)\n  y = {1} parameter(1)\n  ROOT r = {2}\n}\n", x, y,
      root);
  ParseResult parsed = ParseModule(text);
  EXPECT_TRUE(parsed.module != nullptr) << text;
  return std::move(parsed.module);
}

/// Ways that a product of two arrays takes: without vectors worth the name, with AVX-512, and with that and
/// AVX512-BF16 and AVX512-VNNI.
struct Row {
  const char *x, *y, *root, *baseline, *avx512, *vnni;
};
constexpr Row kRows[] = {
#define DOT "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    {"f32[300,200]", "f32[200,500]", "f32[300,500] " DOT, "packed-gemm", "packed-gemm", "packed-gemm"},
    {"f32[2,500]", "f32[500,700]", "f32[2,700] " DOT, "gemv", "gemv", "gemv"},
    {"f32[700,500]", "f32[500,2]", "f32[700,2] " DOT, "gemv", "gemv", "gemv"},
    {"f32[500,500]", "f32[500,10]", "f32[500,10] " DOT, "packed-gemm", "packed-gemm", "packed-gemm"},
    {"bf16[300,200]", "bf16[200,500]", "bf16[300,500] " DOT, "packed-gemm", "packed-gemm",
     "packed-gemm-vnni"},
    {"bf16[2,500]", "bf16[500,700]", "bf16[2,700] " DOT, "gemv", "gemv", "gemv"},
    {"s8[300,200]", "s8[200,500]", "s32[300,500] " DOT, "packed-gemm", "packed-gemm", "packed-gemm-vnni"},
    {"s8[3,20]", "s8[20,50]", "s32[3,50] " DOT, "packed-gemm", "packed-gemm", "packed-gemm"},
    {"c64[40,60]", "c64[60,70]", "c64[40,70] " DOT, "packed-gemm", "packed-gemm", "packed-gemm"},
#define CONV(groups) "convolution(x, y), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f" groups
    {"f32[2,28,28,64]", "f32[3,3,64,64]", "f32[2,28,28,64] " CONV(""), "packed-gemm", "packed-gemm",
     "packed-gemm"},
    {"f32[2,28,28,3]", "f32[3,3,3,16]", "f32[2,28,28,16] " CONV(""), "direct-nhwc", "direct-nhwc",
     "direct-nhwc"},
    {"f32[2,28,28,64]", "f32[3,3,64,2]", "f32[2,28,28,2] " CONV(""), "direct-few-outputs",
     "direct-few-outputs", "direct-few-outputs"},
    {"f32[2,28,28,1]", "f32[3,3,1,1]", "f32[2,28,28,1] " CONV(""), "direct-spatial", "depthwise-nchw",
     "depthwise-nchw"},
    {"f32[2,28,28,32]", "f32[3,3,1,32]", "f32[2,28,28,32] " CONV(", feature_group_count=32"), "direct-nhwc",
     "depthwise-nhwc-staged", "depthwise-nhwc-staged"},
    {"s8[2,28,28,32]", "s8[3,3,4,32]", "s8[2,28,28,32] " CONV(", feature_group_count=8"), "direct-nhwc",
     "direct-nhwc", "direct-vnni"},
    {"bf16[2,28,28,64]", "bf16[3,3,64,64]", "bf16[2,28,28,64] " CONV(""), "packed-gemm", "packed-gemm",
     "packed-gemm-vnni"},
#define PLANES(groups) "convolution(x, y), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01" groups
    {"f32[2,32,28,28]", "f32[32,1,3,3]", "f32[2,32,28,28] " PLANES(", feature_group_count=32"),
     "direct-spatial", "depthwise-nchw", "depthwise-nchw"},
#define GRADIENT(groups) "convolution(x, y), window={size=28x28 pad=1_1x1_1}, dim_labels=" groups
    {"f32[4,32,28,28]", "f32[4,32,28,28]", "f32[32,1,3,3] " GRADIENT("fb01_io01->fb01, batch_group_count=32"),
     "direct-spatial", "depthwise-nchw-weight-gradient", "depthwise-nchw-weight-gradient"},
    {"s8[4,32,28,28]", "s8[4,32,28,28]", "s8[32,1,3,3] " GRADIENT("fb01_io01->fb01, batch_group_count=32"),
     "direct-spatial", "direct-spatial", "depthwise-nchw-weight-gradient-vnni"},
    {"f32[4,28,28,32]", "f32[4,28,28,32]", "f32[3,3,1,32] " GRADIENT("f01b_i01o->01bf, batch_group_count=32"),
     "depthwise-weight-gradient", "depthwise-weight-gradient", "depthwise-weight-gradient"},
    {"f32[4,28,28,32]", "f32[4,28,28,32]", "f32[3,3,4,32] " GRADIENT("f01b_i01o->01bf, batch_group_count=8"),
     "grouped-weight-gradient", "grouped-weight-gradient", "grouped-weight-gradient"},
};

std::string WayOf(const Instruction& inst, const Target& target) {
  const gemm::Problem problem =
      inst.kind() == OpKind::Dot ? DotProblem(inst) : ConvolutionProblems(inst).front();
  return gemm::Product(problem, target).way().name;
}

TEST(ProductPaths, AreChosenAsMeasured) {
  for (const Row& row : kRows) {
    const auto module = Parse(row.x, row.y, row.root);
    const Instruction& inst = *module->entry()->root();
    EXPECT_EQ(WayOf(inst, {}), row.baseline) << row.root;
    if (gemm::HostIsa() < Isa::Avx512) continue;
    EXPECT_EQ(WayOf(inst, {Isa::Avx512}), row.avx512) << row.root;
    if (gemm::PairKernels() == nullptr || gemm::FourKernels() == nullptr) continue;
    EXPECT_EQ(WayOf(inst, {Isa::Avx512, false, true, true}), row.vnni) << row.root;
  }
}

/// The first of the special ways that suits is the cheapest because of this; tiles stand behind them.
TEST(ProductPaths, StandByFallingShare) {
  const llvm::ArrayRef<gemm::Way> ways = gemm::Ways();
  for (size_t i = 1; i < ways.size() && !ways[i].by_rows; ++i)
    EXPECT_LE(ways[i].share, ways[i - 1].share) << ways[i].name;
  EXPECT_TRUE(llvm::is_sorted(ways, [](const auto& a, const auto& b) { return a.by_rows < b.by_rows; }));
}

TEST(ProductPaths, AreAllForcedByTests) {
  auto file = llvm::MemoryBuffer::getFile(HLO_SOURCE_DIR "/backends/cpu/force_path_test.hlo");
  ASSERT_TRUE(file);
  for (const gemm::Way& way : gemm::Ways())
    if (!way.by_library)  // below
      EXPECT_TRUE((*file)->getBuffer().contains(std::string("--force-path=") + way.name + " --reference"))
          << way.name;
}

TEST(ProductPaths, LibrariesAreForcedWhereTheyAre) {
  const auto module = Parse("f32[1,9,9,16]", "f32[3,3,16,16]", "f32[1,9,9,16] " CONV(""));
  CpuOptions options;
  options.force_path = "onednn";
  options.store.on_disk = false;
  const auto executable = CompileForCpu(*module, options);
  if (!executable) {
    EXPECT_EQ(executable.error().id.text(), "unsupported-path") << executable.error().message;
    GTEST_SKIP() << executable.error().message;
  }
}

}  // namespace
}  // namespace hlo::cpu
