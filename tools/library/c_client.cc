// hlo/hlo_c.h: clients, and what programs exchange with the host.
#include "tools/library/c_program.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace hlo_toolkit::internal {

HloError* ReadLevel(const char* text, int& level) {
  if (text == nullptr) return nullptr;
  if (llvm::StringRef(text).getAsInteger(10, level) || level < 0 || level > 3)
    return BadCall("there is no optimization level '{0}'", text);
  return nullptr;
}

}  // namespace hlo_toolkit::internal

namespace {

HloError* ReadInt(int64_t value, const char* what, int& to) {
  if (value < 0 || value > INT32_MAX) return BadCall("{0} {1}", value, what);
  to = static_cast<int>(value);
  return nullptr;
}

HloError* ReadIndex(const int64_t* value, const char* what, std::optional<int>& to) {
  return value == nullptr ? nullptr : ReadInt(*value, what, to.emplace());
}

HloError* ReadOptions(const HloClientOptions* given, ClientOptions& mine, CompileOptions& compile) {
  HloClientOptions read;
  if (HloError* error = ReadStruct(given, "the options", read)) return error;
  if (read.platform != nullptr) mine.platform = read.platform;
  if (read.threads < 0 || read.threads > INT32_MAX) return BadCall("a client of {0} threads", read.threads);
  mine.threads = static_cast<int>(read.threads);
  bool no_cache = false;
  if (HloError* error = ReadFlag(read.no_cache, "no_cache", no_cache)) return error;
  mine.cache = !no_cache;
  if (read.cache_folder != nullptr) mine.cache_folder = read.cache_folder;
  mine.memory_limit = read.memory_limit;
  mine.time_limit = std::chrono::milliseconds(read.time_limit_ms);
  if (read.seed != nullptr) mine.seed = *read.seed;
  if (read.gpu_target != nullptr) mine.gpu_target = read.gpu_target;
  if (read.launcher != nullptr) mine.launcher = read.launcher;
  if (read.coordinator != nullptr) mine.coordinator = read.coordinator;
  if (HloError* error = ReadIndex(read.process_index, "is no number of a process", mine.process_index))
    return error;
  if (HloError* error = ReadIndex(read.process_count, "processes", mine.process_count)) return error;
  if (HloError* error = ReadInt(read.device_count, "devices", mine.device_count)) return error;
  if (mine.device_count == 0 && mine.launcher == "threads") mine.device_count = 1;
  return ReadLevel(read.optimization_level, compile.optimization_level);
}

/// The shape of a value whose arrays a caller has, as text or, without, as that of its only array.
HloError* ShapeOfValue(const char* text, const HloArray* arrays, size_t count, hlo::Shape& shape) {
  Shape made;
  if (arrays == nullptr && count != 0) return BadCall("the arrays are null");
  if (text != nullptr) {
    auto parsed = ParseShape(text);
    if (!parsed.ok()) return ToError(parsed.status());
    made = std::move(*parsed);
  } else {
    if (count != 1) return BadCall("{0} arrays without the shape of the value that they are", count);
    HloArray array;
    if (HloError* error = ReadStruct(arrays, "the fields of an array", array)) return error;
    array.minor_to_major = nullptr;
    if (HloError* error = ShapeOf(array, "the array", made)) return error;
  }
  auto inner = ToShape(made);
  if (!inner) return ToError(ToStatus(inner.error()));
  shape = std::move(*inner);
  std::vector<hlo::Shape> wanted;
  AddArrays(shape, wanted);
  if (wanted.size() == count) return nullptr;
  return BadCall("{0} arrays, {1} has {2}", count, hlo::ToString(shape), wanted.size());
}

}  // namespace

extern "C" {

HloError* hlo_client_create(const HloClientOptions* options, HloClient** client) {
  return GuardedMaking(client, [&]() -> HloError* {
    if (client == nullptr) return BadCall("there is no place for the client");
    ClientOptions mine;
    CompileOptions compile;
    if (HloError* error = ReadOptions(options, mine, compile)) return error;
    auto made = Client::Create(mine);
    if (!made.ok()) return ToError(made.status());
    return Give(CClient{std::move(*made), compile}, client);
  });
}

HloError* hlo_client_cancel(HloClient* client, int cancel) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    bool stop = false;
    if (HloError* error = ReadFlag(cancel, "cancel", stop)) return error;
    stop ? client->get().client->Cancel() : client->get().client->ClearCancellation();
    return nullptr;
  });
}

void hlo_client_free(HloClient* client) { Handles<HloClient>::Free(client); }

int64_t hlo_client_device_count(const HloClient* client) {
  return client == nullptr || !client->IsOpen() ? -1 : client->get().client->device_count();
}
int64_t hlo_client_process_index(const HloClient* client) {
  return client == nullptr || !client->IsOpen() ? -1 : client->get().client->process_index();
}
int64_t hlo_client_process_of(const HloClient* client, int64_t device) {
  if (client == nullptr || !client->IsOpen()) return -1;
  const Client& mine = *client->get().client;
  if (device < 0 || device >= mine.device_count()) return -1;
  return hlo::processes::OwnerOf(device, mine.device_count(), mine.process_count());
}

HloError* hlo_client_infeed(const HloClient* client, int64_t device, const char* shape,
                            const HloArray* arrays, size_t count) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    hlo::Shape wanted;
    if (HloError* error = ShapeOfValue(shape, arrays, count, wanted)) return error;
    std::vector<hlo::Literal> value;
    size_t next = 0;
    if (HloError* error = TakeValue(arrays, next, wanted, value)) return error;
    return ToError(
        client->get().client->TransferToInfeed(LiteralAccess::Make(value.front().Copy()), DeviceOf(device)));
  });
}

HloError* hlo_client_outfeed(const HloClient* client, int64_t device, const char* shape, HloArray* arrays,
                             size_t count) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    hlo::Shape wanted;
    if (HloError* error = ShapeOfValue(shape, arrays, count, wanted)) return error;
    std::vector<hlo::Shape> parts;
    AddArrays(wanted, parts);
    size_t next = 0;
    if (HloError* error = CheckResults(parts, arrays, next)) return error;
    const Shape outer = FromShape(wanted);
    const auto value = client->get().client->TransferFromOutfeed(&outer, DeviceOf(device));
    if (!value.ok()) return ToError(value.status());
    next = 0;
    GiveValue(*LiteralAccess::Get(*value), arrays, next);
    return nullptr;
  });
}

HloError* hlo_client_channel(const HloClient* client, int64_t* channel) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(client)) return error;
    if (channel == nullptr) return BadCall("there is no place for the channel");
    *channel = client->get().client->CreateChannelHandle().handle();
    return nullptr;
  });
}

}  // extern "C"
