#include "backends/gpu/target/target.h"

#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

TEST(GpuTarget, BuiltInOnesAreThereAndReadBack) {
  EXPECT_EQ(TargetNames(), (std::vector<std::string>{"a100", "b200", "h100", "h200"}));
  for (const std::string& name : TargetNames()) {
    const auto target = FindTarget(name);
    ASSERT_TRUE(target) << target.error().message;
    const std::string text = ToString(*target);
    const SourceBuffer source("t", text);
    const auto again = ParseTarget(source);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(ToString(*again), text);
    const compile::Machine machine = MachineOf(*target);
    EXPECT_EQ(machine.gpu.warp, 32);
    EXPECT_EQ(machine.kernels.blocks.access, 16);
    EXPECT_FALSE(machine.matrix_units.empty());
  }
  EXPECT_EQ(FindTarget("")->name, "h100");
}

TEST(GpuTarget, DamagedTextsAreRefusedAtTheirPlace) {
  const std::string good = ToString(*FindTarget("h200"));
  const auto damaged = [&](llvm::StringRef from, llvm::StringRef to) {
    std::string text = good;
    const size_t at = text.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    text.replace(at, from.size(), to.str());
    const SourceBuffer source("t.txt", text);
    const auto target = ParseTarget(source);
    if (target) return std::string("accepted");
    const LineColumn place = FindLineColumn(source, target.error().loc.begin);
    return std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + target.error().message;
  };
  EXPECT_EQ(damaged("arch = sm_90", "arch = sm_20"),
            "2:8: 'arch': found 'sm_20', expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a");
  EXPECT_EQ(damaged("multiprocessors = 132", "multiprocessors = x"),
            "4:19: found 'x', expected a whole number");
  EXPECT_EQ(damaged("multiprocessors = 132", "multiprocessors = 0"), "4:19: found 0, expected 1 to 4096");
  EXPECT_EQ(damaged("multiprocessors = 132", "multiprocessor = 132"),
            "4:1: a GPU target has no 'multiprocessor'; did you mean 'multiprocessors'?");
  EXPECT_EQ(damaged("multiprocessors = 132\n", "132\n"), "4:1: found '132', expected KEY = VALUE");
  EXPECT_EQ(damaged("warp = 32", "name = again"), "8:1: 'name' is given twice");
  EXPECT_EQ(damaged("matrix = bf16", "matrix = bf17"), "23:10: 'bf17' is no element type");
  EXPECT_EQ(damaged("sector_bytes = 32", "sector_bytes = 33"),
            "18:1: sector_bytes is 33, expected a power of two");
  EXPECT_EQ(damaged("access_bytes = 16", "access_bytes = 24"),
            "19:1: access_bytes is 24, expected a power of two");
  EXPECT_EQ(damaged("clock_hz = 1980000000\n", "").substr(3), "1: the GPU target has no 'clock_hz'");
}

TEST(GpuTarget, UnknownNamesAndFilesAreErrors) {
  EXPECT_EQ(FindTarget("v100").error().message,
            "option '--gpu-target': found 'v100', expected a file or one of a100, b200, h100, h200");
  EXPECT_EQ(FindTarget("./no/such.txt").error().id.text(), "input-open");
}

}  // namespace
}  // namespace hlo::gpu
