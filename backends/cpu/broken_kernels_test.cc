#include "backends/cpu/compile.h"
#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kTwoKernels = R"(HloModule two_kernels
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[3,4] parameter(0)
  z = f32[] constant(0)
  sum = f32[] reduce(x, z), dimensions={0,1}, to_apply=add
  kept = f32[] opt-barrier(sum)
  all = f32[3,4] broadcast(kept), dimensions={}
  ROOT r = f32[3,4] add(x, all)
}
)";

struct Outcome {
  Result<ExecutionResult> result = Error("internal-error", {}, "did not run");
  std::vector<Diagnostic> reports;
};

/// Runs the module with kernels that break when they are planned, or when code is made of them.
Outcome RunBroken(bool planned, bool fail) {
  Outcome outcome;
  const ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>("two_kernels", kTwoKernels.str()));
  CpuOptions options;
  options.store.on_disk = false;
  options.tier = Tier::Compile;
  options.broken_kernels_fail = fail;
  options.report = [&](Diagnostic d) { outcome.reports.push_back(std::move(d)); };
  options.break_kernel = [=](const Instruction&, bool now) -> Status {
    if (now != planned) return {};
    return Error("kernel-schedule", {}, "a test broke it");
  };
  auto executable = CompileForCpu(*parsed.module, options);
  if (!executable) {
    outcome.result = Error(executable.error());
    return outcome;
  }
  std::vector<Literal> arguments(1, Literal::Make(Shape::Array(ElementType::F32, {3, 4})));
  auto* data = reinterpret_cast<float*>(arguments[0].MutableData());
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  std::vector<std::vector<Literal>> devices;
  devices.push_back(std::move(arguments));
  outcome.result = (*executable)->Run(std::move(devices), {});
  return outcome;
}

TEST(BrokenKernels, AreComputedWithoutOneAndReported) {
  for (const bool planned : {true, false}) {
    const Outcome outcome = RunBroken(planned, /*fail=*/false);
    ASSERT_TRUE(outcome.result) << outcome.result.error().message;
    const auto* data = reinterpret_cast<const float*>(outcome.result->results[0].data());
    for (int i = 0; i < 12; ++i) EXPECT_EQ(data[i], static_cast<float>(66 + i));
    ASSERT_EQ(outcome.reports.size(), 2U);
    for (const Diagnostic& report : outcome.reports) {
      EXPECT_EQ(report.id.text(), "kernel-broken");
      EXPECT_EQ(report.severity, Severity::Warning);
      EXPECT_TRUE(report.loc.valid());
    }
  }
}

TEST(BrokenKernels, AreErrorsWhereTheProgramChecksItself) {
  for (const bool planned : {true, false}) {
    const Outcome outcome = RunBroken(planned, /*fail=*/true);
    ASSERT_FALSE(outcome.result);
    EXPECT_EQ(outcome.result.error().id.text(), "kernel-broken");
    EXPECT_TRUE(outcome.result.error().loc.valid());
  }
}

}  // namespace
}  // namespace hlo
