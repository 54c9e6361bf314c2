// Clients of several processes, which this program starts: itself, with a number for each.
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "hlo/xla.h"

namespace {

constexpr const char *kAddress = "HLO_TEST_COORDINATOR", *kRank = "HLO_TEST_RANK";

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A process of two, with two devices.
xla::ClientOptions Options() {
  xla::ClientOptions options;
  options.device_count = 4;
  options.launcher = "auto";
  options.coordinator = std::getenv(kAddress);
  options.process_index = std::atoi(std::getenv(kRank));
  options.process_count = 2;
  return options;
}

/// The sum over replicas.
xla::XlaComputation Sum() {
  xla::XlaBuilder builder("sum");
  CrossReplicaSum(Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {2}), "x"));
  return builder.Build().value();
}

xla::Literal Pair(float a, float b) { return xla::LiteralUtil::CreateR1<float>({a, b}); }

void CheckWrongUse(const xla::Client& client, const xla::Executable& sum) {
  const int other = client.process_index() == 0 ? 2 : 1;
  EXPECT_TRUE(Contains(client.ToDevice(Pair(1, 2), other).status().ToString(), "is in process"));
  EXPECT_TRUE(Contains(client.TransferToInfeed(Pair(1, 2), other).ToString(), "is in process"));
  EXPECT_TRUE(Contains(client.TransferFromOutfeed(nullptr, other).status().ToString(), "is in process"));
  EXPECT_EQ(client.ToDevice(Pair(1, 2), 4).status().code(), xla::StatusCode::kInvalidArgument);
  EXPECT_EQ(sum.RunOnDevices(std::vector<std::vector<xla::Literal>>(3)).status().code(),
            xla::StatusCode::kInvalidArgument);
  xla::CompileOptions how;
  how.device_assignment = {other};
  EXPECT_TRUE(Contains(client.Compile(Sum(), how).status().ToString(), "is in process"));
  how.replica_count = 4;
  how.device_assignment = {3, 2, 1, 0};
  EXPECT_TRUE(Contains(client.Compile(Sum(), how).status().ToString(),
                       "equally many in each of the 2, in their order"));
  how.device_assignment = {1, 3, 2};
  EXPECT_TRUE(
      Contains(client.Compile(Sum(), how).status().ToString(), "3 devices are assigned, the program has 4"));
  how.replica_count = 3;
  how.device_assignment = {};
  EXPECT_TRUE(Contains(client.Compile(Sum(), how).status().ToString(),
                       "equally many in each of the 2, in their order"));
  xla::ClientOptions options = Options();
  options.process_index = {};
  EXPECT_TRUE(Contains(xla::Client::Create(options).status().ToString(), "another client of this process"));
  options = Options();
  options.device_count = 3;
  EXPECT_TRUE(Contains(xla::Client::Create(options).status().ToString(),
                       "2 processes cannot share 3 devices evenly"));
}

TEST(SpreadClient, IsOneOfTwoProcesses) {
  if (std::getenv(kRank) == nullptr) GTEST_SKIP() << "is started by the other test";
  const auto created = xla::Client::Create(Options());
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  const auto& client = created.value();
  const int rank = std::atoi(std::getenv(kRank)), first = 2 * rank;
  EXPECT_EQ(client->process_index(), rank);
  EXPECT_EQ(client->process_count(), 2);
  EXPECT_EQ(client->addressable_devices(), (std::vector<int>{2 * rank, 2 * rank + 1}));
  xla::CompileOptions how;
  how.replica_count = 4;
  const xla::Executable sum = client->Compile(Sum(), how).value();
  // Literals: what is given for devices elsewhere is not looked at.
  std::vector<std::vector<xla::Literal>> arguments(4);
  for (size_t d = 0; d < 4; ++d) arguments[d] = {Pair(static_cast<float>(d), 1)};
  arguments[rank == 0 ? 3 : 0].clear();
  const auto results = sum.RunOnDevices(arguments).value();
  ASSERT_EQ(results.size(), 4U);
  for (int d = 0; d < 4; ++d)
    if (const xla::Literal& result = results[static_cast<size_t>(d)]; d / 2 == rank)
      EXPECT_EQ(result.ToString(), Pair(6, 4).ToString());
    else
      EXPECT_EQ(result.shape().ToString(), xla::Literal().shape().ToString());
  // Buffers; many runs are under way, and come in the same order in all processes.
  std::vector<std::vector<xla::Buffer>> buffers(4);
  for (const int d : client->addressable_devices())
    buffers[static_cast<size_t>(d)] = {client->ToDevice(Pair(1, static_cast<float>(d)), d).value()};
  std::vector<xla::Execution> runs;
  for (int i = 0; i < 5; ++i) {
    runs.push_back(sum.ExecuteAsyncOnDevices(buffers).value());
    for (const int d : client->addressable_devices())
      buffers[static_cast<size_t>(d)] = runs.back().results(d);
  }
  EXPECT_EQ(runs.back().results(first)[0].ToLiteral().value().ToString(), Pair(1024, 6 * 256).ToString());
  EXPECT_EQ(runs.back().results(rank == 0 ? 2 : 0)[0].ToLiteral().status().code(),
            xla::StatusCode::kFailedPrecondition);
  // What runs on devices of one process, that process runs when it likes.
  for (int i = 0; i < 1 + rank; ++i) {
    const xla::Executable alone = client->Compile(Sum()).value();
    EXPECT_EQ(alone.Run({Pair(2, 3)}).value().ToString(), Pair(2, 3).ToString());
    EXPECT_EQ(alone.Execute({client->ToDevice(Pair(2, 3), 2 * rank).value()}).value()[0].device(), 2 * rank);
  }
  CheckWrongUse(*client, sum);
  // Wrong in one process: the run fails in both, and the next one does not.
  if (rank == 1) arguments[2] = {xla::LiteralUtil::CreateR0<float>(1)};
  const auto failed = sum.RunOnDevices(arguments);
  EXPECT_FALSE(failed.ok());
  EXPECT_TRUE(Contains(failed.status().ToString(), "argument 0 is f32[]")) << failed.status().ToString();
  arguments[2] = {Pair(2, 1)};
  EXPECT_TRUE(sum.RunOnDevices(arguments).ok());
  // Other programs in other processes.
  how.optimization_level = 2 - 2 * rank;
  const auto other = client->Compile(Sum(), how);
  EXPECT_TRUE(other.ok() || Contains(other.status().ToString(), "has another program"))
      << other.status().ToString();
}

/// This program as one of several processes.
pid_t Start(const std::string& address, int rank) {
  std::string filter = "--gtest_filter=SpreadClient.IsOneOfTwoProcesses";
  std::vector<std::string> variables = {std::string(kAddress) + "=" + address,
                                        std::string(kRank) + "=" + std::to_string(rank)};
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  char program[] = "/proc/self/exe";
  char* arguments[] = {program, filter.data(), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, program, nullptr, nullptr, arguments, environment.data()), 0);
  return pid;
}

TEST(SpreadClient, RunsInTwoProcesses) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(socket);
  const std::string coordinator = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const pid_t pids[] = {Start(coordinator, 0), Start(coordinator, 1)};
  for (const pid_t pid : pids) {
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(SpreadClient, OptionsThatMeanNothing) {
  const auto said = [](const xla::ClientOptions& how) {
    return xla::Client::Create(how).status().ToString();
  };
  xla::ClientOptions options;
  options.launcher = "slurm";
  EXPECT_EQ(said(options), "INVALID_ARGUMENT: there is no launcher 'slurm'; there are threads, mpi and auto");
  options.launcher = "threads";
  options.process_index = 1;
  EXPECT_TRUE(Contains(said(options), "are of several processes"));
  options.launcher = "auto";
  options.process_count = 2;
  EXPECT_TRUE(Contains(said(options), "have to find each other"));
  options.coordinator = "nowhere";
  EXPECT_TRUE(Contains(said(options), "expected HOST:PORT"));
  options.launcher = "mpi";
  EXPECT_TRUE(Contains(said(options), "has no coordinator"));
  options = {};
  options.launcher = "auto";
  options.device_count = 0;
  EXPECT_EQ(xla::Client::Create(options).value()->device_count(), 1);
}

}  // namespace
