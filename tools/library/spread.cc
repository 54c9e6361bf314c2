#include "tools/library/spread.h"

namespace hlo_toolkit::internal {
namespace {

using hlo::processes::Launcher;
using hlo::processes::LaunchOptions;
using hlo::processes::Processes;

hlo::Result<LaunchOptions> LaunchOf(const ClientOptions& options) {
  static constexpr std::pair<llvm::StringLiteral, Launcher> kLaunchers[] = {
      {"threads", Launcher::Threads}, {"mpi", Launcher::Mpi}, {"auto", Launcher::Auto}};
  LaunchOptions launch;
  const auto* const found =
      llvm::find_if(kLaunchers, [&](const auto& row) { return row.first == options.launcher; });
  if (found == std::end(kLaunchers))
    return Wrong("there is no launcher '{0}'; there are threads, mpi and auto", options.launcher);
  launch.launcher = found->second;
  launch.rank = options.process_index;
  launch.world_size = options.process_count;
  launch.coordinator = options.coordinator;
  return launch;
}

/// What the first client has joined. It ends with the program: by then others may need this process no more.
struct Joined {
  std::mutex mutex;
  std::optional<ClientOptions> by;
  Processes* processes = nullptr;
};

Joined& TheJoined() {
  static auto* const joined = new Joined;
  return *joined;
}

}  // namespace

hlo::Result<Processes*> ProcessesFor(const ClientOptions& options) {
  HLO_TRY(const LaunchOptions launch, LaunchOf(options));
  if (launch.launcher == Launcher::Threads) {
    HLO_CHECK_OK(hlo::processes::FindLaunch(launch));
    return static_cast<Processes*>(nullptr);
  }
  Joined& joined = TheJoined();
  const std::lock_guard lock(joined.mutex);
  if (joined.by) {
    const auto what = [](const ClientOptions& o) {
      return std::tie(o.launcher, o.coordinator, o.process_index, o.process_count);
    };
    if (what(*joined.by) != what(options))
      return Wrong(
          "another client of this process belongs to other processes, or has come to them otherwise");
    return joined.processes;
  }
  HLO_TRY(std::unique_ptr<Processes> processes, Processes::Join(launch));
  joined.by = options;
  joined.processes = processes.release();
  if (joined.processes != nullptr)
    std::atexit([] { (void)TheJoined().processes->Conclude(0, "", llvm::nulls()); });
  return joined.processes;
}

uint64_t NextClientNumber() {
  static std::atomic<uint64_t> next = 0;
  return next++;
}

hlo::Result<std::vector<int>> DevicesFor(const ClientState& client, const CompileOptions& options) {
  const int64_t count = options.replica_count * options.partition_count;
  std::vector<int> devices = options.device_assignment;
  const int first = count <= client.per_process() ? client.process_index() * client.per_process() : 0;
  if (devices.empty())
    for (int d = 0; d < count; ++d) devices.push_back(first + d);
  if (static_cast<int64_t>(devices.size()) != count)
    return Wrong("{0} devices are assigned, the program has {1}", devices.size(), count);
  for (size_t d = 0; d < devices.size(); ++d) {
    HLO_CHECK_OK(client.CheckDevice(devices[d]));
    if (llvm::is_contained(llvm::ArrayRef(devices).take_front(d), devices[d]))
      return Wrong("device {0} is assigned twice", devices[d]);
  }
  const auto process = [&](int device) { return client.ProcessOf(device); };
  if (llvm::all_of(devices, [&](int d) { return process(d) == process(devices.front()); })) {
    HLO_CHECK_OK(client.CheckDeviceHere(devices.front()));
    return devices;
  }
  for (size_t d = 0; d < devices.size(); ++d)
    if (count % client.process_count() != 0 ||
        process(devices[d]) !=
            hlo::processes::OwnerOf(static_cast<int64_t>(d), count, client.process_count()))
      return Wrong(
          "a program with devices in several processes has equally many in each of the {0}, in their order",
          client.process_count());
  return devices;
}

hlo::Result<std::unique_ptr<hlo::ClientProgram>> CompileWith(const ClientState& client,
                                                             const hlo::Module& module,
                                                             const hlo::CompileOptions& options,
                                                             const hlo::ExecutionOptions& execution) {
  if (execution.network == nullptr) return client.client().Compile(module, options, execution);
  hlo::Status can;
  auto program = client.client().Compile(module, options, execution);
  if (!program) can = hlo::Error(program.error());
  client.client().Do([&] {
    can =
        client.processes()->AgreeToRun(std::move(can), program && *program ? &(*program)->module() : nullptr);
  });
  if (!can) return hlo::Error(std::move(can).error());
  return program;
}

}  // namespace hlo_toolkit::internal
