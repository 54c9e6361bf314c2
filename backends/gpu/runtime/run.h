// What runs of a program on one GPU have: code, constants, memory that is kept.
#pragma once
#include <mutex>
#include <vector>

#include "backends/executable.h"
#include "backends/gpu/runtime/device_array.h"
#include "backends/gpu/runtime/graphs.h"
#include "backends/gpu/runtime/program.h"

namespace hlo::gpu {

/// A program on a GPU: its modules are loaded and its constants are there. Several threads may run it.
class LoadedProgram {
 public:
  /// Errors: those of Gpu and of PlanLibraries(), which tells `report`.
  static Result<std::unique_ptr<LoadedProgram>> Load(
      const Program& program, GpuPtr gpu, const LibraryOptions& libraries = {LibraryOptions::Use::Off},
      llvm::function_ref<void(Diagnostic)> report = [](const Diagnostic&) {});
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  struct Observers {
    const Executor::Observer* observer = nullptr;
    InstructionListener* listener = nullptr;
    std::function<void(int64_t)> took = nullptr;  // is told what a step took by the GPU's clock, in ns
    std::function<void(llvm::StringRef)> done_by = nullptr;  // is told of the library that does a step
    bool wait_each = false;
    GraphUse graphs = GraphUse::Off;
  };
  /// One run on one simulated device. Errors: those of Gpu and of steps.
  Result<Literal> Run(hlo::Device& device, std::vector<DeviceValue> arguments, const Observers& observers);
  /// The same; arrays whose sizes are known stay on the GPU. Of a tuple its elements.
  Result<std::vector<DeviceValue>> RunThere(hlo::Device& device, std::vector<DeviceValue> arguments,
                                            const Observers& observers);
  /// What a run takes by the GPU's clock, without what is copied from and to the host: the median of some.
  /// As Run() does it: on the streams of the program, or by `graphs`. Errors: those of Gpu and of steps.
  Result<double> Nanoseconds(hlo::Device& device, std::vector<Literal> arguments,
                             GraphUse graphs = GraphUse::Off);
  /// Whether another run on the same memory does the same: the GPU does all of it, and nothing that the
  /// program writes over among its arguments decides how often something is done.
  [[nodiscard]] bool MayBeRepeated() const;
  [[nodiscard]] Gpu& gpu() const { return *gpu_; }

 private:
  /// Memory and a stream, of one run at a time and kept for the next.
  struct Place {
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Event> events;  // of the plan of streams
    std::vector<DeviceMemoryBlock> blocks;
    std::vector<CuDevicePtr> bases;               // by buffer
    std::vector<CuDevicePtr> own;                 // the same, where nothing is lent
    std::vector<std::shared_ptr<GpuArray>> lent;  // by buffer: arrays that this run may write over
    std::vector<CuDevicePtr> workspaces;          // by stream
    int64_t device = 0;                           // that ran last
    std::vector<Literal> arguments;  // by buffer: what is still there of those of the last run, …
    std::vector<std::weak_ptr<const DeviceArray>> arrays;  // … and of those that were on the GPU
    std::unique_ptr<StepGraphs> graphs;
    bool has_run = false;
  };
  using PlacePtr = std::unique_ptr<Place>;

  LoadedProgram(const Program& program, GpuPtr gpu)
      : program_(program), gpu_(std::move(gpu)), memory_(std::make_shared<ArrayMemory>(gpu_)) {}
  Status LoadModules();
  Status LoadConstants();
  Result<CuDevicePtr> Allocate(int64_t bytes, const char* what, std::vector<DeviceMemoryBlock>& blocks);
  Result<PlacePtr> MakePlace();
  /// The one where the device ran last, if there is.
  Result<PlacePtr> TakePlace(const hlo::Device& device);
  /// All steps on the first stream, watched by nobody.
  Frame::Of FrameOf(const Place& place, hlo::Device& device) const;
  /// By graphs, or on the streams of the program.
  Frame::Of WaysOf(const Place& place, hlo::Device& device, GraphUse graphs) const;
  /// Makes arrays that nobody but this run has, and that become results, its memory for them.
  void TakeOver(Place& place, std::vector<DeviceValue>& arguments);
  Status SetArguments(Place& place, const std::vector<DeviceValue>& arguments, Frame& frame);
  Status SetArgument(Place& place, size_t buffer, const DeviceValue& argument, Frame& frame);
  /// The value with all its arrays on this GPU or on the host.
  Result<DeviceValue> Within(DeviceValue value);
  Result<std::vector<DeviceValue>> KeepResults(Place& place, Frame& frame);
  /// `read` what the run leaves, before the place is another run's.
  template <class Read>
  auto RunWith(hlo::Device& device, std::vector<DeviceValue> arguments, const Observers& observers, Read read)
      -> decltype(read(std::declval<Place&>(), std::declval<Frame&>()));

  const Program& program_;
  GpuPtr gpu_;
  std::shared_ptr<ArrayMemory> memory_;  // of results that stay
  std::vector<CuModule> modules_;
  std::vector<CuFunction> functions_;  // by kernel
  std::vector<DeviceMemoryBlock> constants_;
  std::vector<CuDevicePtr> constant_bases_;  // by buffer
  LibraryPlans libraries_;
  std::mutex mutex_;
  std::vector<PlacePtr> idle_;
};

}  // namespace hlo::gpu
