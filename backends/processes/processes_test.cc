#include "backends/processes/processes.h"

#include <set>
#include <thread>

#include "backends/processes/tcp_transport.h"
#include "backends/run_devices.h"
#include "gtest/gtest.h"
#include "ir/eval/executor.h"
#include "ir/support/interrupt.h"
#include "parser/parser.h"

namespace hlo::processes {
namespace {

/// Counts what goes through it.
class Counting final : public Transport {
 public:
  explicit Counting(std::unique_ptr<Transport> of) : of_(std::move(of)) {}
  [[nodiscard]] int rank() const override { return of_->rank(); }
  [[nodiscard]] int size() const override { return of_->size(); }
  [[nodiscard]] int tags() const override { return of_->tags(); }
  void Post(int to, std::string text) override { of_->Post(to, std::move(text)); }
  std::optional<Message> Next() override { return of_->Next(); }
  Ticket Send(int to, int tag, const void* data, size_t bytes) override {
    sent += bytes, ++open;
    return of_->Send(to, tag, data, bytes);
  }
  Ticket Receive(int from, int tag, void* data, size_t bytes) override {
    ++open;
    return of_->Receive(from, tag, data, bytes);
  }
  bool Done(Ticket ticket) override {
    const bool done = of_->Done(ticket);
    open -= done ? 1 : 0;
    return done;
  }
  [[nodiscard]] const std::string& error() const override { return of_->error(); }
  [[nodiscard]] std::optional<int> lost() const override { return of_->lost(); }
  void Close() override { of_->Close(); }

  std::atomic<size_t> sent = 0;  // bytes of memory
  std::atomic<int> open = 0;     // what was begun and is not done

 private:
  std::unique_ptr<Transport> of_;
};

/// Processes that are threads of this one.
class Group {
 public:
  explicit Group(int size) : all_(static_cast<size_t>(size)), counts_(static_cast<size_t>(size)) {
    std::string coordinator;
    if (const auto free = Listen({"127.0.0.1", "0"})) coordinator = EndOf(*free, /*of_this=*/true).ToString();
    Each([&](size_t r) {
      auto transport = JoinTcp({static_cast<int>(r), size, coordinator});
      ASSERT_TRUE(transport) << transport.error().message;
      auto counting = std::make_unique<Counting>(std::move(*transport));
      counts_[r] = counting.get();
      auto joined = Processes::Join(std::move(counting));
      ASSERT_TRUE(joined) << joined.error().message;
      all_[r] = std::move(*joined);
    });
  }
  ~Group() {
    Each([&](size_t r) {
      if (all_[r]) all_[r]->Conclude(0, "", llvm::nulls());
    });
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  void Each(llvm::function_ref<void(size_t)> f) {
    std::vector<std::thread> threads;
    for (size_t r = 0; r < all_.size(); ++r) threads.emplace_back([&f, r] { f(r); });
    for (std::thread& thread : threads) thread.join();
  }
  Processes& operator[](size_t r) { return *all_[r]; }
  Counting& counts(size_t r) { return *counts_[r]; }
  /// It dies.
  void Drop(size_t r) { all_[r].reset(); }
  /// All have come to their ends.
  void Forget() { all_.clear(); }

 private:
  std::vector<std::unique_ptr<Processes>> all_;
  std::vector<Counting*> counts_;
};

std::unique_ptr<Module> Parsed(const std::string& text) {
  ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>("m.hlo", text));
  if (parsed.module == nullptr) ADD_FAILURE() << Render(parsed.diagnostics.front());
  return std::move(parsed.module);
}

/// A run on replicas; each has numbers of its own for arguments. One of them may fail at once.
Result<ExecutionResult> RunOn(const Module& module, int64_t replicas, Processes* processes,
                              int64_t failing = -1) {
  std::vector<std::vector<Literal>> arguments(static_cast<size_t>(replicas));
  for (size_t d = 0; d < arguments.size(); ++d)
    for (const Instruction* parameter : module.entry()->parameters()) {
      Literal& value = arguments[d].emplace_back(Literal::Make(parameter->shape()));
      for (auto& element : value.MutableSpan<float>())
        element = 0.1F * static_cast<float>(1 + d) +
                  static_cast<float>(&element - value.MutableSpan<float>().data());
    }
  ExecutionOptions options;
  options.replica_count = replicas;
  options.network = processes;
  ExecutionPlans plans;
  const auto run = [&] {
    return RunOnDevices(
        std::move(arguments), options, [&](Device& device, std::vector<Literal> mine) -> Result<Literal> {
          if (device.id() == failing) return Error("runtime-infeed", {}, "it fails");
          return Executor(plans, device, nullptr, nullptr).Call(*module.entry(), std::move(mine));
        });
  };
  if (processes == nullptr) return run();
  const uint64_t place = processes->NextPlace();
  processes->Enter(place, module);
  auto result = run();
  processes->Leave(place, result ? Status() : Status(Error(result.error())));
  return result;
}

std::string Bytes(const Literal& value) {
  if (!value.shape().IsTuple()) return {reinterpret_cast<const char*>(value.data()), value.byte_size()};
  std::string all;
  for (const Literal& part : value.elements()) all += Bytes(part);
  return all;
}

constexpr llvm::StringLiteral kAdd =
    "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n";
constexpr int64_t kCount = 1 << 12;  // elements of what devices bring
constexpr size_t kSize = kCount * sizeof(float);

/// A collective of four replicas, and how much the first of two processes sends for it.
struct Traffic {
  const char* name;
  const char* body;  // of `p`, f32[4096]
  size_t sent;
};

class CollectiveTraffic : public testing::TestWithParam<Traffic> {};

TEST_P(CollectiveTraffic, IsNoMoreThanWhatOthersNeed) {
  const auto module = Parsed("HloModule m\n" + kAdd.str() + "ENTRY e {\n  p = f32[4096] parameter(0)\n" +
                             GetParam().body + "\n}\n");
  ASSERT_NE(module, nullptr);
  const auto wanted = RunOn(*module, 4, nullptr);
  ASSERT_TRUE(wanted) << wanted.error().message;
  Group group(2);
  group.Each([&](size_t r) {
    const auto got = RunOn(*module, 4, &group[r]);
    ASSERT_TRUE(got) << got.error().message;
    for (size_t d = 2 * r; d < 2 * r + 2; ++d)
      EXPECT_EQ(Bytes(got->results[d]), Bytes(wanted->results[d])) << "device " << d;
  });
  EXPECT_EQ(group.counts(0).sent, GetParam().sent);
}

constexpr Traffic kTraffic[] = {
    {"permute_within_processes",
     "ROOT r = f32[4096] collective-permute(p), source_target_pairs={{0,1},{2,3}}", 0},
    {"permute_between_them",
     "ROOT r = f32[4096] collective-permute(p), source_target_pairs={{0,1},{1,2},{3,0}}", kSize},
    {"all_gather", "ROOT r = f32[16384] all-gather(p), dimensions={0}, replica_groups={{3,1,0,2}}",
     2 * kSize},
    {"broadcast_from_here", "ROOT r = f32[4096] collective-broadcast(p), replica_groups={{1,2,3}}", kSize},
    {"broadcast_from_there", "ROOT r = f32[4096] collective-broadcast(p), replica_groups={{3,0,1,2}}", 0},
    {"reduce_scatter",
     "ROOT r = f32[1024] reduce-scatter(p), dimensions={0}, to_apply=add, replica_groups={{2,0,1,3}}", kSize},
    {"reduce_scatter_of_columns",
     "q = f32[64,64] reshape(p)\n  ROOT r = f32[64,16] reduce-scatter(q), dimensions={1}, to_apply=add, "
     "replica_groups={{2,0,1,3}}",
     kSize},
    {"all_to_all", "ROOT r = f32[4096] all-to-all(p), dimensions={0}, replica_groups={{3,2,0,1}}", kSize},
    {"all_to_all_of_columns",
     "q = f32[32,128] reshape(p)\n  ROOT r = f32[32,128] all-to-all(q), dimensions={1}, "
     "replica_groups={{3,2,0,1}}",
     kSize},
    {"all_to_all_of_tuples",
     "q = f32[4096] negate(p)\n  ROOT r = (f32[4096], f32[4096]) all-to-all(p, q), "
     "replica_groups={{2,0},{1,3}}",
     2 * kSize},
    // A part of each value, and the results of a part.
    {"all_reduce_in_pieces",
     "q = f32[16384] concatenate(p, p, p, p), dimensions={0}\n  ROOT r = f32[16384] all-reduce(q), "
     "to_apply=add, "
     "replica_groups={{0,1,2,3}}",
     6 * kSize},
};

INSTANTIATE_TEST_SUITE_P(All, CollectiveTraffic, testing::ValuesIn(kTraffic),
                         [](const auto& info) { return info.param.name; });

std::unique_ptr<Module> AllReduce(int64_t size = 60000) {
  return Parsed(
      llvm::formatv("HloModule m\n{0}ENTRY e {{ p = f32[{1}] parameter(0)  ROOT r = f32[{1}] all-reduce(p), "
                    "replica_groups={{{{0,1}}, to_apply=add }",
                    kAdd, size)
          .str());
}

TEST(Processes, WhatOneCannotBeginFailsInAllAndTheNextRunGoesOn) {
  const auto module = AllReduce();
  for (const size_t victim : {size_t{0}, size_t{1}}) {
    Group group(2);
    std::string said[2];
    group.Each([&](size_t r) {
      StopToken stop(nullptr);
      const WorkScope scope({&stop, nullptr});
      if (r == victim) stop.Request(InterruptCause::Signal);
      const auto start = std::chrono::steady_clock::now();
      const auto got = RunOn(*module, 2, &group[r]);
      said[r] = got ? "ran" : got.error().id.str();
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    });
    EXPECT_EQ(said[0], "interrupted");
    EXPECT_EQ(said[1], "interrupted");
    // One that does not even come to its beginning.
    group.Each([&](size_t r) {
      if (r != victim) return (void)(said[r] = RunOn(*module, 2, &group[r]) ? "ran" : "failed");
      const uint64_t place = group[r].NextPlace();
      group[r].Enter(place, *module);
      group[r].Leave(place, Error("limit-memory", {}, "too much"));
    });
    EXPECT_EQ(said[1 - victim], "failed");
    group.Each([&](size_t r) { EXPECT_TRUE(RunOn(*module, 2, &group[r])); });
  }
}

TEST(Processes, WhatNobodyReceivesComesToAnEnd) {
  for (const int64_t size : {5000, 60000}) {  // whole and in pieces
    const auto module = AllReduce(size);
    Group group(2);
    group.Each([&](size_t r) {
      const auto got = RunOn(*module, 2, &group[r], /*failing=*/1);
      ASSERT_FALSE(got);
      EXPECT_EQ(got.error().message, "it fails");
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (group.counts(r).open != 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_EQ(group.counts(r).open, 0) << "of process " << r;
    });
    EXPECT_GT(group.counts(0).sent, 0U);
  }
}

TEST(Processes, OneThatDiesEndsTheOthersByName) {
  const auto module = AllReduce();
  Group group(2);
  group.Drop(1);
  const auto got = RunOn(*module, 2, &group[0]);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().id, DiagnosticId("runtime-collective-timeout"));
  EXPECT_TRUE(llvm::StringRef(got.error().message).starts_with("process 1 of 2 (host "))
      << got.error().message;
  EXPECT_TRUE(llvm::StringRef(got.error().message).contains("has died, or its connection has"))
      << got.error().message;
}

constexpr ChannelKey kChannel = {0, 7, 0, 0};
constexpr int64_t kSmall = 3, kLarge = 5000;  // elements: within messages, and not

/// So many numbers from `first` on.
Literal Numbers(float first, int64_t count) {
  Literal value = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::F32, Dims{count}));
  for (auto& element : value.MutableSpan<float>()) element = first++;
  return value;
}

/// The first of the numbers that come, or what is wrong.
std::string Received(
    Processes& process, const ChannelKey& key = kChannel,
    HostTransfers::Check check = [] { return Status(); }, bool may_send = false) {
  const auto got = process.ReceiveThrough(key, check, [&] { return may_send; });
  if (!got) return got.error().message;
  EXPECT_EQ(Bytes(*got), Bytes(Numbers(got->Data<float>()[0], got->shape().dim(0))));
  return std::to_string(static_cast<int>(got->Data<float>()[0]));
}

TEST(Channels, ValuesComeInTheOrderInWhichTheyWereSent) {
  constexpr int kValues = 20;
  Group group(3);
  // From each to each, the one that leads too, and to itself; whoever comes first.
  for (size_t from = 0; from < 3; ++from)
    for (size_t to = 0; to < 3; ++to)
      for (const bool late : {false, true}) {
        std::thread sender([&] {
          if (late) std::this_thread::sleep_for(std::chrono::milliseconds(15));
          for (int i = 0; i < kValues; ++i)
            group[from].SendThrough(kChannel, Numbers(static_cast<float>(i), i % 3 == 0 ? kLarge : kSmall));
        });
        if (!late) sender.join();
        for (int i = 0; i < kValues; ++i) EXPECT_EQ(Received(group[to]), std::to_string(i));
        if (late) sender.join();
      }
}

TEST(Channels, SendersAndReceiversOfOneMayBeMany) {
  constexpr int kValues = 30;
  Group group(3);
  std::mutex mutex;
  std::multiset<std::string> got;
  group.Each([&](size_t r) {
    for (int i = 0; i < kValues; ++i)
      group[r].SendThrough(kChannel, Numbers(static_cast<float>(i), i % 2 == 0 ? kSmall : kLarge));
    for (int i = 0; i < kValues; ++i) {
      const std::string one = Received(group[r]);
      const std::lock_guard lock(mutex);
      got.insert(one);
    }
  });
  for (int i = 0; i < kValues; ++i) EXPECT_EQ(got.count(std::to_string(i)), 3U) << i;
}

TEST(Channels, KeysAreApart) {
  Group group(2);
  const ChannelKey others[] = {{1, 7, 0, 0}, {0, 8, 0, 0}, {0, 7, 1, 0}, {0, 7, 0, 1}};
  for (const ChannelKey& key : others) group[0].SendThrough(key, Numbers(1, kSmall));
  group[0].SendThrough(kChannel, Numbers(2, kSmall));
  EXPECT_EQ(Received(group[1]), "2");
  for (const ChannelKey& key : others) EXPECT_EQ(Received(group[1], key), "1");
}

TEST(Channels, WhoWaitsNoMoreLeavesTheValueToOthers) {
  Group group(3);
  const auto until = [](std::chrono::nanoseconds time) {
    return [end = std::chrono::steady_clock::now() + time]() -> Status {
      return std::chrono::steady_clock::now() < end ? Status() : Error("interrupted", {}, "enough");
    };
  };
  for (const int64_t size : {kSmall, kLarge}) {
    EXPECT_EQ(Received(group[1], kChannel, until(std::chrono::milliseconds(30))), "enough");
    group[0].SendThrough(kChannel, Numbers(1, size));
    EXPECT_EQ(Received(group[2]), "1");
    // While values come: none is lost, and none comes twice.
    std::thread sender([&] {
      for (int i = 0; i < 200; ++i) group[0].SendThrough(kChannel, Numbers(1, size));
    });
    int received = 0;
    for (int i = 0; i < 50; ++i)
      received += Received(group[1], kChannel, until(std::chrono::microseconds(50 * i))) == "1" ? 1 : 0;
    sender.join();
    for (; received < 200; ++received) EXPECT_EQ(Received(group[2]), "1");
    EXPECT_EQ(Received(group[2], kChannel, until(std::chrono::milliseconds(50))), "enough");
  }
}

TEST(Channels, WhatNobodyIsLeftToSendIsNotWaitedFor) {
  for (const size_t last : {size_t{0}, size_t{1}}) {
    Group group(2);
    std::thread other([&] {
      group[1 - last].SendThrough(kChannel, Numbers(1, kLarge));
      group[1 - last].Conclude(3, "", llvm::nulls());
    });
    const std::string wanted = llvm::formatv(
                                   "process {0} of 2 has ended, with exit code 3, and nobody has "
                                   "sent what is waited for",
                                   1 - last)
                                   .str();
    EXPECT_EQ(Received(group[last]), "1");
    EXPECT_EQ(Received(group[last]), wanted);
    // It may do so itself.
    std::thread sender([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      group[last].SendThrough(kChannel, Numbers(5, kLarge));
    });
    const auto nothing = [] { return Status(); };
    EXPECT_EQ(Received(group[last], kChannel, nothing, /*may_send=*/true), "5");
    sender.join();
    group[last].Conclude(0, "", llvm::nulls());
    other.join();
    group.Forget();
  }
}

TEST(Channels, OneThatDiesEndsTheOthersByName) {
  Group group(2);
  group.Drop(1);
  const std::string said = Received(group[0]);
  EXPECT_TRUE(llvm::StringRef(said).starts_with("process 1 of 2 (host ")) << said;
  EXPECT_TRUE(llvm::StringRef(said).contains("has died, or its connection has")) << said;
}

}  // namespace
}  // namespace hlo::processes
