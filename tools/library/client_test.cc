#include "hlo/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "backends/gpu/runtime/device_array.h"
#include "hlo/xla.h"
#include "tools/library/client_state.h"
#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

const Shape kVector = ShapeUtil::MakeShape(F32, {3});

/// Nothing is kept on disk.
std::unique_ptr<Client> NewClient(ClientOptions options = {}) {
  options.cache = false;
  return Client::Create(options).ConsumeValueOrDie();
}

Literal Vector(internal::List1<float> values) { return LiteralUtil::CreateR1<float>(values); }

/// x + y, and x * y.
XlaComputation SumAndProduct() {
  XlaBuilder builder("pair");
  const XlaOp x = builder.Parameter(0, kVector, "x"), y = builder.Parameter(1, kVector, "y");
  Tuple(&builder, {Add(x, y), Mul(x, y)});
  return builder.Build().value();
}

/// x + x.
XlaComputation Double(const Shape& shape = kVector) {
  XlaBuilder builder("double");
  const XlaOp x = builder.Parameter(0, shape, "x");
  Add(x, x);
  return builder.Build().value();
}

/// Runs as long as nobody stops it.
XlaComputation Endless() {
  XlaBuilder condition("condition");
  const Shape number = ShapeUtil::MakeShape(S32, {});
  Ge(condition.Parameter(0, number, "i"), ConstantR0<int>(&condition, 0));
  XlaBuilder body("body");
  const XlaOp i = body.Parameter(0, number, "i");
  And(Add(i, i), ConstantR0<int>(&body, 1));
  XlaBuilder builder("endless");
  While(condition.Build().value(), body.Build().value(), builder.Parameter(0, number, "start"));
  return builder.Build().value();
}

class LibraryClient : public testing::TestWithParam<const char*> {
 protected:
  LibraryClient() {
    ClientOptions options;
    options.platform = GetParam();
    options.device_count = 4;
    client_ = NewClient(options);
  }
  Executable Compile(const XlaComputation& computation, const CompileOptions& options = {}) {
    return client_->Compile(computation, options).ConsumeValueOrDie();
  }
  Buffer ToDevice(const Literal& literal, int device = 0) {
    return client_->ToDevice(literal, device).ConsumeValueOrDie();
  }
  std::unique_ptr<Client> client_;
};
INSTANTIATE_TEST_SUITE_P(Platforms, LibraryClient, testing::Values("cpu", "interpreter", "gpu-emu"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

TEST_P(LibraryClient, RunsOnLiterals) {
  const Executable pair = Compile(SumAndProduct());
  EXPECT_EQ(pair.name(), "pair");
  EXPECT_EQ(pair.program_shape().ToString(), "(x: f32[3], y: f32[3]) -> (f32[3], f32[3])");
  EXPECT_EQ(pair.Run({Vector({1, 2, 3}), Vector({4, 5, 6})})->ToString(),
            "(f32[3], f32[3]) ( {5, 7, 9}, {4, 10, 18} )");
  EXPECT_EQ(Message(pair.Run({Vector({1, 2, 3})}).status()), "1 arguments, the program has 2 parameters");
  EXPECT_EQ(Message(pair.Run({Vector({1, 2, 3}), Vector({4})}).status()),
            "argument 1 is f32[1], parameter %y is f32[3]");
  EXPECT_EQ(Message(pair.Run({Vector({1, 2, 3}), Literal()}).status()), "argument 1 is no value");
  EXPECT_EQ(Message(Executable().Run({}).status()), "the executable is null");
  EXPECT_FALSE(client_->Compile(XlaComputation()).ok());
}

#if !__has_feature(address_sanitizer)  // it ends the program where there is no memory
TEST_P(LibraryClient, MemoryThatThereIsNotIsAnError) {
  XlaBuilder builder("large");
  Broadcast(builder.Parameter(0, ShapeUtil::MakeShape(F32, {}), "x"), {int64_t{1} << 44});
  const Executable large = Compile(builder.Build().value());
  const Literal one = LiteralUtil::CreateR0<float>(1);
  EXPECT_EQ(large.Run({one}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(large.ExecuteAsync({ToDevice(one)})->Await().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(large.Execute({ToDevice(one)}).status().code(), StatusCode::kResourceExhausted);
}
#endif

TEST_P(LibraryClient, RunsOnBuffers) {
  const Executable pair = Compile(SumAndProduct());
  const Buffer x = ToDevice(Vector({1, 2, 3}));
  std::vector<Buffer> results = pair.Execute({x, x}).value();
  for (int i = 0; i < 3; ++i) results = pair.Execute({results[0], results[1]}).value();
  EXPECT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].shape(), *ParseShape("f32[3]{0}"));
  EXPECT_EQ(results[0].ToLiteral()->ToString(), "f32[3] {11, 152, 879}");
  EXPECT_EQ(Message(pair.Execute({x, Buffer()}).status()), "argument 1 is no buffer");
  EXPECT_EQ(Message(pair.Execute({x, ToDevice(x.ToLiteral().value(), 1)}).status()),
            "argument 1 is on device 1, the program runs on device 0");
  const auto other = NewClient();
  EXPECT_EQ(Message(pair.Execute({x, other->ToDevice(Vector({1, 2, 3})).value()}).status()),
            "argument 1 is a buffer of another client");
  EXPECT_EQ(Message(client_->ToDevice(Vector({1}), 4).status()), "there is no device 4, the client has 4");
}

TEST_P(LibraryClient, TuplesWithinTuplesAreValues) {
  XlaBuilder builder("nested");
  const XlaOp x = builder.Parameter(0, kVector, "x");
  const XlaOp inner = Tuple(&builder, {Add(x, x), x});
  Tuple(&builder, {Tuple(&builder, {inner}), x});
  const Executable nested = Compile(builder.Build().value());
  const Execution run = nested.ExecuteAsync({ToDevice(Vector({1, 2, 3}))}).value();
  const char* text = "((f32[3], f32[3])) ( ( {2, 4, 6}, {1, 2, 3} ) )";
  EXPECT_EQ(run.results().front().ToLiteral()->ToString(), text);
  EXPECT_EQ(run.results().front().shape(), *ParseShape("((f32[3]{0}, f32[3]{0}))"));
  const auto outer = client_->DeconstructTuple(run.result()).value();
  EXPECT_EQ(outer.front()->ToLiteral()->ToString(), text);
  const auto parts =
      client_->DeconstructTuple(*client_->DeconstructTuple(*outer.front()).value().front()).value();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts.front()->ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
  // As an argument, and out of what waits.
  XlaBuilder taker("taker");
  GetTupleElement(
      GetTupleElement(
          GetTupleElement(Parameter(&taker, 0, *ParseShape("(((f32[3], f32[3])), f32[3])"), "p"), 0), 0),
      0);
  const Executable take = Compile(taker.Build().value());
  EXPECT_EQ(take.ExecuteAsync({run.result()})->result().ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
}

TEST_P(LibraryClient, ARunIsWaitedForAndStopped) {
  const Execution run = Compile(Endless()).ExecuteAsync({ToDevice(LiteralUtil::CreateR0<int>(0))}).value();
  EXPECT_FALSE(run.WaitFor(std::chrono::milliseconds(5)));
  EXPECT_FALSE(run.result().WaitFor(std::chrono::milliseconds(5)));
  run.Cancel();
  EXPECT_EQ(run.Await().code(), StatusCode::kCancelled);
  EXPECT_TRUE(run.WaitFor({}));
  EXPECT_TRUE(run.result().WaitFor({}));
  EXPECT_EQ(run.device_count(), 1);
  EXPECT_EQ(Execution().device_count(), 0);
  EXPECT_TRUE(Execution().WaitFor({}));
}

TEST_P(LibraryClient, ManyRunsAreUnderWay) {
  const Executable twice = Compile(Double());
  Buffer value = ToDevice(Vector({1, 2, 3}));
  std::vector<Execution> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(twice.ExecuteAsync({value}).value());
    value = runs.back().result();
  }
  EXPECT_EQ(value.ToLiteral()->ToString(), "f32[3] {1048576, 2097152, 3145728}");
  for (const Execution& run : runs) EXPECT_TRUE(run.Await().ok());
  EXPECT_TRUE(runs.back().IsReady());
}

TEST_P(LibraryClient, TheCallerSaysWhatIsDonated) {
  const Executable twice = Compile(Double());
  const Buffer x = ToDevice(Vector({1, 2, 3}));
  EXPECT_EQ(twice.Execute({x}, {.donated = {0}})->front().ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
  EXPECT_EQ(x.Await().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(twice.Execute({x}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Message(twice.Execute({ToDevice(Vector({1, 2, 3}))}, {.donated = {1}}).status()),
            "there is no parameter 1 to donate");
  // A call that fails gives nothing away.
  const Buffer pair = ToDevice(LiteralUtil::MakeTuple({Vector({1}), Vector({2})}));
  XlaBuilder builder("two");
  GetTupleElement(builder.Parameter(0, pair.shape(), "t"), 0);
  builder.Parameter(1, kVector, "x");
  const Executable two = Compile(builder.Build().value());
  EXPECT_EQ(Message(two.Execute({pair, ToDevice(Vector({1}))}, {.donated = {0, 1}}).status()),
            "argument 1 is f32[1], parameter %x is f32[3]");
  EXPECT_TRUE(pair.Await().ok());
  Buffer gone = ToDevice(Vector({1, 2, 3}));
  gone.Delete();
  EXPECT_EQ(gone.ToLiteral().status().code(), StatusCode::kFailedPrecondition);
}

TEST_P(LibraryClient, TheDocumentsFunctionsRun) {
  const XlaComputation pair = SumAndProduct();
  const auto x = client_->TransferToServer(Vector({1, 2, 3})).ConsumeValueOrDie();
  const auto both = client_->Execute(pair, {x.get(), x.get()}).ConsumeValueOrDie();
  EXPECT_EQ(both->shape().ToString(), "(f32[3], f32[3])");
  EXPECT_EQ((*client_->Transfer(*both))->ToString(), "(f32[3], f32[3]) ( {2, 4, 6}, {1, 4, 9} )");
  const auto parts = client_->DeconstructTuple(*both).ConsumeValueOrDie();
  EXPECT_EQ((*client_->ExecuteAndTransfer(pair, {parts[0].get(), parts[1].get()}))->ToString(),
            "(f32[3], f32[3]) ( {3, 8, 15}, {2, 16, 54} )");
  EXPECT_TRUE(client_->ExecuteAsync(pair, {x.get(), x.get()})->Await().ok());
  EXPECT_EQ(Message(client_->Execute(pair, {x.get(), nullptr}).status()), "argument 1 is null");
  EXPECT_FALSE(client_->DeconstructTuple(*x).ok());
  // A tuple as an argument.
  XlaBuilder builder("first");
  GetTupleElement(builder.Parameter(0, both->shape(), "t"), 1);
  EXPECT_EQ((*client_->ExecuteAndTransfer(builder.Build().value(), {both.get()}))->ToString(),
            "f32[3] {1, 4, 9}");
}

TEST_P(LibraryClient, MemoryIsInTheOrderOfTheLayout) {
  const Shape columns = ShapeUtil::MakeShapeWithLayout(S16, {2, 3}, {0, 1});
  const std::array<int16_t, 6> values = {1, 4, 2, 5, 3, 6};
  const auto data = client_->TransferToServerInProcess(columns, values.data()).ConsumeValueOrDie();
  EXPECT_EQ(data->ToLiteral()->ToString(), "s16[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }");
  CompileOptions options;
  options.argument_layouts = {columns};
  options.result_layout = columns;
  const Executable twice = Compile(Double(ShapeUtil::MakeShape(S16, {2, 3})), options);
  EXPECT_EQ(twice.program_shape().result.ToString(true), "s16[2,3]{0,1}");
  const Buffer result = twice.Execute({*data})->front();
  EXPECT_EQ(result.shape().ToString(true), "s16[2,3]{0,1}");
  std::array<int16_t, 6> out{};
  EXPECT_TRUE(client_->TransferInProcess(result, out.data()).ok());
  EXPECT_EQ(out, (std::array<int16_t, 6>{2, 8, 4, 10, 6, 12}));
  // Memory need not be aligned.
  std::array<char, 13> odd{};
  EXPECT_TRUE(client_->TransferInProcess(result, odd.data() + 1).ok());
  const auto from_odd = client_->TransferToServerInProcess(columns, odd.data() + 1).ConsumeValueOrDie();
  EXPECT_EQ(from_odd->ToLiteral()->ToString(), "s16[2,3] { { 2, 4, 6 }, { 8, 10, 12 } }");
  const Shape rows = ShapeUtil::MakeShapeWithLayout(S16, {2, 3}, {1, 0});
  EXPECT_EQ((*client_->Transfer(result, &rows))->shape().ToString(true), "s16[2,3]{1,0}");
  EXPECT_FALSE(client_->TransferInProcess(result, nullptr).ok());
  EXPECT_FALSE(client_->TransferToServerInProcess(columns, nullptr).ok());
  EXPECT_FALSE(client_->TransferToServerInProcess(ShapeUtil::MakeTokenShape(), values.data()).ok());
  Shape tiled = columns;
  tiled.set_layout({{0, 1}, "T(2,128)"});
  EXPECT_EQ(client_->TransferToServerInProcess(tiled, values.data()).status().code(),
            StatusCode::kUnimplemented);
  options.result_layout = kVector;
  EXPECT_EQ(Message(client_->Compile(Double(ShapeUtil::MakeShape(S16, {2, 3})), options).status()),
            "the layout of the result is of f32[3], not of s16[2,3]");
}

TEST_P(LibraryClient, ReplicasRunOnAssignedDevices) {
  XlaBuilder builder("sum");
  CrossReplicaSum(builder.Parameter(0, kVector, "x"), {});
  const XlaComputation sum = builder.Build().value();
  CompileOptions options;
  options.replica_count = 2;
  options.device_assignment = {3, 1};
  const Executable executable = Compile(sum, options);
  EXPECT_EQ(executable.device_count(), 2);
  const std::vector<Literal> mine = {Vector({1, 2, 3})}, other = {Vector({10, 20, 30})};
  const std::vector<std::vector<Literal>> literals = {mine, other};
  const auto results = executable.RunOnDevices(literals).ConsumeValueOrDie();
  EXPECT_EQ(results[1].ToString(), "f32[3] {11, 22, 33}");
  const std::vector<std::vector<Buffer>> buffers = {{ToDevice(mine[0], 3)}, {ToDevice(other[0], 1)}};
  const Execution run = executable.ExecuteAsyncOnDevices(buffers).value();
  EXPECT_EQ(run.result(1).ToLiteral()->ToString(), "f32[3] {11, 22, 33}");
  EXPECT_EQ(run.result(1).device(), 1);
  EXPECT_TRUE(run.results(2).empty());
  EXPECT_EQ(Message(executable.Run(mine).status()), "arguments for 1 devices, the program has 2");
  const auto message = [&](int64_t replicas, std::vector<int> devices) {
    CompileOptions wrong;
    wrong.replica_count = replicas;
    wrong.device_assignment = std::move(devices);
    return Message(client_->Compile(sum, wrong).status());
  };
  EXPECT_EQ(message(5, {}), "5 replicas of 1 partitions, the client has 4 devices");
  EXPECT_EQ(message(2, {0}), "1 devices are assigned, the program has 2");
  EXPECT_EQ(message(2, {0, 4}), "there is no device 4, the client has 4");
  EXPECT_EQ(message(2, {1, 1}), "device 1 is assigned twice");
}

TEST_P(LibraryClient, ProgramsExchangeValuesWithTheHost) {
  XlaBuilder builder("feeds");
  const XlaOp x = Infeed(&builder, kVector);
  Outfeed(Add(x, x), kVector, "");
  const Executable feeds = Compile(builder.Build().value());
  // Asked for before there is anything.
  const Execution run = feeds.ExecuteAsync({}).value();
  EXPECT_TRUE(client_->TransferToInfeed(Vector({1, 2, 3})).ok());
  const Shape wrong = ShapeUtil::MakeShape(F32, {4});
  EXPECT_EQ(Message(client_->TransferFromOutfeed(&wrong).status()),
            "the next value of the outfeed is f32[3], not f32[4]");
  EXPECT_EQ(client_->TransferFromOutfeed(&kVector)->ToString(), "f32[3] {2, 4, 6}");
  EXPECT_TRUE(run.Await().ok());
  EXPECT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0<float>(1)).ok());
  const Status status = feeds.ExecuteAsync({})->Await();
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(Message(status), "infeed expects f32[3], the next value of the queue is f32[]");
  EXPECT_FALSE(client_->TransferToInfeed(Literal()).ok());
}

TEST_P(LibraryClient, ChannelsJoinPrograms) {
  const ChannelHandle channel = client_->CreateChannelHandle();
  XlaBuilder sender("sender"), receiver("receiver");
  Send(sender.Parameter(0, kVector, "x"), channel);
  const XlaOp received = Recv(&receiver, kVector, channel);
  Add(received, received);
  const Executable send = Compile(sender.Build().value()), receive = Compile(receiver.Build().value());
  const Execution waiting = receive.ExecuteAsync({}).value();
  EXPECT_TRUE(send.ExecuteAsync({ToDevice(Vector({1, 2, 3}))})->Await().ok());
  EXPECT_EQ(waiting.result().ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
}

TEST_P(LibraryClient, RunsAreStopped) {
  const Executable endless = Compile(Endless());
  const Buffer start = ToDevice(LiteralUtil::CreateR0<int>(0));
  StopSource stop(*client_);
  const Execution stopped = endless.ExecuteAsync({start}, {.stop = &stop}).value();
  // A GPU is lost with a kernel that had to be stopped, and what else runs there.
  if (std::string(GetParam()) == "gpu-emu") {
    stop.Request();
    EXPECT_EQ(stopped.Await().code(), StatusCode::kCancelled);
    return;
  }
  const Execution other = endless.ExecuteAsync({start}).value();
  stop.Request();
  EXPECT_EQ(stopped.Await().code(), StatusCode::kCancelled);
  EXPECT_FALSE(other.IsReady());
  client_->Cancel();
  EXPECT_EQ(other.Await().code(), StatusCode::kCancelled) << other.Await().ToString();
  EXPECT_EQ(client_->TransferFromOutfeed().status().code(), StatusCode::kCancelled);
  client_->ClearCancellation();
  EXPECT_TRUE(Compile(Double()).Run({Vector({1, 2, 3})}).ok());
}

TEST_P(LibraryClient, ExecutablesAreStoredAndLoaded) {
  CompileOptions options;
  options.replica_count = 2;
  options.device_assignment = {1, 0};
  const std::string bytes = *Compile(Double(), options).Serialize();
  const Executable again = client_->LoadSerialized(bytes).ConsumeValueOrDie();
  EXPECT_EQ(again.device_count(), 2);
  EXPECT_EQ(again.program_shape().ToString(), "(x: f32[3]) -> f32[3]");
  const std::vector<std::vector<Literal>> literals(2, {Vector({1, 2, 3})});
  EXPECT_EQ(again.RunOnDevices(literals)->back().ToString(), "f32[3] {2, 4, 6}");
  // The same bytes again: what is stored is what was compiled.
  EXPECT_EQ(*again.Serialize(), bytes);
  ClientOptions small;
  small.platform = GetParam();
  EXPECT_FALSE(NewClient(small)->LoadSerialized(bytes).ok());
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 100)
    EXPECT_FALSE(client_->LoadSerialized(bytes.substr(0, size)).ok());
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 100) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(client_->LoadSerialized(damaged).ok());
  }
}

TEST_P(LibraryClient, ReportsSayWhatRunsTake) {
  const Executable pair = Compile(SumAndProduct());
  const auto report = pair.memory();
  EXPECT_EQ(report.has_value(), std::string(GetParam()) != "interpreter");
  if (report) {
    EXPECT_EQ(report->arguments, 24);
    EXPECT_GE(report->results, 24);
    EXPECT_GE(report->peak(), 48);
  }
  const auto profile = pair.Profile({Vector({1, 2, 3}), Vector({4, 5, 6})}, 3).ConsumeValueOrDie();
  EXPECT_EQ(profile.runs, 3);
  EXPECT_FALSE(profile.rows.empty());
  for (const ProfileReport::Row& row : profile.rows) {
    EXPECT_EQ(row.calls % 3, 0);
    EXPECT_NE(row.text.find(row.name), std::string::npos);
  }
  EXPECT_FALSE(pair.Profile({}, 1).ok());
  EXPECT_FALSE(pair.Profile({}, 0).ok());
  EXPECT_NE(pair.OptimizedText().find("HloModule pair"), std::string::npos);
}

TEST(LibraryClients, AssignedDevicesAreGpusOfTheirOwn) {
  ClientOptions options;
  options.platform = "gpu-emu";
  const auto one = NewClient(options);
  options.device_count = 4;
  const auto four = NewClient(options);
  const auto gpu_of = [](const Buffer& buffer) {
    const auto value = internal::BufferState::Get(buffer)->parts.front().Value();
    return static_cast<const hlo::gpu::GpuArray&>(*value->array()).gpu().ordinal();
  };
  const auto run = [&](const Client& client, std::vector<int> devices) {
    const int first = devices.empty() ? 0 : devices.front();
    const Executable twice = client.Compile(Double(), {.device_assignment = std::move(devices)}).value();
    const Buffer result = twice.Execute({client.ToDevice(Vector({1, 2, 3}), first).value()}).value().front();
    EXPECT_EQ(result.ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
    return result;
  };
  const Buffer on_first = run(*one, {});
  EXPECT_EQ(gpu_of(on_first), 0);
  // The driver has that one GPU already, and gets more.
  const Buffer on_third = run(*four, {2}), on_fourth = run(*four, {3});
  EXPECT_EQ(gpu_of(on_third), 2);
  EXPECT_EQ(gpu_of(on_fourth), 3);
  EXPECT_EQ(gpu_of(run(*four, {0})), 0);
}

TEST(LibraryClients, DonatedBuffersOfGpusAreWrittenInPlace) {
  ClientOptions options;
  options.platform = "gpu-emu";
  const auto client = NewClient(options);
  const Executable twice =
      client
          ->Compile(
              XlaComputation::FromText("HloModule twice, input_output_alias={ {}: (0, {}, may-alias) }\n"
                                       "ENTRY e { x = f32[3] parameter(0)  ROOT s = f32[3] add(x, x) }")
                  .value())
          .value();
  const auto address_of = [](const Buffer& buffer) {
    const auto value = internal::BufferState::Get(buffer)->parts.front().Value();
    return static_cast<const hlo::gpu::GpuArray&>(*value->array()).address();
  };
  Buffer x = twice.Execute({client->ToDevice(Vector({1, 2, 3})).value()}).value().front();
  const auto at = address_of(x);
  for (int i = 0; i < 3; ++i) {
    const Execution run = twice.ExecuteAsync({x}, {.donated = {0}}).value();
    EXPECT_FALSE(x.Await().ok());
    x = run.result();
    EXPECT_TRUE(run.Await().ok());
    EXPECT_EQ(address_of(x), at);
  }
  EXPECT_EQ(x.ToLiteral()->ToString(), "f32[3] {16, 32, 48}");
  const Buffer next = twice.Execute({x}).value().front();  // not donated
  EXPECT_NE(address_of(next), at);
  EXPECT_EQ(x.ToLiteral()->ToString(), "f32[3] {16, 32, 48}");
}

TEST(LibraryClients, OptionsThatMeanNothingAreErrors) {
  const auto message = [](auto change) {
    ClientOptions options;
    change(options);
    return Message(Client::Create(options).status());
  };
  EXPECT_EQ(message([](auto& o) { o.platform = "tpu"; }),
            "there is no platform 'tpu'; there are interpreter, cpu, gpu, gpu-emu");
  EXPECT_EQ(message([](auto& o) { o.device_count = 0; }), "a client of 0 devices; 1 to 4096 are possible");
  EXPECT_EQ(message([](auto& o) { o.threads = -1; }), "a client of -1 threads");
  EXPECT_EQ(message([](auto& o) { o.memory_limit = -1; }), "a memory limit of -1 bytes");
  EXPECT_EQ(message([](auto& o) { o.time_limit = std::chrono::milliseconds(-1); }), "a time limit of -1 ms");
  EXPECT_NE(message([](auto& o) {
              o.platform = "gpu-emu";
              o.gpu_target = "abacus";
            }),
            "");
}

TEST(LibraryClients, HaveLimitsOfTheirOwn) {
  ClientOptions options;
  options.time_limit = std::chrono::milliseconds(50);
  options.memory_limit = 1000;
  const auto limited = NewClient(options);
  const Executable endless = limited->Compile(Endless()).ConsumeValueOrDie();
  EXPECT_EQ(endless.Run({LiteralUtil::CreateR0<int>(0)}).status().code(), StatusCode::kDeadlineExceeded);
  const Shape large = ShapeUtil::MakeShape(F32, {1000});
  const Executable twice = limited->Compile(Double(large)).ConsumeValueOrDie();
  EXPECT_EQ(twice.Run({Literal(large)}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(NewClient()->Compile(Double(large))->Run({Literal(large)}).ok());
}

TEST(LibraryClients, BuffersAndProgramsOutliveThem) {
  auto client = NewClient();
  const Executable twice = client->Compile(Double()).ConsumeValueOrDie();
  const Buffer x = client->ToDevice(Vector({1, 2, 3})).ConsumeValueOrDie();
  client.reset();
  EXPECT_EQ(twice.Execute({x})->front().ToLiteral()->ToString(), "f32[3] {2, 4, 6}");
}

TEST(LibraryClients, SixteenThreadsShareOne) {
  const auto client = NewClient();
  const Executable twice = client->Compile(Double()).ConsumeValueOrDie();
  const XlaComputation pair = SumAndProduct();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      const float mine = static_cast<float>(t);
      const Literal x = Vector({mine, mine, mine}), wanted = Vector({2 * mine, 2 * mine, 2 * mine});
      for (int i = 0; i < 200; ++i) {
        const Buffer buffer = client->ToDevice(x).ConsumeValueOrDie();
        if (!(*twice.Run({x}) == wanted)) ++wrong;
        if (!(*twice.Execute({buffer})->front().ToLiteral() == wanted)) ++wrong;
        if (i % 20 == 0 && !(*twice.ExecuteAsync({buffer})->result().ToLiteral() == wanted)) ++wrong;
        GlobalData first = buffer, second = buffer;
        if (i % 50 == 0 && !client->ExecuteAndTransfer(pair, {&first, &second}).ok()) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hlo_toolkit
