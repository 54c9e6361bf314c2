// Compiling and running computations.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/computation.h"
#include "hlo/dimension_numbers.h"
#include "hlo/executable.h"
#include "hlo/literal.h"

namespace hlo_toolkit {

/// What belongs to a client and not to the process.
struct ClientOptions {
  std::string platform = "cpu";  // cpu, interpreter, gpu (NVIDIA's) or gpu-emu (the same code, on the CPU)
  /// Devices, of all processes together, which have equally many each, in order; 0, but with launcher
  /// threads: one in each process. Simulated but on gpu, where they take the GPUs that there are in turn.
  int device_count = 1;
  /// Of compiling and running; 0: those of the process, with all who have none of their own.
  int threads = 0;
  bool cache = true;              // compiled programs are kept on disk and taken from there,
  std::string cache_folder = {};  // in this folder; empty: in that of the user
  /// Bytes that the runs at one time may take together: a run waits for others, and is an error if it takes
  /// more alone. 0: no limit but for each run the memory of the machine, where it uses that.
  int64_t memory_limit = 0;
  std::chrono::milliseconds time_limit{0};  // of each compilation and each run; 0: none
  uint64_t seed = 42;                       // of the operations that take random numbers from nowhere else
  std::string gpu_target = "h100";          // that code is made for: a100, h100, h200, b200, query or a file
  /// Which processes the devices are spread over. threads: all are in this one. mpi: those that mpirun or
  /// srun has started (hlo-mpi.so is beside the program or the library). auto: these, or those that come to a
  /// coordinator; this one alone, where there is neither.
  std::string launcher = "threads";
  /// HOST:PORT, where the first process listens and the others come to, without MPI.
  std::string coordinator = {};
  /// Which of how many this process is; what MPI or Slurm say may be left out.
  std::optional<int> process_index = {}, process_count = {};
};

/// What runs on which devices, and in which form values go in and out.
struct CompileOptions {
  int64_t replica_count = 1;
  int64_t partition_count = 1;
  /// The device of replica r and partition p is number r * partition_count + p of these. Empty: 0, 1, …, or,
  /// for a program of no more devices than a process has, the first ones of this process. Where they are
  /// given, device d of a client for gpu is GPU d; of one for gpu-emu it has an emulated GPU of its own.
  std::vector<int> device_assignment = {};
  /// Shapes with the layouts that arguments and the result have, in place of those of the computation. Empty:
  /// those.
  std::vector<Shape> argument_layouts = {};
  std::optional<Shape> result_layout = {};
  int optimization_level = 2;  // 0 to 3
};

/// Devices, and what runs on them. Threads may share it. Several may live side by side, with settings of
/// their own; buffers and executables keep what they need of their client, and may outlive it. The last of
/// them waits for the runs that are under way.
///
/// Where the devices are spread over processes, each of these has buffers and results of its own devices. All
/// of them compile and run the programs that have devices in several of them, the same in the same order;
/// what runs in one process alone each does when it likes. A process that fails, or is gone, makes the runs
/// of the others fail. The clients of a process all belong to the same processes, which come to an end
/// together: the end of a program waits for that of the others.
class Client {
 public:
  /// Errors: INVALID_ARGUMENT for options that mean nothing; UNAVAILABLE without MPI; ABORTED, if other
  /// processes do not come, or are gone.
  static StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  [[nodiscard]] const ClientOptions& options() const;
  [[nodiscard]] const std::string& platform() const { return options().platform; }
  [[nodiscard]] int device_count() const { return options().device_count; }
  /// This process, among how many that the devices are spread over.
  [[nodiscard]] int process_index() const;
  [[nodiscard]] int process_count() const;
  /// The devices of this process.
  [[nodiscard]] std::vector<int> addressable_devices() const;

  /// Errors: INVALID_ARGUMENT, UNIMPLEMENTED for what the platform cannot run, UNAVAILABLE without a GPU,
  /// DEADLINE_EXCEEDED, CANCELLED; ABORTED, if other processes cannot compile it or have another program.
  StatusOr<Executable> Compile(const XlaComputation& computation, const CompileOptions& options = {}) const;
  /// What Executable::Serialize() gave, by this version of the library. It is compiled again where its code
  /// is of no use: for another platform or processor. Runs code that is in the bytes: take them from whom you
  /// trust only.
  StatusOr<Executable> LoadSerialized(std::string_view bytes) const;

  // --- Values. A buffer is on one device, of this process ---
  /// Shares the literal's memory where the platform can.
  StatusOr<Buffer> ToDevice(const Literal& literal, int device = 0) const;
  StatusOr<std::unique_ptr<GlobalData>> TransferToServer(const Literal& literal, int device = 0) const;
  /// From memory that holds an array in the order of the shape's layout.
  StatusOr<std::unique_ptr<GlobalData>> TransferToServerInProcess(const Shape& shape, const void* data,
                                                                  int device = 0) const;
  /// Waits for the value; with the layout of a shape, if one is given.
  StatusOr<std::unique_ptr<Literal>> Transfer(const GlobalData& data,
                                              const Shape* shape_with_layout = nullptr) const;
  /// An array into memory, in the order of its shape's layout: elements as in a literal.
  Status TransferInProcess(const GlobalData& data, void* destination) const;
  /// Buffers of a tuple's elements; nothing is moved.
  StatusOr<std::vector<std::unique_ptr<GlobalData>>> DeconstructTuple(const GlobalData& data) const;

  // --- The documents' ways to run: compiled when first seen, for one device ---
  StatusOr<std::unique_ptr<GlobalData>> Execute(const XlaComputation& computation,
                                                Span<GlobalData* const> arguments) const;
  StatusOr<std::unique_ptr<Literal>> ExecuteAndTransfer(const XlaComputation& computation,
                                                        Span<GlobalData* const> arguments) const;
  /// Returns at once.
  StatusOr<Execution> ExecuteAsync(const XlaComputation& computation,
                                   Span<GlobalData* const> arguments) const;

  // --- What programs exchange with the host, and with each other ---
  /// For the infeeds of a device, in order; programs wait for it.
  Status TransferToInfeed(const Literal& literal, int device = 0) const;
  /// The next value that an outfeed of the device gave; waits for it. Errors: INVALID_ARGUMENT, if it is none
  /// of the shape, where one is given; the value stays then. DEADLINE_EXCEEDED, CANCELLED.
  StatusOr<Literal> TransferFromOutfeed(const Shape* shape = nullptr, int device = 0) const;
  /// A channel whose send and recv may be in two programs of this client, and in two processes: all of them
  /// make their clients, and ask for their channels, in the same order. A send does not wait; a recv waits
  /// for the next value, of the same source and target as its program counts devices. Its run is ABORTED
  /// where the value is of another shape, where a process has died, and where all other processes have ended
  /// without having sent one and this one has done nothing but wait for ten seconds.
  ChannelHandle CreateChannelHandle() const;

  /// Stops all that the client does: runs give CANCELLED.
  void Cancel() const;
  /// Forgets that.
  void ClearCancellation() const;

 private:
  friend class StopSource;
  explicit Client(std::shared_ptr<internal::ClientState> state);
  std::shared_ptr<internal::ClientState> state_;
};

/// The documents' way to a client: one for the process, for the cpu.
class ClientLibrary {
 public:
  static StatusOr<Client*> GetOrCreateClient();
  /// Ends the program if there is none.
  static Client* ClientLibraryOrDie();
  static Client* LocalClientOrDie() { return ClientLibraryOrDie(); }
};

}  // namespace hlo_toolkit
