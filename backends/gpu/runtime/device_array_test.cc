// Values that stay on a GPU between runs.
#include "backends/gpu/runtime/device_array.h"

#include "backends/gpu/runtime/test_programs.h"

namespace hlo::gpu {
namespace {

constexpr const char* kStep = R"(HloModule step
ENTRY e {
  w = f32[4096] parameter(0)
  s = f32[4096] parameter(1)
  t = f32[4096] add(w, s)
  ROOT r = (f32[4096], f32[4096], f32[]) tuple(t, w, f32[] constant(3))
}
)";

Literal Filled(float value) {
  Literal made = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {4096}));
  for (float& element : made.MutableSpan<float>()) element = value;
  return made;
}

GpuRunOptions OnEmulatedGpu() {
  GpuRunOptions options;
  options.platform = SmallEmulatedGpu();
  return options;
}

/// Every copy of the kind fails, from the n-th on.
GpuRunOptions FailingFrom(const char* function, uint64_t n) {
  GpuRunOptions options;
  options.platform = SmallEmulatedGpu();
  for (uint64_t call = n; call < n + 8; ++call)
    options.platform.emulation.faults.push_back({function, call, CuResult::Unknown});
  return options;
}

std::vector<DeviceValue> Step(const Executable& program, std::vector<DeviceValue> arguments) {
  auto result = program.RunOnValues({std::move(arguments)}, {});
  if (!result) ADD_FAILURE() << Render(result.error());
  return result ? std::move(result->results.front()) : std::vector<DeviceValue>(3);
}

float First(const DeviceValue& value) {
  const auto host = value.ToHost();
  if (!host) ADD_FAILURE() << Render(host.error());
  return host ? host->Data<float>()[0] : -1;
}

TEST(DeviceArray, StaysOnTheGpuWithinTuples) {
  const auto program = Compile(R"(HloModule nested
ENTRY e {
  p = ((f32[4096], (f32[4096], s32[])), f32[4096]) parameter(0)
  a = (f32[4096], (f32[4096], s32[])) get-tuple-element(p), index=0
  s = f32[4096] get-tuple-element(a), index=0
  b = (f32[4096], s32[]) get-tuple-element(a), index=1
  w = f32[4096] get-tuple-element(b), index=0
  n = s32[] get-tuple-element(b), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  t = f32[4096] add(w, s)
  c = (f32[4096], s32[]) tuple(w, m)
  ROOT r = ((f32[4096], (f32[4096], s32[])), f32[4096]) tuple((f32[4096], (f32[4096], s32[])) tuple(t, c), s)
}
)",
                               OnEmulatedGpu());
  DeviceValue state = DeviceValue::OfElements(
      {DeviceValue::OfElements(
           {Filled(0), DeviceValue::OfElements({Filled(1), Literal::Zeros(Shape::ArrayWithDefaultLayout(
                                                               ElementType::S32, {}))})}),
       Filled(7)});
  EXPECT_FALSE(state.IsOnDevice());
  for (int i = 1; i <= 3; ++i) {
    std::vector<DeviceValue> results = Step(*program, {state});
    ASSERT_EQ(results.size(), 2U);
    const DeviceValue inner = results[0].Element(1);
    for (const DeviceValue& part : {results[0].Element(0), inner.Element(0), inner.Element(1), results[1]})
      EXPECT_NE(part.array(), nullptr);
    EXPECT_EQ(First(results[0].Element(0)), i);
    state = DeviceValue::OfElements(std::move(results));
    EXPECT_TRUE(state.IsOnDevice());
  }
  const auto host = state.ToHost();
  ASSERT_TRUE(host);
  EXPECT_EQ(ToString(host->shape(), /*without_layout=*/false),
            "((f32[4096], (f32[4096], s32[])), f32[4096])");
  EXPECT_EQ(host->element(0).element(1).element(1).Data<int32_t>()[0], 3);
  // Parts that come from other places: the host, and another GPU.
  const auto other = Compile(kStep, OnEmulatedGpu());
  const DeviceValue foreign = Step(*other, {DeviceValue(Filled(2)), DeviceValue(Filled(3))})[0];
  const DeviceValue mixed = DeviceValue::OfElements(
      {DeviceValue::OfElements({foreign, state.Element(0).Element(1)}), DeviceValue(Filled(9))});
  EXPECT_EQ(First(Step(*program, {mixed})[0].Element(0)), 6);
}

TEST(DeviceArray, StaysOnTheGpu) {
  const auto program = Compile(kStep, OnEmulatedGpu());
  const DeviceValue weights(Filled(1));
  DeviceValue state(Filled(0));
  for (int i = 0; i < 5; ++i) {
    std::vector<DeviceValue> results = Step(*program, {weights, state});
    ASSERT_EQ(results.size(), 3U);
    for (const DeviceValue& result : results) EXPECT_NE(result.array(), nullptr);
    EXPECT_EQ(First(results[1]), 1);
    EXPECT_EQ(First(results[2]), 3);
    state = results[0];
  }
  EXPECT_EQ(First(state), 5);
  EXPECT_EQ(First(state), 5);  // still there
}

TEST(DeviceArray, RunsBringNothingToTheHost) {
  const auto program = Compile(kStep, FailingFrom("MemcpyDtoHAsync", 1));
  DeviceValue state(Filled(0));
  for (int i = 0; i < 3; ++i) state = Step(*program, {DeviceValue(Filled(1)), state})[0];
  EXPECT_FALSE(state.ToHost());
}

TEST(DeviceArray, RunsBringNothingFromTheHost) {
  // Two arguments and the constant of the first run.
  const auto program = Compile(kStep, FailingFrom("MemcpyHtoDAsync", 4));
  std::vector<DeviceValue> values = Step(*program, {DeviceValue(Filled(1)), DeviceValue(Filled(0))});
  for (int i = 0; i < 3; ++i) values = Step(*program, {values[1], values[0]});
  EXPECT_EQ(First(values[0]), 4);
}

TEST(DeviceArray, GoesFromProgramToProgramAndFromGpuToGpu) {
  GpuRunOptions options = OnEmulatedGpu();
  options.platform.emulation.devices = 2;
  const auto one = Compile(kStep, options), same = Compile(kStep, options);
  options.gpus = {1};
  const auto other = Compile(kStep, options);
  const DeviceValue sum = Step(*one, {DeviceValue(Filled(1)), DeviceValue(Filled(2))})[0];
  EXPECT_EQ(First(Step(*same, {sum, sum})[0]), 6);
  const DeviceValue there = Step(*other, {sum, DeviceValue(Filled(1))})[0];
  EXPECT_EQ(First(there), 4);
  EXPECT_EQ(First(Step(*one, {there, sum})[0]), 7);
}

constexpr const char* kUpdate = R"(HloModule update, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY e {
  s = f32[4096] parameter(0)
  w = f32[4096] parameter(1)
  t = f32[4096] add(s, w)
  ROOT r = (f32[4096], f32[4096], f32[4096]) tuple(w, t, t)
}
)";

/// A run that nobody else has the first argument of.
DeviceValue Update(const Executable& program, DeviceValue state, const DeviceValue& weights) {
  std::vector<std::vector<DeviceValue>> arguments(1);
  arguments[0].push_back(std::move(state));
  arguments[0].push_back(weights);
  auto result = program.RunOnValues(std::move(arguments), {});
  if (!result) ADD_FAILURE() << Render(result.error());
  if (!result) return {};
  EXPECT_EQ(First(result->results[0][0]), 1);
  EXPECT_EQ(First(result->results[0][1]), First(result->results[0][2]));
  return std::move(result->results[0][1]);
}

CuDevicePtr AddressOf(const DeviceValue& value) {
  return static_cast<const gpu::GpuArray&>(*value.array()).address();
}

TEST(DeviceArray, IsWrittenOverByARunThatAloneHasIt) {
  const auto program = Compile(kUpdate, OnEmulatedGpu());
  const DeviceValue weights = Step(*program, {DeviceValue(Filled(0)), DeviceValue(Filled(1))})[0];
  DeviceValue a = Update(*program, DeviceValue(Filled(0)), weights);
  DeviceValue b = Update(*program, DeviceValue(Filled(10)), weights);
  const CuDevicePtr at_a = AddressOf(a), at_b = AddressOf(b);
  // Several at one place, so that what was recorded is of use; then in turns.
  for (int i = 0; i < 5; ++i) {
    a = Update(*program, std::move(a), weights);
    EXPECT_EQ(AddressOf(a), at_a);
  }
  for (int i = 0; i < 3; ++i) {
    a = Update(*program, std::move(a), weights);
    b = Update(*program, std::move(b), weights);
    EXPECT_EQ(AddressOf(a), at_a);
    EXPECT_EQ(AddressOf(b), at_b);
  }
  EXPECT_EQ(First(a), 9);
  EXPECT_EQ(First(b), 14);
  // What somebody else has stays as it is; arguments of the host, too.
  const DeviceValue more = Update(*program, a, weights);
  EXPECT_NE(AddressOf(more), at_a);
  EXPECT_EQ(First(a), 9);
  EXPECT_EQ(First(more), 10);
  EXPECT_EQ(First(Update(*program, DeviceValue(Filled(3)), weights)), 4);
  EXPECT_EQ(First(Update(*program, std::move(a), weights)), 10);
}

TEST(DeviceArray, MemoryOfArraysThatAreGoneIsUsedAgain) {
  // Not a third of what all results take.
  GpuRunOptions options = OnEmulatedGpu();
  options.platform.emulation.device.memory = uint64_t{1} << 21;
  const auto program = Compile(kStep, options);
  DeviceValue state(Filled(0));
  std::vector<DeviceValue> kept;
  for (int i = 0; i < 200; ++i) {
    state = Step(*program, {DeviceValue(Filled(1)), state})[0];
    if (i % 50 == 0) kept.push_back(state);
  }
  EXPECT_EQ(First(state), 200);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(First(kept[i]), static_cast<float>(i * 50 + 1));
}

TEST(DeviceArray, OutlivesItsProgram) {
  auto program = Compile(kStep, OnEmulatedGpu());
  const DeviceValue sum = Step(*program, {DeviceValue(Filled(1)), DeviceValue(Filled(2))})[0];
  program = nullptr;
  EXPECT_EQ(First(sum), 3);
}

TEST(DeviceArray, IsEmptyOrScalarOrDynamic) {
  const auto program = Compile(R"(HloModule shapes
ENTRY e {
  x = s32[0,3] parameter(0)
  n = s32[] parameter(1)
  y = s32[4] parameter(2)
  d = s32[<=4] set-dimension-size(y, n), dimensions={0}
  ROOT r = (s32[0,3], s32[], s32[<=4], (s32[], token[])) tuple(x, n, d, (s32[], token[]) tuple(n, token[] after-all()))
}
)",
                               OnEmulatedGpu());
  std::vector<DeviceValue> arguments;
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 3}, {}, {4}})
    arguments.emplace_back(Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::S32, dims)));
  auto result = program->RunOnValues({arguments}, {});
  ASSERT_TRUE(result) << Render(result.error());
  const std::vector<DeviceValue>& parts = result->results.front();
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].ToHost()->byte_size(), 0U);
  EXPECT_EQ(parts[1].ToHost()->Data<int32_t>()[0], 0);
  EXPECT_EQ(parts[2].array(), nullptr);  // the host knows how large it is
  EXPECT_EQ(parts[2].host().DynamicSize(0), 0);
  EXPECT_EQ(parts[3].array(), nullptr);
  EXPECT_TRUE(program->RunOnValues({{parts[0], parts[1], arguments[2]}}, {}));
}

}  // namespace
}  // namespace hlo::gpu
