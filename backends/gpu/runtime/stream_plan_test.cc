// Steps beside others: ordered by events, and found by the emulated GPU where they are not.
#include "backends/gpu/runtime/stream_plan.h"

#include "backends/gpu/runtime/build.h"
#include "backends/gpu/runtime/run.h"
#include "backends/gpu/runtime/test_programs.h"
#include "backends/run_devices.h"

namespace hlo::gpu {
namespace {

/// Two chains of products that meet, a loop, and two more that do.
constexpr const char* kModule = R"(HloModule m
body {
  s = (s32[], f32[32,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[32,32] get-tuple-element(s), index=1
  y = f32[32,32] get-tuple-element(s), index=2
  a = f32[32,32] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[32,32] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[32,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT n = (s32[], f32[32,32], f32[32,32]) tuple(j, c, a)
}
less {
  s = (s32[], f32[32,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[32,32] parameter(0)
  q = f32[32,32] parameter(1)
  a = f32[32,32] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[32,32] dot(q, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[32,32] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[32,32] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[32,32] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  i = s32[] constant(0)
  t = (s32[], f32[32,32], f32[32,32]) tuple(i, f, c)
  w = (s32[], f32[32,32], f32[32,32]) while(t), condition=less, body=body
  g = f32[32,32] get-tuple-element(w), index=1
  h = f32[32,32] get-tuple-element(w), index=2
  k = f32[32,32] dot(g, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  l = f32[32,32] dot(h, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[32,32] dot(k, l), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Module> module = Parsed(kModule);
    ASSERT_TRUE(PassesFor(TestMachine())(*module));
    auto program = BuildProgram(std::move(module), TestTarget(), TestMachine());
    ASSERT_TRUE(program) << Render(program.error());
    program_ = std::move(*program);
  }

  Result<Literal> Run(uint64_t seed) {
    HLO_TRY(GpuPtr gpu, OpenGpu(SmallEmulatedGpu(seed), TestTarget()));
    HLO_TRY(const auto loaded, LoadedProgram::Load(*program_, std::move(gpu)));
    std::vector<Literal> arguments;
    for (const float scale : {0.125F, 0.25F}) {
      Literal& made =
          arguments.emplace_back(Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {32, 32})));
      for (auto [i, value] : llvm::enumerate(made.MutableSpan<float>()))
        value = scale * static_cast<float>(i % 7) - scale;
    }
    HLO_TRY(ExecutionResult result,
            RunOnDevices({std::move(arguments)}, {}, [&](hlo::Device& device, std::vector<Literal> mine) {
              return loaded->Run(device, ToValues(std::move(mine)), {});
            }));
    return std::move(result.results.front());
  }

  std::unique_ptr<Program> program_;
};

TEST_F(Streams, GiveTheSameBits) {
  constexpr uint64_t kSeeds = 12;
  const Result<Literal> alone = Run(1);
  ASSERT_TRUE(alone) << Render(alone.error());
  program_->streams = PlanStreams(*program_, TestTarget(), SideStreams::All);
  EXPECT_GT(program_->streams.streams, 1);
  EXPECT_GT(program_->streams.events, 0);
  EXPECT_EQ(program_->streams.sequences.size(), 2U);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Result<Literal> result = Run(seed);
    ASSERT_TRUE(result) << Render(result.error());
    EXPECT_TRUE(*result == *alone) << seed;
  }
}

// The emulated GPU finds every wait that is not there.
TEST_F(Streams, WaitsAreNeeded) {
  constexpr uint64_t kSeeds = 30;
  const StreamPlan plan = PlanStreams(*program_, TestTarget(), SideStreams::All);
  const auto fails = [&] {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed)
      if (!Run(seed)) return true;
    return false;
  };
  int waits = 0;
  for (const auto& [sequence, whole] : plan.sequences)
    for (size_t step = 0; step < whole.steps.size(); ++step)
      for (size_t i = 0; i < whole.steps[step].waits.size(); ++i) {
        program_->streams = plan;
        auto& broken = program_->streams.sequences[sequence].steps[step].waits;
        broken.erase(broken.begin() + static_cast<ptrdiff_t>(i));
        EXPECT_TRUE(fails()) << "step " << step << ", wait " << i;
        ++waits;
      }
  EXPECT_GE(waits, 4);
}

TEST_F(Streams, ShortStepsStayTogether) {
  EXPECT_EQ(PlanStreams(*program_, TestTarget(), SideStreams::Auto).streams, 1);
  EXPECT_EQ(PlanStreams(*program_, TestTarget(), SideStreams::Off).streams, 1);
  // As if the GPU were slow.
  Target slow = TestTarget();
  slow.clock_hz = 1000;
  EXPECT_GT(PlanStreams(*program_, slow, SideStreams::Auto).streams, 1);
}

}  // namespace
}  // namespace hlo::gpu
