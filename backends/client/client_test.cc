#include "backends/client/client.h"

#include <thread>

#include "gtest/gtest.h"
#include "ir/support/parallel.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "parser/parser.h"

namespace hlo {
namespace {

std::unique_ptr<Module> Parsed(const std::string& text) {
  ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>("m.hlo", text));
  if (parsed.module == nullptr) ADD_FAILURE() << Render(parsed.diagnostics.front());
  return std::move(parsed.module);
}

constexpr llvm::StringLiteral kDouble = R"(HloModule m
ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] add(x, x) }
)";

Literal Vector(std::initializer_list<float> values) {
  Literal literal =
      Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::F32, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(literal.MutableData()));
  return literal;
}

/// For an h100, emulated with little memory; nothing is kept on disk.
CompileOptions TestOptions() {
  CompileOptions options;
  options.store.on_disk = false;
  auto target = gpu::FindTarget("h100");
  EXPECT_TRUE(target);
  options.gpu.target = *target;
  options.gpu.platform.emulation.device.memory = uint64_t{1} << 26;
  return options;
}

template <class T>
ClientOptions With(T ClientOptions::* member, T value) {
  ClientOptions options;
  options.*member = std::move(value);
  return options;
}

class EveryPlatform : public testing::TestWithParam<Platform> {};

TEST_P(EveryPlatform, CompilesAndRuns) {
  const auto module = Parsed(kDouble.str());
  const Client client(GetParam());
  EXPECT_EQ(client.platform(), GetParam());
  EXPECT_EQ(client.platform_name(), Info(GetParam()).name);
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program) << Render(program.error());
  const auto result = (*program)->Run({{Vector({1, 2, 3, 4})}}, {});
  ASSERT_TRUE(result) << Render(result.error());
  EXPECT_TRUE(result->results.front() == Vector({2, 4, 6, 8}));
}

TEST_P(EveryPlatform, RefusesWhatNothingRuns) {
  const auto module = Parsed(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] custom-call(x), custom_call_target="nobody_knows" }
)");
  const Client client(GetParam());
  for (const SupportCheck check : {SupportCheck::BeforePasses, SupportCheck::AfterPasses}) {
    CompileOptions options = TestOptions();
    options.support = check;
    const auto program = client.Compile(*module, options);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().id.str(), "unsupported-custom-call");
  }
  ExecutionOptions execution;
  execution.missing_custom_calls["nobody_knows"] = "identity";
  EXPECT_TRUE(client.Compile(*module, TestOptions(), execution));
}

INSTANTIATE_TEST_SUITE_P(Client, EveryPlatform,
                         testing::Values(Platform::Interpreter, Platform::Cpu, Platform::GpuEmu),
                         [](const auto& info) {
                           std::string name = Info(info.param).name.str();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Platforms, StandInTheOrderOfTheirNumbers) {
  for (const PlatformInfo& info : Platforms()) EXPECT_EQ(&Info(info.platform), &info) << info.name.str();
}

/// Never ends by itself.
constexpr llvm::StringLiteral kEndless = R"(HloModule m
body { s = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(s, one) }
cond { s = s32[] parameter(0)  zero = s32[] constant(0)  ROOT r = pred[] compare(s, s), direction=EQ }
ENTRY e { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=cond, body=body }
)";

std::vector<std::vector<Literal>> Zero() {
  return {{Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::S32, {}))}};
}

class Clients : public testing::TestWithParam<Platform> {
 protected:
  static std::unique_ptr<ClientProgram> Compiled(const Client& client, const Module& module) {
    auto program = client.Compile(module, TestOptions());
    EXPECT_TRUE(program) << Render(program.error());
    return program ? std::move(*program) : nullptr;
  }
};

TEST_P(Clients, AreStoppedAlone) {
  const auto endless = Parsed(kEndless.str());
  const auto twice = Parsed(kDouble.str());
  const Client one(GetParam());
  const Client other(GetParam());
  const auto loop = Compiled(one, *endless);
  const auto program = Compiled(other, *twice);
  Result<ExecutionResult> stopped = Decline({}, "");
  std::thread runs([&] { stopped = loop->Run(Zero(), {}); });
  const auto result = program->Run({{Vector({1, 2, 3, 4})}}, {});
  EXPECT_TRUE(result);
  one.stop().Request(InterruptCause::Signal);
  runs.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().id.str(), "interrupted");
  EXPECT_FALSE(one.Run(*twice, {{Vector({1, 2, 3, 4})}}));
  EXPECT_TRUE(program->Run({{Vector({1, 2, 3, 4})}}, {}));
  one.stop().Clear();
  EXPECT_TRUE(one.Run(*twice, {{Vector({1, 2, 3, 4})}}));
}

TEST_P(Clients, StopOneRunOfTwo) {
  const auto endless = Parsed(kEndless.str());
  const Client client(GetParam());
  const auto loop = Compiled(client, *endless);
  StopToken tokens[] = {StopToken(&client.stop()), StopToken(&client.stop())};
  std::atomic<int> ended = 0;
  std::vector<std::thread> runs;
  for (StopToken& token : tokens)
    runs.emplace_back([&] {
      ExecutionOptions execution;
      execution.stop = &token;
      const auto result = loop->Run(Zero(), execution);
      EXPECT_FALSE(result);
      EXPECT_TRUE(token.requested());
      ++ended;
    });
  tokens[0].Request(InterruptCause::Signal);
  runs[0].join();
  EXPECT_EQ(ended, 1);
  tokens[1].Request(InterruptCause::Signal);
  runs[1].join();
}

TEST_P(Clients, HaveTimeLimitsOfTheirOwn) {
  const auto endless = Parsed(kEndless.str());
  const Client hasty(GetParam(), With(&ClientOptions::time_limit, std::chrono::milliseconds(30)));
  const auto loop = Compiled(hasty, *endless);
  for (int i = 0; i < 2; ++i) {
    const auto result = loop->Run(Zero(), {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().id.str(), "limit-timeout");
  }
}

TEST_P(Clients, BelongToTheWorkTheyAreMadeIn) {
  const auto endless = Parsed(kEndless.str());
  StopToken above;
  const StopScope scope(above);
  const Client client(GetParam());
  above.Request(InterruptCause::Timeout);
  const auto result = client.Run(*endless, Zero());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().id.str(), "limit-timeout");
}

INSTANTIATE_TEST_SUITE_P(Client, Clients, testing::Values(Platform::Interpreter, Platform::Cpu),
                         [](const auto& info) { return Info(info.param).name.str(); });

TEST(Client, HasSeedsOfItsOwn) {
  const auto module = Parsed(R"(HloModule m
ENTRY e { a = f32[] constant(0)  b = f32[] constant(1)  ROOT r = f32[64] rng(a, b), distribution=rng_uniform }
)");
  const auto drawn = [&](uint64_t seed) {
    const Client client(Platform::Cpu, With(&ClientOptions::seed, seed));
    auto result = client.Run(*module, {{}}, client.NewExecution());
    EXPECT_TRUE(result) << Render(result.error());
    return result ? std::move(result->results.front()) : Literal();
  };
  EXPECT_TRUE(drawn(1) == drawn(1));
  EXPECT_FALSE(drawn(1) == drawn(2));
}

TEST(Client, HasAMemoryLimitOfItsOwn) {
  const auto module = Parsed(R"(HloModule m
ENTRY e { x = f32[4096] parameter(0)  ROOT r = f32[4096] negate(x) }
)");
  const Client small(Platform::Cpu, With(&ClientOptions::memory_limit, int64_t{20'000}));
  const Client large(Platform::Cpu, With(&ClientOptions::memory_limit, int64_t{40'000}));
  const std::vector<std::vector<Literal>> arguments = {
      {Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {4096}))}};
  const auto refused = small.Run(*module, arguments);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id.str(), "limit-memory");
  EXPECT_EQ(refused.error().message, "the program would take 32.0 KiB, the limit is 19.5 KiB");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(large.Run(*module, arguments));
}

TEST(Client, HasThreadsOfItsOwn) {
  const auto module = Parsed(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[1048576] iota(), iota_dimension=0
  t = f32[1048576] tanh(x)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(t, z), dimensions={0}, to_apply=add
}
)");
  std::vector<Literal> sums;
  for (const int threads : {1, 2, 5}) {
    const Client client(Platform::Cpu, With(&ClientOptions::threads, threads));
    int seen = 0;
    ExecutionOptions execution;
    execution.on_instruction = [&](const Instruction&) { seen = ThreadCount(); };
    auto result = client.Run(*module, {{}}, execution);
    ASSERT_TRUE(result) << Render(result.error());
    EXPECT_EQ(seen, threads);
    sums.push_back(std::move(result->results.front()));
  }
  // Threads make no difference to values.
  EXPECT_TRUE(sums[0] == sums[1] && sums[1] == sums[2]);
  EXPECT_EQ(ThreadCount(), AvailableThreads());
}

TEST(Client, HasACacheOfItsOwn) {
  const auto module = Parsed(kDouble.str());
  llvm::SmallString<64> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("client", folder));
  const auto files = [&] {
    int count = 0;
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
      count += llvm::sys::fs::is_regular_file(at->path()) ? 1 : 0;
    return count;
  };
  ClientOptions options;
  options.cache_folder = folder.str().str();
  const Client some(Platform::Cpu, options);
  options.cache = false;
  const Client none(Platform::Cpu, options);
  EXPECT_TRUE(none.Compile(*module));
  EXPECT_EQ(files(), 0);
  for (int i = 0; i < 2; ++i) {
    const auto result = some.Run(*module, {{Vector({1, 2, 3, 4})}});
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->results.front() == Vector({2, 4, 6, 8}));
  }
  EXPECT_EQ(files(), 1);
  [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder);
}

TEST(Client, RunsOneProgramInManyThreads) {
  const auto module = Parsed(kDouble.str());
  const Client client(Platform::Cpu, With(&ClientOptions::threads, 2));
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      const auto x = static_cast<float>(t);
      for (int i = 0; i < 50; ++i) {
        const auto result = (*program)->Run({{Vector({x, 1, 2, 3})}}, {});
        ASSERT_TRUE(result);
        EXPECT_TRUE(result->results.front() == Vector({2 * x, 2, 4, 6}));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

/// x + y and x * y.
constexpr llvm::StringLiteral kSumAndProduct = R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = f32[4] add(x, y)
  p = f32[4] multiply(x, y)
  ROOT r = (f32[4], f32[4]) tuple(s, p)
}
)";

TEST_P(EveryPlatform, KeepsBuffersBetweenRuns) {
  const auto module = Parsed(kSumAndProduct.str());
  const Client client(GetParam());
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program) << Render(program.error());
  const DeviceBuffer one = Client::Transfer(Vector({1, 1, 1, 1}));
  DeviceBuffer sum = one;
  DeviceBuffer product = Client::Transfer(Vector({1, 2, 3, 4}));
  // Each run takes what the run before makes; nobody waits in between.
  constexpr int kRuns = 10;
  std::vector<Execution> runs;
  for (int i = 0; i < kRuns; ++i) {
    auto run = (*program)->Begin({{{sum}, {one}}}, {});
    ASSERT_TRUE(run) << Render(run.error());
    ASSERT_EQ(run->results.size(), 1U);
    ASSERT_EQ(run->results[0].size(), 2U);
    sum = run->results[0][0];
    product = run->results[0][1];
    runs.push_back(std::move(*run));
  }
  const auto last = sum.ToHost();
  ASSERT_TRUE(last) << Render(last.error());
  EXPECT_TRUE(*last == Vector({11, 11, 11, 11}));
  EXPECT_TRUE(*product.ToHost() == Vector({10, 10, 10, 10}));
  EXPECT_TRUE(*one.ToHost() == Vector({1, 1, 1, 1}));
  for (const Execution& run : runs) EXPECT_TRUE(run.Wait());
  EXPECT_TRUE(sum.IsReady());
}

TEST(Buffers, AreOfTheShapeOfTheParameter) {
  const auto module = Parsed(kSumAndProduct.str());
  const Client client(Platform::Cpu);
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program);
  const DeviceBuffer four = Client::Transfer(Vector({1, 2, 3, 4}));
  const DeviceBuffer two = Client::Transfer(Vector({1, 2}));
  for (auto arguments : {std::vector<std::vector<BufferArgument>>{{{four}, {two}}}, {{{four}}}, {}}) {
    const auto run = (*program)->Begin(std::move(arguments), {});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().id.str(), "input-shape");
  }
}

TEST(Buffers, ThatWereDonatedCannotBeUsed) {
  const auto module = Parsed(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[4096] parameter(0)  ROOT r = f32[4096] add(x, x) }
)");
  const Client client(Platform::Cpu);
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program);
  Literal ones = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::F32, {4096}));
  std::fill_n(reinterpret_cast<float*>(ones.MutableData()), 4096, 1.0F);
  const uint8_t* const memory = ones.data();
  const DeviceBuffer given = Client::Transfer(std::move(ones));
  const auto kept = (*program)->Begin({{{given}}}, {});
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->Wait());
  const auto first = kept->results[0][0].ToHost();
  EXPECT_NE(first->data(), memory);  // it was not donated
  const auto run = (*program)->Begin({{{given, /*donate=*/true}}}, {});
  ASSERT_TRUE(run);
  EXPECT_FALSE(given.IsReady());
  const auto again = (*program)->Begin({{{given}}}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().id.str(), "runtime-buffer");
  const auto result = run->results[0][0].ToHost();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->data(), memory);  // written where the argument was
  EXPECT_TRUE(*result == *first);
}

/// Of four threads that want the same two buffers, in either order, one gets both: `take` says what came of
/// it.
template <class Take>
void ExpectOneOfMany(const Take& take) {
  const Shape shape = Shape::ArrayWithDefaultLayout(ElementType::F32, {4});
  for (int round = 0; round < 50; ++round) {
    const DeviceBuffer x = Client::Transfer(Literal::Zeros(shape)),
                       y = Client::Transfer(Literal::Zeros(shape));
    std::atomic<int> done = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const auto taken = t % 2 == 0 ? take(x, y) : take(y, x);
        ++(taken ? done : refused);
        if (!taken) EXPECT_EQ(taken.error().id.str(), "runtime-buffer");
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, 1);
    EXPECT_EQ(refused, 3);
  }
}

TEST(Buffers, AreGivenToOneOfManyThreads) {
  const auto module = Parsed(R"(HloModule m
ENTRY e { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT r = f32[4] add(x, y) }
)");
  const Client client(Platform::Cpu);
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program);
  ExpectOneOfMany([&](const DeviceBuffer& a, const DeviceBuffer& b) {
    return (*program)->Execute({{{a, /*donate=*/true}, {b, /*donate=*/true}}}, {});
  });
  ExpectOneOfMany([](const DeviceBuffer& a, const DeviceBuffer& b) {
    const DeviceBuffer elements[] = {a, b, a};
    return DeviceBuffer::OfElements(elements, /*donate=*/true);
  });
}

TEST(Buffers, GoFromStepToStepInPlace) {
  const auto module = Parsed(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[65536] parameter(0)  ROOT r = f32[65536] add(x, x) }
)");
  const Client client(Platform::Cpu);
  auto program = client.Compile(*module);
  ASSERT_TRUE(program);
  for (const bool waits : {true, false}) {
    Literal zeros = Literal::Zeros(module->entry()->root()->shape());
    const uint8_t* const memory = zeros.data();
    DeviceBuffer state = Client::Transfer(std::move(zeros));
    for (int step = 0; step < 10; ++step) {
      auto run = (*program)->Begin({{{state, /*donate=*/true}}}, client.NewExecution());
      ASSERT_TRUE(run) << Render(run.error());
      state = run->results[0][0];
      if (waits) ASSERT_TRUE(run->Wait());
    }
    const auto last = state.ToHost();
    ASSERT_TRUE(last) << Render(last.error());
    EXPECT_EQ(last->data(), memory) << waits;
  }
}

TEST(Client, LetsRunsWaitForMemory) {
  const auto module = Parsed(R"(HloModule m
ENTRY e { x = f32[4096] parameter(0)  ROOT r = f32[4096] negate(x) }
)");
  const Client client(Platform::Cpu, With(&ClientOptions::memory_limit, int64_t{40'000}));
  auto program = client.Compile(*module);
  ASSERT_TRUE(program);
  const DeviceBuffer x = Client::Transfer(Literal::Zeros(module->entry()->root()->shape()));
  std::vector<Execution> runs;
  for (int i = 0; i < 40; ++i) {
    auto run = (*program)->Begin({{{x}}}, client.NewExecution());
    ASSERT_TRUE(run) << Render(run.error());
    runs.push_back(std::move(*run));
  }
  for (const Execution& run : runs) {
    const Status done = run.Wait();
    EXPECT_TRUE(done) << Render(done.error());
  }
}

TEST(Buffers, HaveTheErrorsOfTheRunsThatMakeThem) {
  const auto endless = Parsed(kEndless.str());
  const Client client(Platform::Cpu);
  const auto loop = client.Compile(*endless, TestOptions());
  ASSERT_TRUE(loop);
  StopToken stop(&client.stop());
  ExecutionOptions execution;
  execution.stop = &stop;
  const auto first = (*loop)->Begin({{{Client::Transfer(std::move(Zero().front().front()))}}}, execution);
  ASSERT_TRUE(first);
  const auto second = (*loop)->Begin({{{first->results[0][0]}}}, {});
  ASSERT_TRUE(second);
  EXPECT_FALSE(first->results[0][0].IsReady());
  stop.Request(InterruptCause::Signal);
  const Status status = second->Wait();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().id.str(), "interrupted");
  EXPECT_FALSE(first->Wait());
}

TEST(Client, HasManyRunsUnderWay) {
  const auto module = Parsed(kSumAndProduct.str());
  const Client client(Platform::Cpu, With(&ClientOptions::threads, 2));
  const auto program = client.Compile(*module, TestOptions());
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      const auto x = static_cast<float>(t);
      const DeviceBuffer mine = Client::Transfer(Vector({x, x, x, x}));
      std::vector<Execution> runs;
      for (int i = 0; i < 20; ++i) {
        auto run = (*program)->Begin({{{mine}, {mine}}}, {});
        ASSERT_TRUE(run);
        runs.push_back(std::move(*run));
      }
      for (const Execution& run : runs)
        EXPECT_TRUE(*run.results[0][1].ToHost() == Vector({x * x, x * x, x * x, x * x}));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Client, MayEndBeforeItsPrograms) {
  const auto module = Parsed(kDouble.str());
  std::unique_ptr<ClientProgram> program;
  {
    const Client client(Platform::Cpu, With(&ClientOptions::threads, 2));
    auto compiled = client.Compile(*module, TestOptions());
    ASSERT_TRUE(compiled);
    program = std::move(*compiled);
  }
  EXPECT_TRUE(program->Run({{Vector({1, 2, 3, 4})}}, {}));
}

}  // namespace
}  // namespace hlo
