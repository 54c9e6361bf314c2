// hlo/hlo_c.h: arrays on devices, and runs on them.
#include "llvm/ADT/SmallVector.h"
#include "tools/library/c_program.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace {

HloError* CheckArgument(const HloBuffer* buffer, size_t number) {
  if (buffer == nullptr) return BadCall("argument {0} is null", number);
  if (buffer->IsOpen()) return nullptr;
  return NewError({StatusCode::kFailedPrecondition,
                   llvm::formatv("argument {0} is no buffer, or was freed", number).str()});
}

/// What a run is asked for with.
struct Request {
  llvm::SmallVector<std::vector<Buffer>, 1> arguments;  // by device
  ExecuteOptions options;
  std::vector<Buffer> given_away;  // beside those that the options name: elements of tuples within tuples
  void GiveAway() {
    for (Buffer& buffer : given_away) buffer.Delete();
  }
};

/// The buffers of one device as the program's parameters have them.
class ArgumentTaker {
 public:
  ArgumentTaker(const CExecutable& program, size_t device, HloBuffer* const* given,
                llvm::ArrayRef<bool> donated, Request& request)
      : state_(program.state()),
        request_(request),
        buffers_(request.arguments[device]),
        device_(state_.devices[device]),
        given_(given + device * donated.size()),
        first_(device * donated.size()),
        donated_(donated) {}

  HloError* Take() {
    for (const hlo::Shape& parameter : state_.parameters) {
      if (parameter.IsArray()) {
        const HloBuffer* given = given_[next_];
        if (HloError* error = CheckArgument(given, first_ + next_++)) return error;
        buffers_.push_back(given->get());
        continue;
      }
      auto shape = std::make_shared<Shape>(FromShape(parameter));
      BufferState made{state_.client, std::move(shape), device_, {}};
      if (parameter.IsTuple())
        for (const hlo::Shape& element : parameter.tuple_shapes())
          if (HloError* error = TakePart(element, made.parts.emplace_back())) return error;
      if (!parameter.IsTuple()) made.parts.push_back(hlo::Client::Transfer(hlo::Literal::MakeToken()));
      buffers_.push_back(BufferState::Make(std::move(made)));
    }
    return nullptr;
  }

 private:
  /// An element of a tuple.
  HloError* TakePart(const hlo::Shape& shape, hlo::DeviceBuffer& part) {
    if (shape.IsArray()) return TakeArray(shape, part);
    if (!shape.IsTuple()) {
      part = hlo::Client::Transfer(hlo::Literal::MakeToken());
      return nullptr;
    }
    const size_t first = next_;
    std::vector<hlo::DeviceBuffer> parts;
    for (const hlo::Shape& element : shape.tuple_shapes())
      if (HloError* error = TakePart(element, parts.emplace_back())) return error;
    for (size_t i = first; i < next_; ++i)
      if (donated_[i]) request_.given_away.push_back(given_[i]->get());
    auto whole = hlo::DeviceBuffer::OfElements(parts, /*donate=*/false);
    if (!whole) return ToError(ToStatus(whole.error()));
    part = std::move(*whole);
    return nullptr;
  }

  HloError* TakeArray(const hlo::Shape& shape, hlo::DeviceBuffer& part) {
    const size_t number = first_ + next_;
    const HloBuffer* given = given_[next_++];
    if (HloError* error = CheckArgument(given, number)) return error;
    const BufferState& buffer = *BufferState::Get(given->get());
    if (buffer.client != state_.client) return BadCall("argument {0} is a buffer of another client", number);
    if (buffer.device != device_)
      return BadCall("argument {0} is on device {1}, the program runs on device {2}", number, buffer.device,
                     device_);
    part = buffer.parts.front();
    if (hlo::IsArgumentFor(part.shape(), shape)) return nullptr;
    return BadCall("argument {0} is {1}, the program takes {2}", number,
                   hlo::ToString(part.shape(), /*with_layout=*/false),
                   hlo::ToString(shape, /*with_layout=*/false));
  }

  const ExecutableState& state_;
  Request& request_;
  std::vector<Buffer>& buffers_;
  int device_;
  HloBuffer* const* given_;
  size_t first_;
  llvm::ArrayRef<bool> donated_;  // by array
  size_t next_ = 0;
};

/// Which arrays of a device are donated, and which parameters that are.
HloError* ReadDonated(const CExecutable& program, const HloRunOptions& read,
                      llvm::SmallVectorImpl<bool>& donated, std::vector<int64_t>& parameters) {
  donated.resize(program.arrays->arguments.size());
  if (read.donated == nullptr && read.donated_count != 0) return BadCall("the numbers of donated are null");
  for (const int64_t number : llvm::ArrayRef(read.donated, read.donated_count)) {
    if (number < 0 || number >= static_cast<int64_t>(donated.size()))
      return BadCall("there is no argument {0} to donate, the program takes {1}", number, donated.size());
    donated[static_cast<size_t>(number)] = true;
  }
  if (read.donated_count == 0) return nullptr;
  size_t first = 0;
  for (size_t p = 0; p < program.state().parameters.size(); ++p) {
    std::vector<hlo::Shape> arrays;
    AddArrays(program.state().parameters[p], arrays);
    const auto mine = llvm::ArrayRef(arrays);
    size_t count = 0;
    for (size_t i = 0; i < mine.size(); ++i) count += donated[first + i] ? 1 : 0;
    if (count != 0 && count != mine.size())
      return BadCall("arguments {0} to {1} are one tuple, of which {2} are donated: all are, or none", first,
                     first + mine.size() - 1, count);
    if (count != 0) parameters.push_back(static_cast<int64_t>(p));
    first += mine.size();
  }
  return nullptr;
}

HloError* ReadRequest(const CExecutable& program, HloBuffer* const* arguments, size_t arguments_count,
                      const HloRunOptions* given, Request& request) {
  HloRunOptions read;
  if (HloError* error = ReadStruct(given, "the options", read)) return error;
  const ExecutableState& state = program.state();
  const size_t wanted = state.devices.size() * program.arrays->arguments.size();
  if (arguments_count != wanted)
    return BadCall("{0} arguments, the program takes {1}", arguments_count, wanted);
  if (arguments == nullptr && wanted != 0) return BadCall("the arguments are null");
  llvm::SmallVector<bool, 16> donated;
  if (HloError* error = ReadDonated(program, read, donated, request.options.donated)) return error;
  if (read.seed != nullptr) request.options.seed = *read.seed;
  request.arguments.resize(state.devices.size());
  for (size_t d = 0; d < state.devices.size(); ++d)
    if (state.IsHere(d))
      if (HloError* error = ArgumentTaker(program, d, arguments, donated, request).Take()) return error;
  return nullptr;
}

/// An array of the result.
HloError* ResultOf(const CArrays& arrays, const std::vector<Buffer>& parts, size_t number, HloBuffer** made) {
  const ArrayPlace& place = arrays.places[number];
  const Buffer& part = parts[place.part];
  if (place.path.empty()) return Give(Buffer(part), made);
  const BufferState& state = *BufferState::Get(part);
  std::shared_ptr<const Shape> shape = state.shape;
  hlo::DeviceBuffer value;
  for (size_t depth = 0; depth < place.path.size(); ++depth) {
    const size_t element = place.path[depth];
    shape = std::make_shared<Shape>(shape->tuple_shapes()[element]);
    auto next = depth == 0 ? hlo::Result<hlo::DeviceBuffer>(state.parts[element]) : value.Element(element);
    if (!next) return ToError(ToStatus(next.error()));
    value = std::move(*next);
  }
  return Give(BufferState::Of(state.client, shape, state.device, value), made);
}

/// Waits, for `is_there(limit)` to say so, and gives `result()` then.
template <class IsThere, class Result>
HloError* WaitFor(int64_t milliseconds, const char* what, IsThere is_there, Result result) {
  // More than a clock can count is without a limit.
  constexpr int64_t kMost = int64_t{1} << 40;
  if (milliseconds < -1) return BadCall("a wait of {0} ms", milliseconds);
  if (milliseconds >= 0 && milliseconds < kMost && !is_there(std::chrono::milliseconds(milliseconds)))
    return NewError({StatusCode::kDeadlineExceeded,
                     llvm::formatv("the {0} is not over after {1} ms", what, milliseconds).str()});
  return ToError(result());
}

}  // namespace

extern "C" {

HloError* hlo_client_buffer(const HloClient* client, const HloArray* array, int64_t device,
                            HloBuffer** buffer) {
  return GuardedMaking(buffer, [&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    Literal borrowed;
    if (HloError* error = LiteralOf(array, "the array", borrowed)) return error;
    const hlo::Literal own = LiteralAccess::Get(borrowed)->Copy();
    auto made = client->get().client->ToDevice(LiteralAccess::Make(own), DeviceOf(device));
    if (!made.ok()) return ToError(made.status());
    return Give(std::move(*made), buffer);
  });
}

HloError* hlo_buffer_shape(const HloBuffer* buffer, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(buffer)) return error;
    return WriteStruct(ToArray(buffer->get().shape()), "the fields of an array", array);
  });
}

int64_t hlo_buffer_device(const HloBuffer* buffer) {
  return buffer == nullptr || !buffer->IsOpen() ? -1 : buffer->get().device();
}

int hlo_buffer_is_ready(const HloBuffer* buffer) {
  return buffer == nullptr || !buffer->IsOpen() || buffer->get().WaitFor({}) ? 1 : 0;
}

HloError* hlo_buffer_wait(const HloBuffer* buffer, int64_t milliseconds) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(buffer)) return error;
    const Buffer& mine = buffer->get();
    return WaitFor(
        milliseconds, "making of the buffer", [&](auto limit) { return mine.WaitFor(limit); },
        [&] { return mine.Await(); });
  });
}

HloError* hlo_buffer_read(const HloBuffer* buffer, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(buffer)) return error;
    if (array == nullptr) return BadCall("the array is null");
    auto shape = ToShape(buffer->get().shape());
    if (!shape) return ToError(ToStatus(shape.error()));
    size_t next = 0;
    if (HloError* error = CheckResults({std::move(*shape)}, array, next)) return error;
    const auto value = buffer->get().ToLiteral();
    if (!value.ok()) return ToError(value.status());
    next = 0;
    GiveValue(*LiteralAccess::Get(*value), array, next);
    return nullptr;
  });
}

void hlo_buffer_free(HloBuffer* buffer) { Handles<HloBuffer>::Free(buffer); }

HloError* hlo_executable_run(const HloExecutable* executable, HloBuffer* const* arguments,
                             size_t arguments_count, const HloRunOptions* options, HloBuffer** results,
                             size_t results_count) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    const CExecutable& program = executable->get();
    const size_t wanted = program.arrays->results.size();
    if (results_count != wanted) return BadCall("{0} results, the program has {1}", results_count, wanted);
    if (results == nullptr && wanted != 0) return BadCall("the results are null");
    for (size_t i = 0; i < wanted; ++i) results[i] = nullptr;
    if (program.executable.device_count() != 1)
      return BadCall("the program has {0} devices: hlo_executable_start() runs it",
                     program.executable.device_count());
    Request request;
    if (HloError* error = ReadRequest(program, arguments, arguments_count, options, request)) return error;
    const auto done = program.executable.Execute(request.arguments.front(), request.options);
    if (!done.ok()) return ToError(done.status());
    request.GiveAway();
    for (size_t i = 0; i < wanted; ++i) {
      HloError* error = ResultOf(*program.arrays, *done, i, &results[i]);
      if (error == nullptr) continue;
      for (size_t k = 0; k < i; ++k) hlo_buffer_free(std::exchange(results[k], nullptr));
      return error;
    }
    return nullptr;
  });
}

HloError* hlo_executable_start(const HloExecutable* executable, HloBuffer* const* arguments,
                               size_t arguments_count, const HloRunOptions* options, HloRun** run) {
  return GuardedMaking(run, [&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    if (run == nullptr) return BadCall("there is no place for the run");
    const CExecutable& program = executable->get();
    Request request;
    if (HloError* error = ReadRequest(program, arguments, arguments_count, options, request))
      return Refused(program.state(), error);
    auto begun = program.executable.ExecuteAsyncOnDevices(
        {request.arguments.data(), request.arguments.size()}, request.options);
    if (!begun.ok()) return ToError(begun.status());
    request.GiveAway();
    return Give(CRun{std::move(*begun), program.arrays}, run);
  });
}

HloError* hlo_run_result(const HloRun* run, int64_t device, int64_t number, HloBuffer** buffer) {
  return GuardedMaking(buffer, [&]() -> HloError* {
    if (HloError* error = CheckHandles(run)) return error;
    const CRun& mine = run->get();
    const int64_t devices = mine.execution.device_count(),
                  results = static_cast<int64_t>(mine.arrays->results.size());
    if (device < 0 || device >= devices)
      return BadCall("there is no device {0}, the program has {1}", device, devices);
    if (number < 0 || number >= results)
      return BadCall("there is no result {0}, the program has {1}", number, results);
    return ResultOf(*mine.arrays, mine.execution.results(device), static_cast<size_t>(number), buffer);
  });
}

int hlo_run_is_ready(const HloRun* run) {
  return run == nullptr || !run->IsOpen() || run->get().execution.IsReady() ? 1 : 0;
}

HloError* hlo_run_wait(const HloRun* run, int64_t milliseconds) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(run)) return error;
    const Execution& mine = run->get().execution;
    return WaitFor(
        milliseconds, "run", [&](auto limit) { return mine.WaitFor(limit); }, [&] { return mine.Await(); });
  });
}

HloError* hlo_run_cancel(HloRun* run) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(run)) return error;
    run->get().execution.Cancel();
    return nullptr;
  });
}

void hlo_run_free(HloRun* run) { Handles<HloRun>::Free(run); }

}  // extern "C"
