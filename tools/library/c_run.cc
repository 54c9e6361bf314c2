// hlo/hlo_c.h: compiling, and running on the caller's memory.
#include "tools/library/c_program.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace {

/// Where the arrays of a part of the result are.
void AddPlaces(const hlo::Shape& shape, const ArrayPlace& place, std::vector<ArrayPlace>& places) {
  if (shape.IsArray()) places.push_back(place);
  if (!shape.IsTuple()) return;
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    ArrayPlace element = place;
    element.path.push_back(i);
    AddPlaces(shape.tuple_shapes()[i], element, places);
  }
}

HloError* NewExecutable(Executable executable, HloExecutable** made) {
  CArrays arrays;
  const ExecutableState& state = *ExecutableState::Get(executable);
  for (const hlo::Shape& parameter : state.parameters) AddArrays(parameter, arrays.arguments);
  const hlo::Shape& root = state.program->module().entry()->root()->shape();
  AddArrays(root, arrays.results);
  size_t part = 0;
  for (const hlo::Shape& shape : root.IsTuple() ? root.tuple_shapes() : llvm::ArrayRef(root))
    AddPlaces(shape, {part++, {}}, arrays.places);
  for (const auto* shapes : {&arrays.arguments, &arrays.results})
    for (const hlo::Shape& array : *shapes)
      if (array.rank() > HLO_MAX_RANK)
        return BadCall("an array has {0} dimensions, at most {1} are possible here", array.rank(),
                       HLO_MAX_RANK + 0);
  return Give(CExecutable{std::move(executable), std::make_shared<const CArrays>(std::move(arrays))}, made);
}

HloError* ReadCompileOptions(const HloCompileOptions* given, CompileOptions& compile) {
  HloCompileOptions read;
  if (HloError* error = ReadStruct(given, "the options", read)) return error;
  if (read.replica_count < 0 || read.partition_count < 0)
    return BadCall("{0} replicas of {1} partitions", read.replica_count, read.partition_count);
  compile.replica_count = std::max<int64_t>(read.replica_count, 1);
  compile.partition_count = std::max<int64_t>(read.partition_count, 1);
  if (read.device_assignment == nullptr && read.device_assignment_count != 0)
    return BadCall("the device assignment is null");
  for (const int64_t device : llvm::ArrayRef(read.device_assignment, read.device_assignment_count))
    compile.device_assignment.push_back(DeviceOf(device));
  if (read.parameter_shapes == nullptr && read.parameter_shapes_count != 0)
    return BadCall("the shapes of parameters are null");
  for (size_t p = 0; p < read.parameter_shapes_count; ++p) {
    if (read.parameter_shapes[p] == nullptr) return BadCall("the shape of parameter {0} is null", p);
    auto shape = ParseShape(read.parameter_shapes[p]);
    if (!shape.ok()) return ToError(shape.status());
    compile.argument_layouts.push_back(std::move(*shape));
  }
  if (read.result_shape != nullptr) {
    auto shape = ParseShape(read.result_shape);
    if (!shape.ok()) return ToError(shape.status());
    compile.result_layout = std::move(*shape);
  }
  return ReadLevel(read.optimization_level, compile.optimization_level);
}

HloError* Compile(const HloClient* client, const HloModule* module, const HloCompileOptions* options,
                  HloExecutable** executable) {
  if (HloError* error = CheckHandles(client, module)) return error;
  CompileOptions compile = client->get().compile;
  if (HloError* error = ReadCompileOptions(options, compile)) return error;
  auto made = client->get().client->Compile(module->get().computation, compile);
  if (!made.ok()) return ToError(made.status());
  return NewExecutable(std::move(*made), executable);
}

HloError* DescribeArray(const std::vector<hlo::Shape>& arrays, int64_t number, HloArray* array) {
  if (number < 0 || number >= static_cast<int64_t>(arrays.size()))
    return BadCall("there is no array {0}, there are {1}", number, arrays.size());
  return WriteStruct(ToArray(FromShape(arrays[static_cast<size_t>(number)])), "the fields of an array",
                     array);
}

/// What is right for a run on the caller's memory: the values by device, of which there are so many.
HloError* TakeArguments(const CExecutable& program, const HloArray* arguments, size_t arguments_count,
                        const HloArray* results, size_t results_count,
                        std::vector<std::vector<hlo::Literal>>& values) {
  const ExecutableState& state = program.state();
  const size_t devices = state.devices.size();
  const size_t taken = program.arrays->arguments.size(), given = program.arrays->results.size();
  if (HloError* error = CheckCount("arguments", arguments, arguments_count, devices * taken, "takes"))
    return error;
  if (HloError* error = CheckCount("results", results, results_count, devices * given, "has")) return error;
  for (size_t d = 0; d < devices; ++d) {
    if (!state.IsHere(d)) continue;
    size_t next = d * given;
    if (HloError* error = CheckResults(program.arrays->results, results, next)) return error;
    next = d * taken;
    values[d].reserve(state.parameters.size());
    for (const hlo::Shape& parameter : state.parameters)
      if (HloError* error = TakeValue(arguments, next, parameter, values[d])) return error;
  }
  return nullptr;
}

}  // namespace

namespace hlo_toolkit::internal {

HloError* Refused(const ExecutableState& state, HloError* error) {
  if (state.execution.network != nullptr)
    (void)state.Refuse(std::move(Wrong("{0}", error->get().message()).value()));
  return error;
}

}  // namespace hlo_toolkit::internal

extern "C" {

HloError* hlo_client_compile(const HloClient* client, const HloModule* module, HloExecutable** executable) {
  return GuardedMaking(executable, [&] { return Compile(client, module, nullptr, executable); });
}

HloError* hlo_client_compile_with(const HloClient* client, const HloModule* module,
                                  const HloCompileOptions* options, HloExecutable** executable) {
  return GuardedMaking(executable, [&] { return Compile(client, module, options, executable); });
}

HloError* hlo_client_load(const HloClient* client, const char* bytes, size_t size,
                          HloExecutable** executable) {
  return GuardedMaking(executable, [&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    if (bytes == nullptr) return BadCall("the bytes are null");
    auto made = client->get().client->LoadSerialized({bytes, size});
    if (!made.ok()) return ToError(made.status());
    return NewExecutable(std::move(*made), executable);
  });
}

HloError* hlo_executable_serialize(const HloExecutable* executable, HloText** bytes) {
  return GuardedMaking(bytes, [&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    auto made = executable->get().executable.Serialize();
    if (!made.ok()) return ToError(made.status());
    return Give(std::move(*made), bytes);
  });
}

int64_t hlo_executable_argument_count(const HloExecutable* executable) {
  if (executable == nullptr || !executable->IsOpen()) return -1;
  return static_cast<int64_t>(executable->get().arrays->arguments.size());
}
int64_t hlo_executable_result_count(const HloExecutable* executable) {
  if (executable == nullptr || !executable->IsOpen()) return -1;
  return static_cast<int64_t>(executable->get().arrays->results.size());
}
int64_t hlo_executable_device_count(const HloExecutable* executable) {
  if (executable == nullptr || !executable->IsOpen()) return -1;
  return executable->get().executable.device_count();
}
int64_t hlo_executable_device(const HloExecutable* executable, int64_t number) {
  if (number < 0 || number >= hlo_executable_device_count(executable)) return -1;
  return executable->get().state().devices[static_cast<size_t>(number)];
}

HloError* hlo_executable_argument(const HloExecutable* executable, int64_t number, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    return DescribeArray(executable->get().arrays->arguments, number, array);
  });
}
HloError* hlo_executable_result(const HloExecutable* executable, int64_t number, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    return DescribeArray(executable->get().arrays->results, number, array);
  });
}

HloError* hlo_executable_execute(const HloExecutable* executable, const HloArray* arguments,
                                 size_t arguments_count, HloArray* results, size_t results_count) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    const CExecutable& program = executable->get();
    const ExecutableState& state = program.state();
    std::vector<std::vector<hlo::Literal>> values(state.devices.size());
    if (HloError* error = TakeArguments(program, arguments, arguments_count, results, results_count, values))
      return Refused(state, error);
    const auto done = state.program->Run(std::move(values), state.execution);
    if (!done) return ToError(ToStatus(done.error()));
    for (size_t d = 0; d < state.devices.size(); ++d) {
      size_t next = d * program.arrays->results.size();
      if (state.IsHere(d)) GiveValue(done->results[d], results, next);
    }
    return nullptr;
  });
}

void hlo_executable_free(HloExecutable* executable) { Handles<HloExecutable>::Free(executable); }

}  // extern "C"
