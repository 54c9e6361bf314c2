// Graphs of the emulated driver that have conditions: what they do, who ends them, what the driver refuses.
#include "backends/gpu/emulator/emulated_driver.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

/// Counts down; goes on while there is something left, unless `stop`, memory of the host, says otherwise.
constexpr const char* kCountDown = R"(.version 7.0
.target sm_80
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);
.visible .entry down(.param .u64 condition, .param .u64 numbers, .param .u64 stop)
{
  .reg .b32 %r<7>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [condition];
  ld.param.u64 %rd2, [numbers];
  ld.param.u64 %rd3, [stop];
  ld.relaxed.sys.global.u32 %r1, [%rd3];
  ld.global.u32 %r2, [%rd2];
  ld.global.u32 %r3, [%rd2+4];
  add.s32 %r3, %r3, 1;
  sub.s32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  st.global.u32 [%rd2+4], %r3;
  setp.eq.u32 %p1, %r1, 0;
  setp.ne.and.s32 %p2, %r2, 0, %p1;
  selp.u32 %r4, 1, 0, %p2;
  call.uni cudaGraphSetConditional, (%rd1, %r4);
  ret;
}
)";

/// A stream, two numbers on the device, and what ends loops.
class Driver {
 public:
  explicit Driver(uint64_t seed = 0, int version = kSwitchVersion) : api(Start(seed, version)) {
    CuModule module = nullptr;
    Expect(api.Init(0));
    Expect(api.DevicePrimaryCtxRetain(&context, 0));
    Expect(api.CtxSetCurrent(context));
    Expect(api.ModuleLoadDataEx(&module, kCountDown, 0, nullptr, nullptr));
    Expect(api.ModuleGetFunction(&function_, module, "down"));
    Expect(api.StreamCreate(&stream, 1));
    Expect(api.MemAlloc(&numbers_, sizeof(uint32_t) * 2));
    void* memory = nullptr;
    Expect(api.MemHostAlloc(&memory, sizeof(uint32_t), 0));
    stop = static_cast<uint32_t*>(memory);
    *stop = 0;
  }
  static const DriverApi& Start(uint64_t seed, int version) {
    EmulatedDriverOptions options;
    options.device.memory = 1 << 20;
    options.device.seed = seed;
    options.version = version;
    return StartEmulatedDriver(options);
  }
  static void Expect(CuResult result) { EXPECT_EQ(result, CuResult::Success) << NameOf(result); }

  void Set(uint32_t count) const {
    const uint32_t values[] = {count, 0};
    Expect(api.MemcpyHtoD(numbers_, values, sizeof values));
  }
  /// How often the kernel has run since.
  [[nodiscard]] uint32_t Runs() const {
    uint32_t values[2] = {};
    Expect(api.MemcpyDtoH(values, numbers_, sizeof values));
    return values[1];
  }
  void Launch(CuGraphCondition condition) {
    auto stop_address = reinterpret_cast<CuDevicePtr>(stop);
    void* params[] = {&condition, &numbers_, &stop_address};
    Expect(api.LaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
  }
  [[nodiscard]] CuGraph Captured() const {
    int status = 0;
    CuGraph graph = nullptr;
    Expect(api.StreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
    return status == 1 ? graph : nullptr;
  }
  [[nodiscard]] CuGraphCondition NewCondition(unsigned value, unsigned flags) const {
    CuGraphCondition condition = 0;
    Expect(api.GraphConditionalHandleCreate(&condition, Captured(), context, value, flags));
    return condition;
  }
  /// Behind what the stream has captured.
  CuResult Add(CuConditionalNode& params, bool follows = true) const {
    int status = 0;
    CuGraph graph = nullptr;
    const CuGraphNode* before = nullptr;
    size_t count = 0;
    Expect(api.StreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, nullptr, &count));
    params.context = context;
    CuGraphNode node = nullptr;
    const CuResult added = api.GraphAddNode(&node, graph, before, nullptr, count, &params);
    if (added == CuResult::Success && follows)
      Expect(api.StreamUpdateCaptureDependencies(stream, &node, nullptr, 1, CuGraphFlags::Replace));
    return added;
  }
  void CaptureBody(CuGraph body, CuGraphCondition condition) {
    Expect(api.StreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, CuGraphFlags::ThisThread));
    Launch(condition);
    CuGraph ended = nullptr;
    Expect(api.StreamEndCapture(stream, &ended));
    EXPECT_EQ(ended, body);
  }
  /// A loop that begins with its condition true.
  CuGraphExec Loop() {
    CuGraph graph = nullptr;
    CuGraphExec exec = nullptr;
    Expect(api.StreamBeginCapture(stream, CuGraphFlags::ThisThread));
    const CuGraphCondition condition = NewCondition(1, 1);
    CuConditionalNode node;
    node.condition = condition;
    node.type = CuConditionalNode::While;
    Expect(Add(node));
    Expect(api.StreamEndCapture(stream, &graph));
    CaptureBody(node.bodies[0], condition);
    Expect(api.GraphInstantiate(&exec, graph, 0));
    EXPECT_EQ(api.GraphDestroy(node.bodies[0]), CuResult::InvalidValue);
    Expect(api.GraphDestroy(graph));
    return exec;
  }

  const DriverApi& api;
  CuContext context = nullptr;
  CuStream stream = nullptr;
  uint32_t* stop = nullptr;

 private:
  CuFunction function_ = nullptr;
  CuDevicePtr numbers_ = 0;
};

TEST(EmulatedGraphs, LoopsRunUntilTheirConditionIsFalse) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Driver driver(seed);
    CuGraphExec exec = driver.Loop();
    for (const uint32_t count : {1U, 7U, 100U}) {
      driver.Set(count);
      driver.Expect(driver.api.GraphLaunch(exec, driver.stream));
      driver.Expect(driver.api.StreamSynchronize(driver.stream));
      EXPECT_EQ(driver.Runs(), count);
    }
  }
}

TEST(EmulatedGraphs, TheHostEndsALoop) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Driver driver(seed);
    CuGraphExec exec = driver.Loop();
    driver.Set(1U << 30);
    driver.Expect(driver.api.GraphLaunch(exec, driver.stream));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(driver.api.StreamQuery(driver.stream), CuResult::NotReady);
    *driver.stop = 1;
    driver.Expect(driver.api.StreamSynchronize(driver.stream));
    EXPECT_GT(driver.Runs(), 10U);
    EXPECT_LT(driver.Runs(), 200U);
  }
}

TEST(EmulatedGraphs, BranchesAreChosen) {
  for (const int version : {12030, kSwitchVersion}) {
    Driver driver(0, version);
    const bool newer = version == kSwitchVersion;
    CuGraph graph = nullptr;
    CuGraphExec exec = nullptr;
    driver.Expect(driver.api.StreamBeginCapture(driver.stream, CuGraphFlags::ThisThread));
    // Is set to 1 by the kernel, as long as something is left.
    const CuGraphCondition condition = driver.NewCondition(0, 0);
    driver.Launch(condition);
    CuConditionalNode node;
    node.condition = condition;
    node.type = CuConditionalNode::Switch;
    node.count = 2;
    EXPECT_EQ(driver.Add(node), newer ? CuResult::Success : CuResult::InvalidValue);
    node.type = CuConditionalNode::If;
    node.count = 1;
    if (!newer) driver.Expect(driver.Add(node));
    driver.Expect(driver.api.StreamEndCapture(driver.stream, &graph));
    driver.CaptureBody(node.bodies[newer ? 1 : 0], condition);
    driver.Expect(driver.api.GraphInstantiate(&exec, graph, 0));
    for (const uint32_t count : {1U, 2U}) {
      driver.Set(count);
      driver.Expect(driver.api.GraphLaunch(exec, driver.stream));
      driver.Expect(driver.api.StreamSynchronize(driver.stream));
      EXPECT_EQ(driver.Runs(), count);
    }
  }
}

TEST(EmulatedGraphs, WhatIsWrongIsRefused) {
  Driver driver;
  const DriverApi& api = driver.api;
  CuGraph graph = nullptr, other = nullptr;
  CuGraphExec exec = nullptr;
  CuDevicePtr address = 0;
  CuGraphCondition condition = 0;
  CuConditionalNode node;
  node.type = CuConditionalNode::While;
  EXPECT_EQ(api.GraphConditionalHandleCreate(&condition, &node, driver.context, 0, 0),
            CuResult::InvalidHandle);
  driver.Expect(api.StreamBeginCapture(driver.stream, CuGraphFlags::ThisThread));
  const CuGraphCondition foreign = driver.NewCondition(0, 0);
  EXPECT_EQ(api.GraphConditionalHandleCreate(&condition, driver.Captured(), nullptr, 0, 0),
            CuResult::InvalidContext);
  EXPECT_EQ(api.GraphConditionalHandleCreate(&condition, driver.Captured(), driver.context, 0, 2),
            CuResult::InvalidValue);
  EXPECT_EQ(api.MemAlloc(&address, 16), CuResult::StreamCaptureUnsupported);
  driver.Expect(api.StreamEndCapture(driver.stream, &other));
  EXPECT_EQ(api.GraphInstantiate(&exec, other, 0),
            CuResult::InvalidValue);  // nothing decides by its condition
  driver.Expect(api.StreamBeginCapture(driver.stream, CuGraphFlags::ThisThread));
  node.condition = foreign;
  EXPECT_EQ(driver.Add(node), CuResult::InvalidValue);
  node.condition = driver.NewCondition(0, 0);
  node.count = 2;
  EXPECT_EQ(driver.Add(node), CuResult::InvalidValue);
  node.count = 1;
  node.padding[3] = 1;
  EXPECT_EQ(driver.Add(node), CuResult::InvalidValue);
  node.padding[3] = 0;
  driver.Expect(driver.Add(node));
  EXPECT_EQ(driver.Add(node), CuResult::InvalidValue);  // one node by each condition
  driver.Launch(node.condition);
  EXPECT_EQ(api.StreamBeginCaptureToGraph(driver.stream, node.bodies[0], nullptr, nullptr, 0, 1),
            CuResult::IllegalState);
  driver.Expect(api.StreamEndCapture(driver.stream, &graph));
  driver.Expect(api.GraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(api.GraphInstantiate(&exec, node.bodies[0], 0), CuResult::InvalidValue);
  EXPECT_EQ(api.StreamUpdateCaptureDependencies(driver.stream, nullptr, nullptr, 0, 1),
            CuResult::IllegalState);
}

TEST(EmulatedGraphs, WhatFollowsNothingIsNotEmulated) {
  Driver driver;
  CuGraph graph = nullptr;
  driver.Expect(driver.api.StreamBeginCapture(driver.stream, CuGraphFlags::ThisThread));
  CuConditionalNode node;
  node.condition = driver.NewCondition(0, 1);
  driver.Expect(driver.Add(node, /*follows=*/false));
  driver.Launch(node.condition);  // beside the node, on a card
  EXPECT_EQ(driver.api.StreamEndCapture(driver.stream, &graph), CuResult::NotSupported);
}

TEST(EmulatedGraphs, ConditionsAreThoseOfTheGraph) {
  Driver driver;
  CuGraphExec exec = driver.Loop();
  driver.Set(1);
  driver.Expect(driver.api.GraphLaunch(exec, driver.stream));
  driver.Expect(driver.api.StreamSynchronize(driver.stream));
  driver.Launch(1);
  EXPECT_EQ(driver.api.StreamSynchronize(driver.stream), CuResult::LaunchFailed);
  EXPECT_NE(EmulatedReport().find("sets a condition, and no graph"), std::string::npos) << EmulatedReport();
}

TEST(EmulatedGraphs, ConditionsAreSetInEachLaunch) {
  Driver driver;
  CuGraph graph = nullptr;
  CuGraphExec exec = nullptr;
  driver.Expect(driver.api.StreamBeginCapture(driver.stream, CuGraphFlags::ThisThread));
  CuConditionalNode node;
  node.condition = driver.NewCondition(0, 0);
  node.type = CuConditionalNode::If;
  driver.Expect(driver.Add(node));
  driver.Expect(driver.api.StreamEndCapture(driver.stream, &graph));
  driver.CaptureBody(node.bodies[0], node.condition);
  driver.Expect(driver.api.GraphInstantiate(&exec, graph, 0));
  driver.Set(1);
  (void)driver.api.GraphLaunch(exec, driver.stream);
  EXPECT_EQ(driver.api.StreamSynchronize(driver.stream), CuResult::LaunchFailed);
  EXPECT_NE(EmulatedReport().find("that nothing has set"), std::string::npos) << EmulatedReport();
}

TEST(EmulatedGraphs, OlderDriversLackThem) {
  const Driver driver(0, 12020);
  EXPECT_EQ(driver.api.GraphAddNode, nullptr);
  EXPECT_NE(driver.api.GraphLaunch, nullptr);
}

}  // namespace
}  // namespace hlo::gpu
