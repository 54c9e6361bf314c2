#include "backends/gpu/runtime/run.h"

#include <algorithm>

#include "backends/compile/memory.h"
#include "backends/gpu/runtime/build.h"
#include "backends/gpu/runtime/steps.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

const Literal& Part(const Literal& value, llvm::ArrayRef<int64_t> index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

/// What of the value holds a leaf of it, an array of a device or a value on the host, and the way on from
/// there.
std::pair<const DeviceValue*, llvm::ArrayRef<int64_t>> Holder(const DeviceValue& value,
                                                              llvm::ArrayRef<int64_t> index) {
  const DeviceValue* at = &value;
  for (; !at->elements().empty(); index = index.drop_front())
    at = &at->elements()[static_cast<size_t>(index.front())];
  return {at, index};
}

/// Puts a result together of what the GPU has left; all parts travel together.
class ResultReader {
 public:
  ResultReader(Frame& frame, const Value& result) : frame_(frame), at_(result.leaves.begin()) {}

  Result<Literal> Read(const Shape& shape) {
    HLO_TRY(Literal value, ReadPart(shape));
    HLO_CHECK_OK(frame_.stream().Arrive());
    return value;
  }
  /// The next leaf.
  [[nodiscard]] const Leaf* at() const { return at_; }
  void Skip() { ++at_; }

 private:
  Result<Literal> ReadPart(const Shape& shape) {
    if (!shape.IsTuple()) return ReadLeaf(*at_++);
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HLO_TRY(Literal part, ReadPart(element));
      elements.push_back(std::move(part));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  Result<Literal> ReadLeaf(const Leaf& leaf) {
    Literal array = Literal::Make(leaf.shape);
    if (!leaf.shape.IsArray()) return array;
    if (leaf.slice.buffer >= 0)
      HLO_CHECK_OK(
          frame_.stream().ToHostLater(array.MutableData(), frame_.At(leaf.slice), array.byte_size()));
    if (leaf.slice.sizes < 0) return array;
    const Dims& sizes = frame_.Sizes(leaf.slice);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (leaf.shape.is_dynamic(static_cast<int64_t>(d)))
        array.SetDynamicSize(static_cast<int64_t>(d), sizes[d]);
    return array;
  }

  Frame& frame_;
  const Leaf* at_;
};

}  // namespace

Result<std::unique_ptr<LoadedProgram>> LoadedProgram::Load(const Program& program, GpuPtr gpu,
                                                           const LibraryOptions& libraries,
                                                           llvm::function_ref<void(Diagnostic)> report) {
  auto loaded = std::unique_ptr<LoadedProgram>(new LoadedProgram(program, std::move(gpu)));
  HLO_CHECK_OK(loaded->gpu_->MakeCurrent());
  HLO_CHECK_OK(loaded->LoadModules());
  HLO_CHECK_OK(loaded->LoadConstants());
  HLO_TRY(loaded->libraries_, PlanLibraries(program, libraries, loaded->gpu_->lent(), report));
  return loaded;
}

LoadedProgram::~LoadedProgram() {
  idle_.clear();
  constants_.clear();
  if (!gpu_->MakeCurrent()) return;
  libraries_.clear();
  // Nobody could do anything about errors.
  for (const CuModule module : modules_) [[maybe_unused]]
    const Status unloaded = gpu_->Call(&DriverApi::ModuleUnload, module);
}

Status LoadedProgram::LoadModules() {
  for (const std::string& ptx : program_.kernels.modules()) {
    HLO_TRY(const CuModule module, gpu_->LoadModule(ptx));
    modules_.push_back(module);
  }
  for (const KernelEntry& kernel : program_.kernels.entries()) {
    CuFunction& function = functions_.emplace_back();
    HLO_CHECK_OK(gpu_->Call(&DriverApi::ModuleGetFunction, &function,
                            modules_[static_cast<size_t>(kernel.module)], kernel.name.c_str()));
  }
  return {};
}

Result<CuDevicePtr> LoadedProgram::Allocate(int64_t bytes, const char* what,
                                            std::vector<DeviceMemoryBlock>& blocks) {
  if (bytes == 0) return CuDevicePtr{0};
  Result<DeviceMemoryBlock> block = DeviceMemoryBlock::Allocate(gpu_, bytes);
  if (!block) {
    Diagnostic error = std::move(block).error();
    size_t free = 0, total = 0;
    if (error.id != "limit-memory" || !gpu_->Call(&DriverApi::MemGetInfo, &free, &total))
      return Error(std::move(error));
    const MemoryPlan plan = compile::PlanMemory(*program_.module, PlacementOptions(program_.machine));
    Diagnostic told =
        MakeError("limit-memory", {}, "the GPU has no memory for {0}: {1} bytes, {2} of {3} are free", what,
                  bytes, free, total);
    told.Note(error.message);
    told.Note(llvm::formatv("the program needs {0} bytes in all: {1} of arguments, {2} of results, {3} of "
                            "temporaries, {4} of constants",
                            plan.peak(), plan.arguments, plan.results - plan.aliased, plan.temporaries,
                            plan.constants)
                  .str());
    return Error(std::move(told));
  }
  blocks.push_back(std::move(*block));
  return blocks.back().address();
}

Status LoadedProgram::LoadConstants() {
  constant_bases_.resize(program_.buffers.size());
  HLO_TRY(const std::unique_ptr<Stream> stream, Stream::Create(gpu_));
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (buffer.kind != BufferKind::Constant) continue;
    HLO_TRY(constant_bases_[i], Allocate(buffer.size, "constants", constants_));
    HLO_CHECK_OK(stream->ToDevice(constant_bases_[i], buffer.constant.data(), buffer.constant.byte_size()));
  }
  return stream->Wait();
}

Result<LoadedProgram::PlacePtr> LoadedProgram::MakePlace() {
  auto place = std::make_unique<Place>();
  for (int32_t i = 0; i < program_.streams.streams; ++i) {
    HLO_TRY(auto stream, Stream::Create(gpu_));
    place->streams.push_back(std::move(stream));
  }
  for (int32_t i = 0; i < program_.streams.events; ++i) {
    HLO_TRY(Event event, Event::Create(gpu_, /*timed=*/false));
    place->events.push_back(std::move(event));
  }
  place->graphs = std::make_unique<StepGraphs>(gpu_);
  place->bases = constant_bases_;
  place->arguments.resize(program_.buffers.size());
  place->arrays.resize(program_.buffers.size());
  HLO_TRY(const CuDevicePtr arena, Allocate(program_.arena_bytes, "temporaries", place->blocks));
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (buffer.kind == BufferKind::Temporary) place->bases[i] = arena + static_cast<uint64_t>(buffer.offset);
    if (buffer.kind != BufferKind::Parameter && buffer.kind != BufferKind::Output) continue;
    const char* const what = buffer.kind == BufferKind::Parameter ? "arguments" : "results";
    HLO_TRY(place->bases[i], Allocate(buffer.size, what, place->blocks));
  }
  place->own = place->bases;
  place->lent.resize(program_.buffers.size());
  size_t workspace = 0;
  for (const auto& [step, plan] : libraries_) workspace = std::max(workspace, plan->workspace_bytes());
  const uint64_t each = llvm::alignTo(workspace, kDeviceAlignment);
  HLO_TRY(const CuDevicePtr first,
          Allocate(static_cast<int64_t>(each * place->streams.size()), "libraries", place->blocks));
  for (size_t i = 0; i < place->streams.size(); ++i) place->workspaces.push_back(first + i * each);
  return place;
}

Result<LoadedProgram::PlacePtr> LoadedProgram::TakePlace(const hlo::Device& device) {
  PlacePtr place;
  {
    const std::lock_guard lock(mutex_);
    auto at = llvm::find_if(idle_, [&](const PlacePtr& idle) { return idle->device == device.id(); });
    if (at == idle_.end() && !idle_.empty()) --at;
    if (at != idle_.end()) {
      place = std::move(*at);
      idle_.erase(at);
    }
  }
  if (place == nullptr) {
    HLO_TRY(place, MakePlace());
  }
  place->device = device.id();
  return place;
}

void LoadedProgram::TakeOver(Place& place, std::vector<DeviceValue>& arguments) {
  std::vector<CuDevicePtr> bases = place.own;
  for (const Leaf& leaf : program_.result.leaves) {
    if (leaf.slice.buffer < 0 || leaf.slice.offset != 0) continue;
    const auto number = static_cast<size_t>(leaf.slice.buffer);
    const Buffer& buffer = program_.buffers[number];
    if (buffer.kind != BufferKind::Parameter || !buffer.written || place.lent[number] != nullptr) continue;
    DeviceValue& argument = arguments[static_cast<size_t>(buffer.parameter)];
    const bool only = argument.array() != nullptr && argument.array().use_count() == 1;
    if (!only || static_cast<const GpuArray&>(*argument.array()).bytes() != buffer.size) continue;
    // Nobody has it who could see that it changes.
    place.lent[number] =
        std::const_pointer_cast<GpuArray>(std::static_pointer_cast<const GpuArray>(argument.array()));
    bases[number] = place.lent[number]->address();
  }
  if (bases == place.bases) return;
  // What was recorded is for other memory.
  place.bases = std::move(bases);
  place.graphs = std::make_unique<StepGraphs>(gpu_);
  place.has_run = false;
}

Status LoadedProgram::SetArgument(Place& place, size_t buffer, const DeviceValue& argument, Frame& frame) {
  const bool written = program_.buffers[buffer].written;
  const auto [holder, rest] = Holder(argument, program_.buffers[buffer].index);
  if (holder->array() != nullptr) {
    place.arguments[buffer] = {};
    if (place.lent[buffer] != nullptr) return {};
    const auto* array = static_cast<const GpuArray*>(holder->array().get());
    if (place.arrays[buffer].lock() != holder->array() && array->bytes() != 0)
      HLO_CHECK_OK(
          frame.stream().Copy(place.bases[buffer], array->address(), static_cast<size_t>(array->bytes())));
    place.arrays[buffer] = written ? nullptr : holder->array();
    return {};
  }
  place.arrays[buffer].reset();
  const Literal& host = Part(holder->host(), rest);
  if (!host.shape().IsArray()) return {};
  if (place.arguments[buffer].data() != host.data() || host.byte_size() == 0) {
    place.arguments[buffer] = {};
    HLO_CHECK_OK(frame.stream().ToDevice(place.bases[buffer], host.data(), host.byte_size()));
  }
  // Bytes that are shared do not change. Nobody can come again with those that are only ours.
  const bool keeps = !written && !host.IsUnique();
  place.arguments[buffer] = keeps ? host : Literal();
  return {};
}

Status LoadedProgram::SetArguments(Place& place, const std::vector<DeviceValue>& arguments, Frame& frame) {
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (buffer.kind != BufferKind::Parameter) continue;
    HLO_CHECK_OK(SetArgument(place, i, arguments[static_cast<size_t>(buffer.parameter)], frame));
  }
  for (const Value& parameter : program_.parameters)
    for (const Leaf& leaf : parameter.leaves) {
      if (leaf.slice.sizes < 0 || leaf.slice.buffer < 0) continue;
      const Buffer& buffer = program_.buffers[static_cast<size_t>(leaf.slice.buffer)];
      const auto [holder, rest] = Holder(arguments[static_cast<size_t>(buffer.parameter)], buffer.index);
      if (holder->array() != nullptr) continue;  // as large as it may be
      const Literal& argument = Part(holder->host(), rest);
      if (!argument.HasDynamicSizes()) continue;
      Dims& sizes = frame.Sizes(leaf.slice);
      sizes.clear();
      for (int64_t d = 0; d < leaf.shape.rank(); ++d) sizes.push_back(argument.DynamicSize(d));
    }
  return {};
}

Frame::Of LoadedProgram::FrameOf(const Place& place, hlo::Device& device) const {
  return {.streams = place.streams,
          .bases = place.bases,
          .functions = functions_,
          .plans = program_.plans,
          .device = device,
          .events = place.events,
          .libraries = &libraries_,
          .workspaces = place.workspaces};
}

Frame::Of LoadedProgram::WaysOf(const Place& place, hlo::Device& device, GraphUse graphs) const {
  Frame::Of of = FrameOf(place, device);
  if (graphs != GraphUse::Off) of.graphs = place.graphs.get();
  of.insists_on_graphs = graphs == GraphUse::On;
  of.graphs_of_all = of.insists_on_graphs || place.has_run;
  if (!of.insists_on_graphs) of.plan = &program_.streams;  // what is recorded is on one stream
  return of;
}

bool LoadedProgram::MayBeRepeated() const {
  const bool writes_over = llvm::any_of(
      program_.buffers, [](const Buffer& b) { return b.kind == BufferKind::Parameter && b.written; });
  llvm::SmallVector<const Sequence*, 8> work = {&program_.entry};
  while (!work.empty())
    for (const std::unique_ptr<Step>& step : *work.pop_back_val()) {
      const auto plan = libraries_.find(step.get());
      const bool of_library = plan != libraries_.end() && !plan->second->meets_others();
      const bool of_gpu = of_library || step->kind == StepKind::Kernel || step->kind == StepKind::Copy;
      if (!of_gpu && !compile::HasParts(step->kind)) return false;
      if (compile::HasPredicate(step->kind) && !step->Trips() && writes_over) return false;
      for (const Sequence& part : step->parts) work.push_back(&part);
    }
  return true;
}

Result<double> LoadedProgram::Nanoseconds(hlo::Device& device, std::vector<Literal> arguments,
                                          GraphUse graphs) {
  // A few milliseconds are measured at a time, since the host asks for the first step while nothing runs.
  constexpr int kWarmUp = 2, kMostRuns = 9, kFewestRuns = 3, kMostOfOne = 20;
  constexpr double kPerMillisecond = 1e6, kAtATime = 4, kInAll = 400;  // milliseconds
  HLO_CHECK_OK(gpu_->MakeCurrent());
  HLO_TRY(PlacePtr place, TakePlace(device));
  std::vector<DeviceValue> values = ToValues(std::move(arguments));
  TakeOver(*place, values);
  place->has_run = true;  // what is measured are the runs that follow
  Frame frame(WaysOf(*place, device, graphs), static_cast<size_t>(program_.sizes_count));
  HLO_CHECK_OK(SetArguments(*place, values, frame));
  HLO_TRY(const Event begin, Event::Create(gpu_, /*timed=*/true));
  HLO_TRY(const Event end, Event::Create(gpu_, /*timed=*/true));
  const auto measure = [&](int times) -> Result<double> {
    HLO_CHECK_OK(frame.stream().Record(begin));
    for (int i = 0; i < times; ++i) HLO_CHECK_OK(RunSequence(program_.entry, frame));
    HLO_CHECK_OK(frame.stream().Record(end));
    HLO_CHECK_OK(frame.stream().Wait());
    float milliseconds = 0;
    HLO_CHECK_OK(gpu_->Call(&DriverApi::EventElapsedTime, &milliseconds, begin.handle(), end.handle()));
    return double{milliseconds} / times;
  };
  double one = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    HLO_TRY(one, measure(1));
  }
  const int times = static_cast<int>(std::clamp(kAtATime / std::max(one, 1e-6), 1.0, double{kMostOfOne}));
  const int runs = static_cast<int>(
      std::clamp(kInAll / std::max(one * times, 1e-6), double{kFewestRuns}, double{kMostRuns}));
  std::vector<double> measured;
  for (int i = 0; i < runs; ++i) {
    HLO_TRY(const double each, measure(times));
    measured.push_back(each);
  }
  std::nth_element(measured.begin(), measured.begin() + runs / 2, measured.end());
  return measured[static_cast<size_t>(runs / 2)] * kPerMillisecond;
}

Result<std::vector<DeviceValue>> LoadedProgram::KeepResults(Place& place, Frame& frame) {
  ResultReader reader(frame, program_.result);
  const auto keep = [&](const auto& keep_part, const Shape& shape) -> Result<DeviceValue> {
    if (shape.IsTuple()) {
      std::vector<DeviceValue> elements;
      for (const Shape& element : shape.tuple_shapes()) {
        HLO_TRY(elements.emplace_back(), keep_part(keep_part, element));
      }
      return DeviceValue::OfElements(std::move(elements));
    }
    const Leaf& leaf = *reader.at();
    if (!shape.IsArray() || shape.HasDynamicDimension() || leaf.slice.buffer < 0) {
      HLO_TRY(Literal part, reader.Read(shape));
      return DeviceValue(std::move(part));
    }
    reader.Skip();
    std::shared_ptr<GpuArray>& lent = place.lent[static_cast<size_t>(leaf.slice.buffer)];
    // Another part that is the same value is copied from there.
    if (lent != nullptr && leaf.slice.offset == 0)
      return DeviceValue(GpuArray::Renamed(std::exchange(lent, nullptr), shape));
    HLO_TRY(const auto array, GpuArray::Make(memory_, shape));
    if (array->bytes() != 0)
      HLO_CHECK_OK(
          frame.stream().Copy(array->address(), frame.At(leaf.slice), static_cast<size_t>(array->bytes())));
    return DeviceValue(std::shared_ptr<const DeviceArray>(array));
  };
  std::vector<DeviceValue> results;
  const Shape& whole = program_.result.shape;
  for (const Shape& shape : whole.IsTuple() ? whole.tuple_shapes() : llvm::ArrayRef(whole)) {
    HLO_TRY(results.emplace_back(), keep(keep, shape));
  }
  return results;
}

Result<DeviceValue> LoadedProgram::Within(DeviceValue value) {
  if (const auto* array = static_cast<const GpuArray*>(value.array().get())) {
    if (&array->gpu() == gpu_.get()) return value;
    HLO_TRY(Literal host, value.ToHost());
    HLO_CHECK_OK(gpu_->MakeCurrent());
    return DeviceValue(std::move(host));
  }
  if (value.elements().empty()) return value;
  std::vector<DeviceValue> elements;
  for (const DeviceValue& element : value.elements()) {
    HLO_TRY(elements.emplace_back(), Within(element));
  }
  return DeviceValue::OfElements(std::move(elements));
}

template <class Read>
auto LoadedProgram::RunWith(hlo::Device& device, std::vector<DeviceValue> arguments,
                            const Observers& observers, Read read)
    -> decltype(read(std::declval<Place&>(), std::declval<Frame&>())) {
  HLO_CHECK_OK(gpu_->MakeCurrent());
  for (DeviceValue& argument : arguments) {
    HLO_TRY(argument, Within(std::move(argument)));
  }
  // A place where something went wrong is not used again.
  HLO_TRY(PlacePtr place, TakePlace(device));
  TakeOver(*place, arguments);
  Frame::Of of = WaysOf(*place, device, observers.graphs);
  of.observer = observers.observer;
  of.listener = observers.listener;
  of.took = observers.took;
  of.done_by = observers.done_by;
  of.wait_each = observers.wait_each || gpu_->synchronous();
  of.names_each = observers.wait_each;
  Frame frame(of, static_cast<size_t>(program_.sizes_count));
  HLO_CHECK_OK(SetArguments(*place, arguments, frame));
  // Arrays of the GPU are read later than this.
  for (DeviceValue& argument : arguments)
    if (!argument.IsOnDevice()) argument = DeviceValue();
  const Status ran = RunSequence(program_.entry, frame);
  auto result = ran ? read(*place, frame) : decltype(read(*place, frame))(Error(ran.error()));
  if (!result) {
    // What writes into arrays that nobody gets may be under way, and their memory is another one's soon.
    for (const std::unique_ptr<Stream>& stream : place->streams) [[maybe_unused]]
      const Status over = stream->Wait();
    return result;
  }
  HLO_CHECK_OK(frame.stream().Wait());
  place->has_run = true;
  for (std::shared_ptr<GpuArray>& lent : place->lent) lent.reset();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(place));
  return result;
}

Result<Literal> LoadedProgram::Run(hlo::Device& device, std::vector<DeviceValue> arguments,
                                   const Observers& observers) {
  return RunWith(device, std::move(arguments), observers, [&](Place&, Frame& frame) {
    return ResultReader(frame, program_.result).Read(program_.result.shape);
  });
}

Result<std::vector<DeviceValue>> LoadedProgram::RunThere(hlo::Device& device,
                                                         std::vector<DeviceValue> arguments,
                                                         const Observers& observers) {
  return RunWith(device, std::move(arguments), observers,
                 [&](Place& place, Frame& frame) { return KeepResults(place, frame); });
}

}  // namespace hlo::gpu
