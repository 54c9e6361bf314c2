// Grouping follows the figures of the machine: the same passes make other kernels for another one.
#include "backends/compile/machine.h"

#include "backends/compile/kernel_config.h"
#include "backends/kernel/lower.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/test_target.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "passes/pass_manager.h"

namespace hlo::compile {
namespace {

constexpr int64_t kKilo = 1024;

/// A processor with vectors of 16 lanes, whose calls cost little and whose caches are near.
Machine Processor() {
  Machine machine;
  machine.kernels = kernel::TestTarget();
  machine.caches = {.line = 64, .first = 32 * kKilo, .second = 1024 * kKilo, .third = 0};
  machine.memory = {{512 * kKilo, 2}, {INT64_MAX, 15}};
  machine.vectors = {.bytes = 64};
  machine.costs = {.launch = 4000, .keep = 4, .read = 2, .indexed = 60, .called = 200};
  machine.threads = {.worthwhile = 256 * kKilo,
                     .piece = 64 * kKilo,
                     .parts = 64,
                     .least_parts = 8,
                     .least_part = 64,
                     .row_parts = 16,
                     .least_row_parts = 4,
                     .least_rows = 64};
  machine.products = {.all = 4096,
                      .in_loops = 64 * kKilo,
                      .contracted = 64 * kKilo,
                      .short_row = 8,
                      .small_left = 16,
                      .small_right = 64};
  machine.transposes = {.line = 8, .elements = 4096, .operations = 6};
  machine.folds = {.own_lanes = 4096, .in_order = 16};
  return machine;
}

/// A machine of warps that nobody builds: each launch costs microseconds, in which it computes a lot, and
/// memory is far from all of it.
Machine Warps() {
  Machine machine = Processor();
  machine.gpu = {
      .warp = 32, .block = 1024, .shared_memory = 100 * kKilo, .registers = 255, .access_alignment = 128};
  machine.caches = {.line = machine.gpu.access_alignment,
                    .first = machine.gpu.shared_memory,
                    .second = 32 * 1024 * kKilo,
                    .third = 0};
  machine.memory = {{INT64_MAX, 60}};
  machine.vectors = {.bytes = machine.gpu.warp * 4};
  machine.costs.launch = 40'000'000;
  machine.threads.worthwhile = 4 * kKilo;
  machine.kernels.vectors.lanes = machine.gpu.warp;
  machine.kernels.caches.line = machine.gpu.access_alignment;
  machine.kernels.caches.local = machine.gpu.shared_memory;
  return machine;
}

std::unique_ptr<Module> RunOn(const char* text, const char* passes, const Machine& machine) {
  std::unique_ptr<Module> module = ParseModule(text).module;
  RewriteControls controls;
  controls.machine = &machine;
  PassManager manager(controls, {});
  const auto pipeline = ParsePipeline(passes);
  EXPECT_TRUE(pipeline && manager.Run(*module, *pipeline));
  return module;
}

int64_t KernelsOf(const char* text, const char* passes, const Machine& machine) {
  const std::unique_ptr<Module> module = RunOn(text, passes, machine);
  return llvm::count_if(module->entry()->instructions(), [](const Instruction* i) { return IsKernel(*i); });
}

/// Exponentials that are summed and turned round.
constexpr char kTwoReaders[] = R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[40000] parameter(0)
  y = f32[40000] exponential(x)
  z = f32[] constant(0)
  sum = f32[] reduce(y, z), dimensions={0}, to_apply=add
  back = f32[40000] reverse(y), dimensions={0}
  ROOT t = (f32[], f32[40000]) tuple(sum, back)
})";

TEST(Machine, FunctionsAreComputedAgainWhereALaunchCostsMore) {
  EXPECT_EQ(KernelsOf(kTwoReaders, "row-major-layouts,kernel-fusion", Processor()), 3);
  EXPECT_EQ(KernelsOf(kTwoReaders, "row-major-layouts,kernel-fusion", Warps()), 2);
}

TEST(Machine, BandwidthAloneDecidesTheSame) {
  Machine far_memory = Processor();
  far_memory.memory = {{INT64_MAX, 60}};
  EXPECT_EQ(KernelsOf(kTwoReaders, "row-major-layouts,kernel-fusion", far_memory), 2);
}

TEST(Machine, LargeReductionsAreCutWhereThreadsAreWorthIt) {
  constexpr const char* kPasses = "row-major-layouts,parallel-reduction-splitter";
  const auto reductions = [&](const Machine& machine) {
    return RunOn(kTwoReaders, kPasses, machine)->entry()->InstructionsOf(OpKind::Reduce).size();
  };
  EXPECT_EQ(reductions(Processor()), 1U);
  EXPECT_EQ(reductions(Warps()), 2U);
}

/// Two sums of the rows of an array that one of the caches holds.
constexpr char kSiblings[] = R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[100,200] parameter(0)
  z = f32[] constant(0)
  sum = f32[100] reduce(x, z), dimensions={1}, to_apply=add
  square = f32[100,200] multiply(x, x)
  squares = f32[100] reduce(square, z), dimensions={1}, to_apply=add
  ROOT t = (f32[100], f32[100]) tuple(sum, squares)
})";

TEST(Machine, KernelsThatReadTheSameStayApartWhereTheNearestCacheHoldsIt) {
  constexpr const char* kPasses = "row-major-layouts,kernel-fusion,kernel-sibling-fusion";
  EXPECT_EQ(KernelsOf(kSiblings, kPasses, Processor()), 1);
  EXPECT_EQ(KernelsOf(kSiblings, kPasses, Warps()), 2);
}

TEST(Machine, WindowsAndProductsAreKernelsAsFarAsItSays) {
  constexpr char kProduct[] = R"(HloModule m
ENTRY e {
  x = f32[16,16] parameter(0)
  y = f32[16,16] parameter(1)
  ROOT d = f32[16,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  Machine machine = Processor();
  EXPECT_EQ(KernelsOf(kProduct, "row-major-layouts,kernel-fusion", machine), 1);
  machine.products.all = 16 * 16 * 16 - 1;
  EXPECT_EQ(KernelsOf(kProduct, "row-major-layouts,kernel-fusion", machine), 0);
}

TEST(Machine, SchedulesHaveItsLanes) {
  const std::unique_ptr<Module> module = RunOn(kTwoReaders, "row-major-layouts,kernel-fusion", Warps());
  const auto fusions = module->entry()->InstructionsOf(OpKind::Fusion);
  ASSERT_FALSE(fusions.empty());
  for (const Machine& machine : {Processor(), Warps()}) {
    auto lowered = kernel::Lower(*fusions.back()->callee(), "k", machine.kernels);
    ASSERT_TRUE(lowered) << lowered.error().message;
    const std::string schedule = ToString(kernel::ChooseSchedule(lowered->kernel, machine.kernels));
    EXPECT_NE(schedule.find("by " + std::to_string(machine.kernels.vectors.lanes)), std::string::npos)
        << schedule;
  }
}

}  // namespace
}  // namespace hlo::compile
