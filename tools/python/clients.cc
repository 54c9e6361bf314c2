// Compiling and running.
#include <nanobind/stl/unique_ptr.h>
#include <pthread.h>

#include <atomic>
#include <csignal>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

/// While one is there, in Python's main thread, Ctrl-C stops a run, and then is Python's as ever.
class Interruptible {
 public:
  explicit Interruptible(hlo::StopSource& stop) : main_(pthread_equal(pthread_self(), main_thread) != 0) {
    if (!main_) return;
    target_ = &stop;
    struct sigaction mine{};
    mine.sa_handler = &Handle;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGINT, nullptr, &before_);
    // Who ignores it, or has it end the process, wants that.
    installed_ = (before_.sa_flags & SA_SIGINFO) == 0 && before_.sa_handler != SIG_IGN &&
                 before_.sa_handler != SIG_DFL;
    if (installed_) sigaction(SIGINT, &mine, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    if (installed_) sigaction(SIGINT, &before_, nullptr);
    if (main_) target_ = nullptr;
  }
  static inline pthread_t main_thread = pthread_self();  // that imports the module

 private:
  static void Handle(int signal) {
    if (hlo::StopSource* stop = target_.load()) stop->Request();
    before_.sa_handler(signal);  // Python's, which notes it
  }
  static inline std::atomic<hlo::StopSource*> target_{nullptr};
  static inline struct sigaction before_{};
  bool main_ = false, installed_ = false;
};

/// Python's handlers of signals run, and may raise.
void CheckSignals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// An executable with what it needs to be asked from Python.
struct Program {
  hlo::Executable executable;
  std::shared_ptr<hlo::Client> client;
};

hlo::ExecuteOptions OptionsOf(const std::vector<int64_t>& donated, std::optional<uint64_t> seed) {
  hlo::ExecuteOptions options;
  options.donated = donated;
  options.seed = seed;
  return options;
}

std::vector<hlo::Literal> LiteralsOf(const Program& program, nb::handle arguments) {
  const std::vector<hlo::Shape>& shapes = program.executable.program_shape().parameters;
  std::vector<hlo::Literal> made;
  made.reserve(shapes.size());
  for (const nb::handle argument : arguments) {
    const size_t i = made.size();
    static const std::string kOne = "the argument";
    const std::string what = i < shapes.size() ? "argument " + std::to_string(i) : kOne;
    made.push_back(ToLiteral(argument, i < shapes.size() ? &shapes[i] : nullptr, what, true));
  }
  return made;
}

/// Results share memory with arguments of the caller's, who may change it, where a program gives an argument
/// back.
hlo::Literal Detached(hlo::Literal result, const std::vector<hlo::Literal>& arguments) {
  if (result.shape().IsTuple()) {
    std::vector<hlo::Literal> elements;
    for (hlo::Literal& element : result.DecomposeTuple())
      elements.push_back(Detached(std::move(element), arguments));
    return hlo::Literal::Tuple(elements);
  }
  const auto* data = static_cast<const char*>(result.untyped_data());
  for (const hlo::Literal& argument : arguments) {
    const auto* begin = static_cast<const char*>(argument.untyped_data());
    if (data != nullptr && data >= begin && data < begin + argument.size_bytes()) {
      result.mutable_untyped_data();
      break;
    }
  }
  return result;
}

nb::object Call(const Program& program, const nb::args& arguments) {
  const std::vector<hlo::Literal> literals = LiteralsOf(program, arguments);
  hlo::StopSource stop(*program.client);
  hlo::StatusOr<hlo::Literal> result = Unlocked([&] {
    const Interruptible interruptible(stop);
    hlo::ExecuteOptions options;
    options.stop = &stop;
    return program.executable.Run(literals, options);
  });
  if (!result.ok()) CheckSignals();
  return ToPython(Detached(Take(std::move(result)), literals));
}

std::vector<nb::object> RunOnDevices(const Program& program, const nb::list& arguments,
                                     std::optional<uint64_t> seed) {
  std::vector<std::vector<hlo::Literal>> devices;
  std::vector<hlo::Literal> all;
  for (const nb::handle device : arguments) {
    devices.push_back(LiteralsOf(program, device));
    all.insert(all.end(), devices.back().begin(), devices.back().end());
  }
  hlo::StopSource stop(*program.client);
  auto results = Unlocked([&] {
    const Interruptible interruptible(stop);
    hlo::ExecuteOptions options = OptionsOf({}, seed);
    options.stop = &stop;
    return program.executable.RunOnDevices(devices, options);
  });
  if (!results.ok()) CheckSignals();
  std::vector<nb::object> made;
  for (hlo::Literal& result : Take(std::move(results)))
    made.push_back(result.valid() ? ToPython(Detached(std::move(result), all)) : nb::none());
  return made;
}

void AddBuffers(nb::module_& m) {
  nb::class_<hlo::Buffer>(m, "Buffer", "A value on a device of a client, there or still being made.")
      .def_prop_ro("hlo_shape", [](const hlo::Buffer& buffer) { return buffer.shape(); })
      .def_prop_ro("device", &hlo::Buffer::device)
      .def("is_ready", &hlo::Buffer::IsReady, "Waiting for it would cost no time.")
      .def(
          "wait", [](const hlo::Buffer& buffer) { Check(Unlocked([&] { return buffer.Await(); })); },
          "Waits until it is there. Raises what the run that makes it came to; FailedPrecondition, if it was "
          "donated.")
      .def(
          "to_host",
          [](const hlo::Buffer& buffer) {
            return ToPython(Take(Unlocked([&] { return buffer.ToLiteral(); })));
          },
          nb::sig("def to_host(self) -> Array | tuple"),
          "Waits, and gives an Array; of a tuple a tuple of such.")
      .def(
          "__array__",
          [](const hlo::Buffer& buffer, nb::handle dtype, nb::handle copy) {
            if (!buffer.shape().IsArray()) Wrong("a buffer of " + buffer.shape().ToString() + " is no array");
            return Helper("_numpy", "to_array")(ToPython(Take(Unlocked([&] { return buffer.ToLiteral(); }))),
                                                dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def("__repr__",
           [](const hlo::Buffer& buffer) {
             return "Buffer(" + buffer.shape().ToString() + ", device=" + std::to_string(buffer.device()) +
                    ")";
           })
      .def("delete", &hlo::Buffer::Delete, "Gives the memory back; nobody may use it any more.");
  nb::class_<hlo::Execution>(m, "Execution",
                             "A run that may still be under way. It goes on when this is dropped.")
      .def("results", &hlo::Execution::results, "device"_a = 0,
           "The buffers of a device; of a tuple its elements.")
      .def("is_ready", &hlo::Execution::IsReady)
      .def(
          "wait", [](const hlo::Execution& run) { Check(Unlocked([&] { return run.Await(); })); },
          "Waits for the end. Raises what went wrong.");
}

void AddReports(nb::module_& m) {
  nb::class_<hlo::MemoryReport>(m, "MemoryReport", "What a run takes of memory, in bytes, per device.")
      .def_ro("arguments", &hlo::MemoryReport::arguments)
      .def_ro("results", &hlo::MemoryReport::results)
      .def_ro("temporaries", &hlo::MemoryReport::temporaries)
      .def_ro("constants", &hlo::MemoryReport::constants)
      .def_ro("aliased", &hlo::MemoryReport::aliased, "Of results, in the memory of arguments.")
      .def_prop_ro("peak", &hlo::MemoryReport::peak)
      .def("__repr__", [](const hlo::MemoryReport& report) {
        return "MemoryReport(arguments=" + std::to_string(report.arguments) +
               ", results=" + std::to_string(report.results) +
               ", temporaries=" + std::to_string(report.temporaries) +
               ", constants=" + std::to_string(report.constants) + ", peak=" + std::to_string(report.peak()) +
               ")";
      });
  using Row = hlo::ProfileReport::Row;
  nb::class_<Row>(m, "ProfileRow", "Where time went: one instruction of what was compiled.")
      .def_ro("name", &Row::name)
      .def_ro("opcode", &Row::opcode)
      .def_ro("text", &Row::text, "The instruction as HLO.")
      .def_ro("library", &Row::library, "That did it; empty: none.")
      .def_ro("calls", &Row::calls)
      .def_prop_ro(
          "seconds", [](const Row& row) { return std::chrono::duration<double>(row.time).count(); },
          "Of all calls, without instructions that have rows of their own.");
  nb::class_<hlo::ProfileReport>(m, "Profile", "Where time went, by instruction, longest first.")
      .def_ro("rows", &hlo::ProfileReport::rows)
      .def_ro("runs", &hlo::ProfileReport::runs)
      .def_prop_ro(
          "seconds",
          [](const hlo::ProfileReport& report) {
            return std::chrono::duration<double>(report.total).count();
          },
          "Of all runs.")
      .def("_repr_html_", [](nb::handle self) { return Helper("_show", "profile_html")(self); })
      .def(
          "__str__", [](nb::handle self) { return nb::str(Helper("_show", "profile_text")(self)); },
          "A table: share, microseconds of all runs, calls, the library that did it, the instruction.");
}

void AddQueries(nb::class_<Program>& program) {
  program
      .def(
          "profile",
          [](const Program& program, const nb::args& arguments, int runs) {
            const std::vector<hlo::Literal> literals = LiteralsOf(program, arguments);
            return Take(Unlocked([&] { return program.executable.Profile(literals, runs); }));
          },
          "arguments"_a, "runs"_a = 1,
          nb::sig("def profile(self, *arguments: typing.Any, runs: int = 1) -> Profile"),
          "Runs some times and says where the time went.")
      .def_prop_ro("name", [](const Program& program) { return program.executable.name(); })
      .def_prop_ro("program_shape", [](const Program& program) { return program.executable.program_shape(); })
      .def_prop_ro("device_count", [](const Program& program) { return program.executable.device_count(); })
      .def_prop_ro(
          "memory", [](const Program& program) { return program.executable.memory(); },
          "Nothing where the platform does not plan it.")
      .def_prop_ro(
          "optimized_text", [](const Program& program) { return program.executable.OptimizedText(); },
          "The module that is run, as HLO text; large constants are left out.")
      .def(
          "serialize",
          [](const Program& program) {
            const std::string bytes = Take(Unlocked([&] { return program.executable.Serialize(); }));
            return nb::bytes(bytes.data(), bytes.size());
          },
          "For Client.load(): the module, how it is compiled, and its code.")
      .def("__repr__", [](const Program& program) {
        return "Executable('" + program.executable.name() + "', " +
               program.executable.program_shape().ToString() + ")";
      });
}

void AddPrograms(nb::module_& m) {
  nb::class_<Program> program(m, "Executable", "A program, ready to run; threads may share it.");
  program
      .def("__call__", &Call, nb::sig("def __call__(self, *arguments: typing.Any) -> Array | tuple"),
           "Runs on one device and waits. Arguments: anything that holds an array, without a copy where it "
           "lies row by\n"
           "row; numbers and nested lists, tuples for tuples. The result is an Array; of a tuple a tuple of "
           "such.\n\n"
           "Raises InvalidArgument for arguments that are not what parameters are, Aborted for what goes "
           "wrong on the\n"
           "way, ResourceExhausted, DeadlineExceeded, Cancelled.")
      .def("run_on_devices", &RunOnDevices, "arguments"_a, "seed"_a = nb::none(),
           "The same on all devices: a list of arguments for each, and a result for each. Those of other "
           "processes have none.")
      .def(
          "execute",
          [](const Program& program, const std::vector<hlo::Buffer>& arguments,
             const std::vector<int64_t>& donated, std::optional<uint64_t> seed) {
            hlo::ExecuteOptions options = OptionsOf(donated, seed);
            hlo::StopSource stop(*program.client);
            options.stop = &stop;
            auto made = Unlocked([&] {
              const Interruptible interruptible(stop);
              return program.executable.Execute(arguments, options);
            });
            if (!made.ok()) CheckSignals();
            return Take(std::move(made));
          },
          "arguments"_a, "donated"_a = std::vector<int64_t>(), "seed"_a = nb::none(),
          "Runs on buffers and waits; gives the buffers of the result, of a tuple its elements. Parameters "
          "in `donated`\n"
          "give their buffers away.")
      .def(
          "execute_async",
          [](const Program& program, const std::vector<hlo::Buffer>& arguments,
             const std::vector<int64_t>& donated, std::optional<uint64_t> seed) {
            return Take(Unlocked(
                [&] { return program.executable.ExecuteAsync(arguments, OptionsOf(donated, seed)); }));
          },
          "arguments"_a, "donated"_a = std::vector<int64_t>(), "seed"_a = nb::none(),
          "Returns at once. Many may be under way; they begin in the order in which they are asked for.")
      .def(
          "execute_async_on_devices",
          [](const Program& program, const std::vector<std::vector<hlo::Buffer>>& arguments,
             const std::vector<int64_t>& donated, std::optional<uint64_t> seed) {
            return Take(Unlocked([&] {
              return program.executable.ExecuteAsyncOnDevices(arguments, OptionsOf(donated, seed));
            }));
          },
          "arguments"_a, "donated"_a = std::vector<int64_t>(), "seed"_a = nb::none(),
          "The same: buffers by device.");
  AddQueries(program);
}

/// A client as Python holds it: programs keep it.
struct ClientHandle {
  std::shared_ptr<hlo::Client> client;
};

Program Compile(const ClientHandle& self, const hlo::XlaComputation& module, int optimization_level,
                int64_t replicas, int64_t partitions, const std::vector<int>& device_assignment) {
  hlo::CompileOptions options;
  options.optimization_level = optimization_level;
  options.replica_count = replicas;
  options.partition_count = partitions;
  options.device_assignment = device_assignment;
  auto made = Unlocked([&] { return self.client->Compile(module, options); });
  if (!made.ok()) CheckSignals();
  return {Take(std::move(made)), self.client};
}

void AddPreparation(nb::class_<ClientHandle>& client) {
  client
      .def("compile", &Compile, "module"_a, nb::kw_only(), "optimization_level"_a = 2, "replicas"_a = 1,
           "partitions"_a = 1, "device_assignment"_a = std::vector<int>(),
           "Replica r and partition p run on device number r * partitions + p of `device_assignment`; empty: "
           "0, 1, ….\n\n"
           "Raises InvalidArgument; Unimplemented for what the platform cannot run; Unavailable without a "
           "GPU;\n"
           "DeadlineExceeded; Cancelled.")
      .def(
          "load",
          [](const ClientHandle& self, const nb::bytes& bytes) {
            const std::string_view view(bytes.c_str(), bytes.size());
            return Program{Take(Unlocked([&] { return self.client->LoadSerialized(view); })), self.client};
          },
          "bytes"_a,
          "What Executable.serialize() gave. Runs code that is in the bytes: take them from whom you trust "
          "only.")
      .def(
          "cancel", [](const ClientHandle& self) { self.client->Cancel(); },
          "Stops all that the client does: runs raise Cancelled, until clear_cancellation().")
      .def("clear_cancellation", [](const ClientHandle& self) { self.client->ClearCancellation(); })
      .def("__repr__", [](const ClientHandle& self) {
        return "Client('" + self.client->platform() +
               "', devices=" + std::to_string(self.client->device_count()) + ")";
      });
}

void AddTransfers(nb::class_<ClientHandle>& client) {
  client
      .def(
          "to_device",
          [](const ClientHandle& self, nb::handle value, const std::optional<hlo::Shape>& shape, int device) {
            const hlo::Literal literal = ToLiteral(value, shape ? &*shape : nullptr, "the value", false);
            return Take(Unlocked([&] { return self.client->ToDevice(literal, device); }));
          },
          "value"_a, "shape"_a = nb::none(), "device"_a = 0,
          "A copy of an array on a device; numbers and lists where `shape` says what they are.")
      .def(
          "to_infeed",
          [](const ClientHandle& self, nb::handle value, const std::optional<hlo::Shape>& shape, int device) {
            const hlo::Literal literal = ToLiteral(value, shape ? &*shape : nullptr, "the value", false);
            Check(Unlocked([&] { return self.client->TransferToInfeed(literal, device); }));
          },
          "value"_a, "shape"_a = nb::none(), "device"_a = 0,
          "For the infeeds of a device, in order; programs wait for it.")
      .def(
          "from_outfeed",
          [](const ClientHandle& self, const std::optional<hlo::Shape>& shape, int device) {
            auto value =
                Unlocked([&] { return self.client->TransferFromOutfeed(shape ? &*shape : nullptr, device); });
            if (!value.ok()) CheckSignals();
            return ToPython(Take(std::move(value)));
          },
          "shape"_a = nb::none(), "device"_a = 0,
          nb::sig(
              "def from_outfeed(self, shape: Shape | str | None = None, device: int = 0) -> Array | tuple"),
          "The next value that an outfeed of the device gave; waits for it.")
      .def(
          "create_channel", [](const ClientHandle& self) { return self.client->CreateChannelHandle(); },
          "The number of a channel whose send and recv may be in two programs of this client, and in two\n"
          "processes: all of them ask for their channels in the same order.");
}

}  // namespace

void AddClients(nb::module_& m) {
  AddBuffers(m);
  AddReports(m);
  AddPrograms(m);
  nb::class_<ClientHandle> client(
      m, "Client", "Devices, and what runs on them; threads may share it. Settings are its own.");
  client
      .def(
          "__init__",
          [](ClientHandle* self, const std::string& platform, int devices, int threads, bool cache,
             const std::string& cache_folder, int64_t memory_limit, double time_limit, uint64_t seed,
             const std::string& gpu_target, const std::string& launcher, const std::string& coordinator,
             std::optional<int> process_index, std::optional<int> process_count) {
            hlo::ClientOptions options;
            options.platform = platform;
            options.device_count = devices;
            options.threads = threads;
            options.cache = cache;
            options.cache_folder = cache_folder;
            options.memory_limit = memory_limit;
            options.time_limit = std::chrono::milliseconds(static_cast<int64_t>(time_limit * 1000));
            options.seed = seed;
            options.gpu_target = gpu_target;
            options.launcher = launcher;
            options.coordinator = coordinator;
            options.process_index = process_index;
            options.process_count = process_count;
            std::shared_ptr<hlo::Client> made = Take(hlo::Client::Create(options));
            new (self) ClientHandle{std::move(made)};
          },
          "platform"_a = "cpu", nb::kw_only(), "devices"_a = 1, "threads"_a = 0, "cache"_a = true,
          "cache_folder"_a = "", "memory_limit"_a = 0, "time_limit"_a = 0.0, "seed"_a = 42,
          "gpu_target"_a = "h100", "launcher"_a = "threads", "coordinator"_a = "",
          "process_index"_a = nb::none(), "process_count"_a = nb::none(),
          "`platform`: cpu, interpreter, gpu (NVIDIA's) or gpu-emu (the same code, on the CPU). `devices`: "
          "simulated but\n"
          "on gpu. `threads`: 0 for those of the process. `memory_limit`: bytes of all runs together; "
          "`time_limit`:\n"
          "seconds of each compilation and each run; 0: none.\n\n"
          "`launcher`: threads, all devices are in this process; mpi, those that mpirun or srun has started "
          "share them; auto,\n"
          "these, or the `process_count` ones that come to one `coordinator`, HOST:PORT.\n\n"
          "Raises InvalidArgument; Unavailable without MPI; Aborted, if other processes do not come.")
      .def_prop_ro("platform", [](const ClientHandle& self) { return self.client->platform(); })
      .def_prop_ro("device_count", [](const ClientHandle& self) { return self.client->device_count(); })
      .def_prop_ro("process_index", [](const ClientHandle& self) { return self.client->process_index(); })
      .def_prop_ro("process_count", [](const ClientHandle& self) { return self.client->process_count(); })
      .def_prop_ro(
          "addressable_devices", [](const ClientHandle& self) { return self.client->addressable_devices(); },
          "The numbers of the devices of this process.");
  AddPreparation(client);
  AddTransfers(client);
}

}  // namespace hlo_python
