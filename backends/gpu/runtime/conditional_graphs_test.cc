// Loops of graphs that the host ends.
#include "backends/gpu/runtime/test_programs.h"
#include "ir/support/interrupt.h"

namespace hlo::gpu {
namespace {

/// Adds what it is given to a number until that is 0.
constexpr const char* kLoop = R"(HloModule a_loop
body {
  s = (s32[], s32[]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  d = s32[] get-tuple-element(s), index=1
  m = s32[] add(n, d)
  ROOT r = (s32[], s32[]) tuple(m, d)
}
condition {
  s = (s32[], s32[]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  z = s32[] constant(0)
  ROOT l = pred[] compare(n, z), direction=NE
}
ENTRY e {
  n = s32[] parameter(0)
  d = s32[] parameter(1)
  t = (s32[], s32[]) tuple(n, d)
  w = (s32[], s32[]) while(t), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(w), index=0
}
)";

Result<ExecutionResult> RunOnce(const Executable& program, int32_t n, int32_t d) {
  std::vector<Literal> arguments;
  for (const int32_t value : {n, d}) {
    Literal argument = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::S32, {}));
    argument.MutableSpan<int32_t>()[0] = value;
    arguments.push_back(std::move(argument));
  }
  return program.Run({std::move(arguments)}, {});
}

void EndsALoop(GraphUse graphs, uint64_t seed) {
  GpuRunOptions options;
  options.platform = SmallEmulatedGpu(seed);
  options.graphs = graphs;
  const std::unique_ptr<Executable> program = Compile(kLoop, options);
  ASSERT_NE(program, nullptr);
  for (int i = 0; i < 2; ++i) {
    {
      StopToken stop;
      const StopScope scope(stop);
      const TimeLimit limit(stop, std::chrono::milliseconds(50));
      const auto endless = RunOnce(*program, 7, 0);
      ASSERT_FALSE(endless);
      EXPECT_EQ(endless.error().id, DiagnosticId("limit-timeout")) << Render(endless.error());
    }
    // The GPU is as good as before.
    const auto result = RunOnce(*program, 50, -1);
    ASSERT_TRUE(result) << Render(result.error());
    EXPECT_EQ(result->results.front().Data<int32_t>()[0], 0);
  }
}

TEST(ConditionalGraphs, TheHostEndsALoop) {
  for (const uint64_t seed : {0, 5})
    for (const GraphUse graphs : {GraphUse::Auto, GraphUse::On}) EndsALoop(graphs, seed);
}

}  // namespace
}  // namespace hlo::gpu
