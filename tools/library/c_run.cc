// hlo/hlo_c.h: compiling and running.
#include "tools/library/c_api.h"
#include "tools/library/client_state.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

struct HloClient {
  std::unique_ptr<Client> client;
  CompileOptions compile;
};

struct HloExecutable {
  Executable executable;
  // Arrays that go in and out, tuples taken apart, as the backends have their shapes.
  std::vector<hlo::Shape> arguments, results;
};

namespace {

/// Arrays of a value, with tokens left out.
void AddArrays(const hlo::Shape& shape, std::vector<hlo::Shape>& arrays) {
  if (shape.IsArray()) arrays.push_back(shape);
  if (shape.IsTuple())
    for (const hlo::Shape& part : shape.tuple_shapes()) AddArrays(part, arrays);
}

HloError* NewExecutable(Executable executable, HloExecutable** made) {
  if (made == nullptr) return BadCall("there is no place for the executable");
  auto mine = std::make_unique<HloExecutable>();
  const ExecutableState& state = *ExecutableState::Get(executable);
  for (const hlo::Shape& parameter : state.parameters) AddArrays(parameter, mine->arguments);
  AddArrays(state.program->module().entry()->root()->shape(), mine->results);
  for (const auto* arrays : {&mine->arguments, &mine->results})
    for (const hlo::Shape& array : *arrays)
      if (array.rank() > HLO_MAX_RANK)
        return BadCall("an array has {0} dimensions, at most {1} are possible here", array.rank(),
                       HLO_MAX_RANK + 0);
  mine->executable = std::move(executable);
  *made = mine.release();
  return nullptr;
}

HloError* DescribeArray(const std::vector<hlo::Shape>& arrays, int64_t number, HloArray* array) {
  if (number < 0 || number >= static_cast<int64_t>(arrays.size()))
    return BadCall("there is no array {0}, there are {1}", number, arrays.size());
  return WriteStruct(ToArray(FromShape(arrays[static_cast<size_t>(number)])), "the fields of an array",
                     array);
}

/// One of an array of structs, whose size callers know.
template <class T>
T* At(T* first, size_t i) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + i * first->struct_size);
}

/// Whether the caller's array is of that type and has these sizes.
bool IsOf(const HloArray& array, const hlo::Shape& shape) {
  if (array.type != FromElementType(shape.element_type()) || array.rank != shape.rank()) return false;
  for (int32_t d = 0; d < array.rank; ++d)
    if (array.dimensions[d] != shape.dim(d)) return false;
  return true;
}

/// The next arguments as a value of the shape, in the caller's memory.
HloError* TakeValue(const HloArray* arguments, size_t& next, const hlo::Shape& shape, hlo::Literal& value) {
  if (shape.IsTuple()) {
    std::vector<hlo::Literal> parts(shape.tuple_shapes().size());
    for (size_t i = 0; i < parts.size(); ++i)
      if (HloError* error = TakeValue(arguments, next, shape.tuple_shapes()[i], parts[i])) return error;
    value = hlo::Literal::MakeTuple(std::move(parts));
    return nullptr;
  }
  if (!shape.IsArray()) {
    value = hlo::Literal::MakeToken();
    return nullptr;
  }
  const size_t number = next++;
  const HloArray* given = At(arguments, number);
  if (given->struct_size != arguments->struct_size)
    return BadCall("arguments are structs of {0} and of {1} bytes", arguments->struct_size,
                   given->struct_size);
  HloArray array;
  if (HloError* error = ReadStruct(given, "the fields of an argument", array)) return error;
  if (!IsOf(array, shape))
    return BadCall("argument {0} is of another type or other sizes than {1}", number,
                   hlo::ToString(shape, /*with_layout=*/false));
  const auto width = static_cast<size_t>(hlo::Info(shape.element_type()).host_bytes());
  const size_t needed = static_cast<size_t>(shape.ElementCount()) * width;
  if (array.bytes < needed)
    return BadCall("argument {0} needs {1} bytes, but has {2}", number, needed, array.bytes);
  if (array.data == nullptr && needed != 0) return BadCall("argument {0} has no memory", number);
  constexpr size_t kMostAligned = 8;
  if (reinterpret_cast<uintptr_t>(array.data) % std::min(width, kMostAligned) != 0) {
    value = hlo::Literal::Make(shape);
    std::memcpy(value.MutableData(), array.data, needed);
  } else {
    value = hlo::Literal::Borrow(shape, array.data, nullptr);
  }
  value = Canonical(std::move(value));
  return nullptr;
}

/// Writes the arrays of a value to where the caller wants them.
HloError* GiveValue(const hlo::Literal& value, HloArray* results, size_t& next) {
  if (value.shape().IsTuple())
    for (const hlo::Literal& part : value.elements())
      if (HloError* error = GiveValue(part, results, next)) return error;
  if (!value.shape().IsArray()) return nullptr;
  HloArray* to = At(results, next++);
  const hlo::Literal whole = (value.HasDynamicSizes() ? value.ToStatic() : value).Unpack();
  if (whole.byte_size() != 0) std::memcpy(to->data, whole.data(), whole.byte_size());
  for (int64_t d = 0; d < whole.shape().rank(); ++d) to->dimensions[d] = whole.shape().dim(d);
  return nullptr;
}

/// Whether results can be written to where they are to go, before anything runs.
HloError* CheckResults(const std::vector<hlo::Shape>& shapes, const HloArray* results) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const HloArray* given = At(results, i);
    if (given->struct_size < sizeof(HloArray)) return BadCall("result {0} is no struct of an array", i);
    if (given->struct_size != results->struct_size)
      return BadCall("results are structs of {0} and of {1} bytes", results->struct_size, given->struct_size);
    HloArray array;
    if (HloError* error = ReadStruct(given, "the fields of a result", array)) return error;
    const hlo::Shape& shape = shapes[i];
    if (array.type != FromElementType(shape.element_type()) || array.rank != shape.rank())
      return BadCall("result {0} is of another type or rank than {1}", i,
                     hlo::ToString(shape, /*with_layout=*/false));
    const size_t needed = static_cast<size_t>(shape.ElementCount()) *
                          static_cast<size_t>(hlo::Info(shape.element_type()).host_bytes());
    if (array.bytes < needed)
      return BadCall("result {0} needs {1} bytes, but has {2}", i, needed, array.bytes);
    if (array.data == nullptr && needed != 0) return BadCall("result {0} has no memory", i);
  }
  return nullptr;
}

}  // namespace

extern "C" {

HloError* hlo_client_create(const HloClientOptions* options, HloClient** client) {
  if (client != nullptr) *client = nullptr;
  return Guarded([&]() -> HloError* {
    if (client == nullptr) return BadCall("there is no place for the client");
    HloClientOptions read;
    if (HloError* error = ReadStruct(options, "the options", read)) return error;
    ClientOptions mine;
    if (read.platform != nullptr) mine.platform = read.platform;
    if (read.threads < 0 || read.threads > INT32_MAX) return BadCall("a client of {0} threads", read.threads);
    mine.threads = static_cast<int>(read.threads);
    mine.cache = read.no_cache == 0;
    if (read.cache_folder != nullptr) mine.cache_folder = read.cache_folder;
    mine.memory_limit = read.memory_limit;
    mine.time_limit = std::chrono::milliseconds(read.time_limit_ms);
    if (read.seed != nullptr) mine.seed = *read.seed;
    if (read.gpu_target != nullptr) mine.gpu_target = read.gpu_target;
    CompileOptions compile;
    if (read.optimization_level != nullptr &&
        (llvm::StringRef(read.optimization_level).getAsInteger(10, compile.optimization_level) ||
         compile.optimization_level < 0 || compile.optimization_level > 3))
      return BadCall("there is no optimization level '{0}'", read.optimization_level);
    auto made = Client::Create(mine);
    if (!made.ok()) return ToError(made.status());
    *client = new HloClient{std::move(*made), compile};
    return nullptr;
  });
}

HloError* hlo_client_cancel(HloClient* client, int cancel) {
  return Guarded([&]() -> HloError* {
    if (client == nullptr) return BadCall("the client is null");
    cancel != 0 ? client->client->Cancel() : client->client->ClearCancellation();
    return nullptr;
  });
}

void hlo_client_free(HloClient* client) { delete client; }

HloError* hlo_client_compile(const HloClient* client, const HloModule* module, HloExecutable** executable) {
  if (executable != nullptr) *executable = nullptr;
  return Guarded([&]() -> HloError* {
    if (client == nullptr || module == nullptr) return BadCall("the client or the module is null");
    auto made = client->client->Compile(module->computation, client->compile);
    if (!made.ok()) return ToError(made.status());
    return NewExecutable(std::move(*made), executable);
  });
}

HloError* hlo_client_load(const HloClient* client, const char* bytes, size_t size,
                          HloExecutable** executable) {
  if (executable != nullptr) *executable = nullptr;
  return Guarded([&]() -> HloError* {
    if (client == nullptr || bytes == nullptr) return BadCall("the client or the bytes are null");
    auto made = client->client->LoadSerialized({bytes, size});
    if (!made.ok()) return ToError(made.status());
    return NewExecutable(std::move(*made), executable);
  });
}

HloError* hlo_executable_serialize(const HloExecutable* executable, HloText** bytes) {
  if (bytes != nullptr) *bytes = nullptr;
  return Guarded([&]() -> HloError* {
    if (executable == nullptr) return BadCall("the executable is null");
    auto made = executable->executable.Serialize();
    if (!made.ok()) return ToError(made.status());
    return NewText(std::move(*made), bytes);
  });
}

int64_t hlo_executable_argument_count(const HloExecutable* executable) {
  return executable == nullptr ? -1 : static_cast<int64_t>(executable->arguments.size());
}
int64_t hlo_executable_result_count(const HloExecutable* executable) {
  return executable == nullptr ? -1 : static_cast<int64_t>(executable->results.size());
}

HloError* hlo_executable_argument(const HloExecutable* executable, int64_t number, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (executable == nullptr) return BadCall("the executable is null");
    return DescribeArray(executable->arguments, number, array);
  });
}
HloError* hlo_executable_result(const HloExecutable* executable, int64_t number, HloArray* array) {
  return Guarded([&]() -> HloError* {
    if (executable == nullptr) return BadCall("the executable is null");
    return DescribeArray(executable->results, number, array);
  });
}

HloError* hlo_executable_execute(const HloExecutable* executable, const HloArray* arguments,
                                 size_t arguments_count, HloArray* results, size_t results_count) {
  return Guarded([&]() -> HloError* {
    if (executable == nullptr) return BadCall("the executable is null");
    if (arguments_count != executable->arguments.size() || (arguments == nullptr && arguments_count != 0))
      return BadCall("{0} arguments, the program takes {1} arrays", arguments_count,
                     executable->arguments.size());
    if (results_count != executable->results.size() || (results == nullptr && results_count != 0))
      return BadCall("{0} results, the program has {1}", results_count, executable->results.size());
    if (HloError* error = CheckResults(executable->results, results)) return error;
    const ExecutableState& state = *ExecutableState::Get(executable->executable);
    if (state.devices.size() != 1) return BadCall("the program has {0} devices", state.devices.size());
    std::vector<std::vector<hlo::Literal>> values(1);
    values[0].resize(state.parameters.size());
    size_t next = 0;
    for (size_t p = 0; p < state.parameters.size(); ++p)
      if (HloError* error = TakeValue(arguments, next, state.parameters[p], values[0][p])) return error;
    const auto done = state.program->Run(std::move(values), state.execution);
    if (!done) return ToError(ToStatus(done.error()));
    next = 0;
    return GiveValue(done->results.front(), results, next);
  });
}

void hlo_executable_free(HloExecutable* executable) { delete executable; }

}  // extern "C"
