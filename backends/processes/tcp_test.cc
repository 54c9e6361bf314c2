#include <sys/socket.h>

#include <thread>

#include "backends/processes/launch.h"
#include "backends/processes/peers.h"
#include "backends/processes/tcp_transport.h"
#include "gtest/gtest.h"

namespace hlo::processes {
namespace {

using std::chrono::milliseconds;

/// An address at which nobody listens.
std::string FreeAddress() {
  const auto socket = Listen({"127.0.0.1", "0"});
  return socket ? EndOf(*socket, /*of_this=*/true).ToString() : "";
}

Result<std::unique_ptr<Transport>> Come(int rank, int size, const std::string& coordinator,
                                        milliseconds timeout = milliseconds(10000)) {
  return JoinTcp({rank, size, coordinator, timeout});
}

/// What each of several says that come at the same time.
std::vector<std::string> ComeTogether(const std::vector<std::pair<int, int>>& all, milliseconds timeout) {
  const std::string coordinator = FreeAddress();
  std::vector<std::string> said(all.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] {
      const auto come = Come(all[i].first, all[i].second, coordinator, timeout);
      said[i] = come ? "came" : come.error().message;
    });
  for (std::thread& thread : threads) thread.join();
  return said;
}

bool Contains(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }

TEST(Endpoint, IsHostAndPort) {
  const auto host = [](llvm::StringRef text) {
    const auto parsed = Endpoint::Parse(text);
    return parsed ? parsed->host + " " + parsed->port : parsed.error().message;
  };
  EXPECT_EQ(host("node1:7000"), "node1 7000");
  EXPECT_EQ(host("[::1]:65535"), "::1 65535");
  for (const char* wrong :
       {"", "node1", "node1:", ":7000", "::1:7000", "[::1:7000", "a:0", "a:65536", "a:-1", "a:7x"})
    EXPECT_TRUE(Contains(host(wrong), "expected HOST:PORT")) << wrong;
}

TEST(JoinTcp, NamesWhoHasNotCome) {
  EXPECT_TRUE(Contains(ComeTogether({{0, 4}, {2, 4}}, milliseconds(400))[0], "within 0.4 s: 1, 3"));
  EXPECT_TRUE(Contains(ComeTogether({{0, 4}, {2, 4}}, milliseconds(400))[1], "within 0.4 s: 1, 3"));
  EXPECT_TRUE(
      Contains(ComeTogether({{1, 2}}, milliseconds(200))[0], "process 0 of 2 has not come to 127.0.0.1:"));
}

TEST(JoinTcp, SaysWhatDisagrees) {
  const auto sizes = ComeTogether({{0, 2}, {1, 3}}, milliseconds(10000));
  EXPECT_EQ(sizes[0], "process 1 is to be one of 3 processes, process 0 one of 2");
  EXPECT_TRUE(Contains(sizes[1], sizes[0])) << sizes[1];
  const auto ranks = ComeTogether({{0, 3}, {1, 3}, {1, 3}}, milliseconds(10000));
  for (const std::string& said : ranks)
    EXPECT_TRUE(Contains(said, "there are two processes of number 1")) << said;
}

TEST(JoinTcp, AddressesThatCannotBe) {
  const auto taken = Listen({"127.0.0.1", "0"});
  ASSERT_TRUE(taken);
  const auto in_use = Come(0, 2, EndOf(*taken, /*of_this=*/true).ToString());
  ASSERT_FALSE(in_use);
  EXPECT_TRUE(Contains(in_use.error().message, "Address already in use")) << in_use.error().message;
  EXPECT_EQ(in_use.error().id, DiagnosticId("unavailable-processes"));
  const auto foreign = Come(0, 2, "192.0.2.1:7000");  // reserved for documents
  ASSERT_FALSE(foreign);
  EXPECT_TRUE(Contains(foreign.error().message, "cannot listen at 192.0.2.1:7000"));
  const auto unknown = Come(1, 2, "no-such-host.invalid:7000");
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(Contains(unknown.error().message, "host 'no-such-host.invalid'")) << unknown.error().message;
}

/// Connects and says something else than a process does.
void DisturbAt(const std::string& address, const std::string& bytes) {
  const auto endpoint = Endpoint::Parse(address);
  auto socket = Connect(*endpoint, std::chrono::steady_clock::now() + milliseconds(5000));
  if (socket && socket->valid()) (void)send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

TEST(JoinTcp, StrangersAreSentAway) {
  const std::string coordinator = FreeAddress();
  Result<std::unique_ptr<Transport>> first, second;
  std::thread waits([&] { first = Come(0, 2, coordinator); });
  const std::string mark = "hlo-tcp1";
  const std::string bytes[] = {"",
                               "GET / HTTP/1.1\r\n\r\n",
                               mark,
                               mark + std::string(4, '\xff'),
                               mark + std::string("\x08\0\0\0", 4) + "nonsense",
                               mark + std::string("\x01\0\0\0", 4) + std::string(9000, 'x'),
                               std::string(70000, '\0')};
  for (const std::string& text : bytes) DisturbAt(coordinator, text);
  std::thread comes([&] { second = Come(1, 2, coordinator); });
  waits.join();
  comes.join();
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
}

/// Two transports that reach each other.
std::vector<std::unique_ptr<Transport>> Some(int size) {
  const std::string coordinator = FreeAddress();
  std::vector<std::unique_ptr<Transport>> all(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r] {
      if (auto come = Come(r, size, coordinator)) all[static_cast<size_t>(r)] = std::move(*come);
    });
  for (std::thread& thread : threads) thread.join();
  return all;
}

/// Lets them go on until `done`.
bool Carry(llvm::ArrayRef<std::unique_ptr<Transport>> all, std::vector<std::string>& came,
           llvm::function_ref<bool()> done) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(10000);
  while (!done() && std::chrono::steady_clock::now() < end)
    for (const auto& transport : all)
      while (auto message = transport->Next())
        came.push_back(std::to_string(message->from) + ">" + std::to_string(transport->rank()) + " " +
                       std::move(message->text));
  return done();
}

TEST(TcpTransport, CarriesMessagesInOrderAndMemoryByTags) {
  const auto all = Some(3);
  for (const auto& transport : all) ASSERT_NE(transport, nullptr);
  all[2]->Post(0, "one");
  all[2]->Post(0, "");
  all[1]->Post(0, "two");
  std::vector<std::string> came;
  EXPECT_TRUE(Carry(all, came, [&] { return came.size() == 3; }));
  llvm::sort(came);
  EXPECT_EQ(came, (std::vector<std::string>{"1>0 two", "2>0 ", "2>0 one"}));
  // Larger than what connections hold; received before it is sent, and behind it, in two pieces of a tag.
  constexpr size_t kBytes = size_t{9} << 20;
  std::string a(kBytes, 'a'), b(kBytes, 'b'), c(100, 'c');
  std::string got_a(kBytes, '-'), got_b(kBytes, '-'), got_c(100, '-');
  std::vector<Transport::Ticket> tickets = {
      all[1]->Receive(0, 7, got_b.data(), kBytes), all[0]->Send(1, 5, a.data(), kBytes / 2),
      all[0]->Send(1, 5, a.data() + kBytes / 2, kBytes / 2), all[0]->Send(1, 7, b.data(), kBytes)};
  const auto done = [&](size_t from) { return all[from]->Done(tickets[from == 1 ? 0 : 3]); };
  all[0]->Post(1, "passes");
  came.clear();
  EXPECT_TRUE(Carry(all, came, [&] { return done(0) && done(1) && came.size() == 1; }));
  EXPECT_EQ(got_b, b);
  EXPECT_FALSE(all[0]->Done(tickets[1]));
  const auto first = all[1]->Receive(0, 5, got_a.data(), kBytes / 2);
  const auto second = all[1]->Receive(0, 5, got_a.data() + kBytes / 2, kBytes / 2);
  const auto back = all[1]->Send(0, 5, c.data(), c.size()),
             there = all[0]->Receive(1, 5, got_c.data(), c.size());
  EXPECT_TRUE(Carry(all, came, [&] {
    return all[1]->Done(first) && all[1]->Done(second) && all[1]->Done(back) && all[0]->Done(there) &&
           all[0]->Done(tickets[1]) && all[0]->Done(tickets[2]);
  }));
  EXPECT_EQ(got_a, a);
  EXPECT_EQ(got_c, c);
}

TEST(TcpTransport, WhoGoesWithoutAWordIsLost) {
  auto all = Some(2);
  ASSERT_NE(all[0], nullptr);
  all[1]->Post(0, "last words");
  all[1].reset();
  std::vector<std::string> came;
  EXPECT_TRUE(Carry(llvm::ArrayRef(all).take_front(), came, [&] { return all[0]->lost() == 1; }));
  EXPECT_EQ(came, std::vector<std::string>{"1>0 last words"});
  auto others = Some(2);
  std::thread ends([&] { others[1]->Close(); });
  others[0]->Close();
  ends.join();
  EXPECT_EQ(others[0]->lost(), std::nullopt);
}

TEST(Peers, BeatsGoToThoseWhoNeedThem) {
  Identity self = Identity::OfThisProcess(), foreign = self;
  foreign.domain = "elsewhere";
  Peers here(0, {self, foreign, self});
  EXPECT_EQ(here.Unwatched(), std::vector<int>{1});
  const auto later = Peers::Clock::now() + Peers::kBetweenBeats + milliseconds(1);
  EXPECT_TRUE(here.DueBeats(later).empty());
  // One that this process can watch cannot watch it.
  here.SetBeatsWantedBy({2});
  EXPECT_EQ(here.DueBeats(later + Peers::kBetweenBeats), std::vector<int>{2});
  EXPECT_EQ(here.FindGone(Peers::Clock::now(), /*at_once=*/true), std::nullopt);
  EXPECT_EQ(here.FindGone(later + Peers::kSilence, /*at_once=*/true), 1);
}

/// The environment of a launch, for a while.
class Variables {
 public:
  explicit Variables(std::vector<std::pair<const char*, const char*>> set) : set_(std::move(set)) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_STEP_ID"}) unsetenv(name);
    for (const auto& [name, value] : set_) setenv(name, value, 1);
  }
  ~Variables() {
    for (const auto& [name, value] : set_) unsetenv(name);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::vector<std::pair<const char*, const char*>> set_;
};

std::string Found(Launcher launcher, std::optional<int64_t> rank = {}, std::optional<int64_t> size = {},
                  const char* coordinator = "") {
  LaunchOptions options;
  options.launcher = launcher;
  options.rank = rank;
  options.world_size = size;
  options.coordinator = coordinator;
  const auto launch = FindLaunch(options);
  if (!launch) return launch.error().message;
  return *launch ? llvm::formatv("{0} of {1} by {2}", (*launch)->rank, (*launch)->size, (*launch)->by).str()
                 : "alone";
}

TEST(FindLaunch, TakesWhatTheUserSaysAndTheEnvironment) {
  const auto given = [] { return Found(Launcher::Auto, 1, 2, "h:7000"); };
  const auto address = [] { return Found(Launcher::Auto, {}, {}, "h:7000"); };
  {
    const Variables none({});
    EXPECT_EQ(Found(Launcher::Auto), "alone");
    EXPECT_EQ(given(), "1 of 2 by a coordinator");
    EXPECT_TRUE(Contains(address(), "of the rank and the world size one is missing"));
    EXPECT_TRUE(Contains(Found(Launcher::Auto, 0, 2), "2 processes have to find each other"));
    EXPECT_EQ(Found(Launcher::Auto, 0, 1), "0 of 1 by the user");
    EXPECT_TRUE(Contains(Found(Launcher::Auto, 2, 2, "h:7000"), "rank 2 of 2 processes"));
    EXPECT_TRUE(Contains(Found(Launcher::Threads, 0), "of several processes"));
    EXPECT_TRUE(Contains(Found(Launcher::Mpi, {}, {}, "h:7000"), "'mpi' has no coordinator"));
  }
  {
    const Variables mpi({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
    EXPECT_EQ(Found(Launcher::Auto), "1 of 2 by MPI");
    EXPECT_EQ(address(), "1 of 2 by a coordinator");
    EXPECT_EQ(Found(Launcher::Auto, 0), "rank 0 is asked for, OMPI_COMM_WORLD_RANK is '1'");
    EXPECT_EQ(Found(Launcher::Mpi, 1, 3), "world size 3 is asked for, OMPI_COMM_WORLD_SIZE is '2'");
  }
  const Variables step(
      {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "8"}});
  EXPECT_EQ(address(), "3 of 4 by a coordinator");
}

}  // namespace
}  // namespace hlo::processes
