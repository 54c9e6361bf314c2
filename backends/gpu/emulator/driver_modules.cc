// Modules, functions, launches.
#include "backends/gpu/emulator/driver_state.h"
#include "backends/gpu/ptx/parser.h"

namespace hlo::gpu::emulated {

namespace {

/// Into the buffer for errors that the caller gave.
void Log(unsigned count, const int* options, void** values, const std::string& text) {
  char* buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CuAttribute::ErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == CuAttribute::ErrorLogBytes) bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (buffer != nullptr && bytes != 0) std::snprintf(buffer, bytes, "%s", text.c_str());
}

}  // namespace

CuResult ModuleLoadDataEx(CuModule* module, const void* image, unsigned count, int* options, void** values) {
  const Call call("ModuleLoadDataEx", Needs::Context);
  if (call.failed()) return call.result();
  if (image == nullptr) return CuResult::InvalidValue;
  Driver& driver = TheDriver();
  auto loaded = std::make_unique<EmulatedModule>();
  loaded->source = std::make_shared<SourceBuffer>("ptx", std::string(static_cast<const char*>(image)));
  if (!loaded->source->text().ltrim().starts_with(".version") &&
      !loaded->source->text().ltrim().starts_with("//"))
    return CuResult::InvalidImage;
  auto parsed = ptx::ParseModule(loaded->source);
  if (!parsed) {
    Log(count, options, values, Render(parsed.error()));
    return CuResult::InvalidPtx;
  }
  const bool specific = (*parsed)->arch_specific && (*parsed)->sm != driver.options.device.sm;
  if ((*parsed)->sm > driver.options.device.sm || specific) return CuResult::NoBinaryForGpu;
  auto code = LoadedModule::Load(*parsed, driver.device());
  if (!code) {
    Log(count, options, values, Render(code.error()));
    return code.error().id == DiagnosticId("limit-memory") ? CuResult::OutOfMemory : CuResult::InvalidPtx;
  }
  loaded->code = std::move(*code);
  for (const ptx::Function& function : (*parsed)->functions)
    if (function.entry && function.defined)
      loaded->functions[function.name] = {loaded->code.get(), &function};
  *module = loaded.get();
  driver.modules[loaded.get()] = std::move(loaded);
  return CuResult::Success;
}

CuResult ModuleUnload(CuModule module) {
  const Call call("ModuleUnload", Needs::Context);
  if (call.failed()) return call.result();
  const CuResult result = TheDriver().work.FinishAll();
  if (TheDriver().modules.erase(module) == 0) return CuResult::InvalidHandle;
  return TheDriver().sticky != CuResult::Success ? TheDriver().sticky : result;
}

CuResult ModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  const Call call("ModuleGetFunction", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().modules.find(module);
  if (it == TheDriver().modules.end()) return CuResult::InvalidHandle;
  const auto found = it->second->functions.find(std::string_view(name));
  if (found == it->second->functions.end()) return CuResult::NotFound;
  *function = &found->second;
  return CuResult::Success;
}

CuResult ModuleGetGlobal(CuDevicePtr* address, size_t* bytes, CuModule module, const char* name) {
  const Call call("ModuleGetGlobal", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().modules.find(module);
  if (it == TheDriver().modules.end()) return CuResult::InvalidHandle;
  const auto found = it->second->code->FindVariable(name);
  if (!found) return CuResult::NotFound;
  if (address != nullptr) *address = found->first;
  if (bytes != nullptr) *bytes = found->second;
  return CuResult::Success;
}

namespace {

EmulatedFunction* FindFunction(CuFunction function) {
  for (const auto& [key, module] : TheDriver().modules)
    for (auto& [name, known] : module->functions)
      if (&known == function) return &known;
  return nullptr;
}

}  // namespace

CuResult FuncGetAttribute(int* value, int attribute, CuFunction function) {
  const Call call("FuncGetAttribute", Needs::Context);
  if (call.failed()) return call.result();
  const EmulatedFunction* known = FindFunction(function);
  if (known == nullptr) return CuResult::InvalidHandle;
  const ptx::Function& entry = *known->entry;
  const unsigned threads = entry.reqntid[0] * entry.reqntid[1] * entry.reqntid[2];
  const std::pair<int, int> values[] = {
      {CuAttribute::FunctionMaxThreadsPerBlock, threads != 0 ? static_cast<int>(threads) : 1024},
      {CuAttribute::FunctionSharedBytes, static_cast<int>(entry.shared_bytes)},
      {CuAttribute::FunctionLocalBytes, static_cast<int>(entry.local_bytes)},
      {CuAttribute::FunctionRegisters, 1},
      {CuAttribute::FunctionMaxDynamicSharedBytes, known->dynamic_shared}};
  for (const auto& [key, of] : values)
    if (key == attribute) {
      *value = of;
      return CuResult::Success;
    }
  return CuResult::InvalidValue;
}

CuResult FuncSetAttribute(CuFunction function, int attribute, int value) {
  const Call call("FuncSetAttribute", Needs::Context);
  if (call.failed()) return call.result();
  EmulatedFunction* known = FindFunction(function);
  if (known == nullptr) return CuResult::InvalidHandle;
  const uint64_t most = LimitsOf(TheDriver().options.device.sm).shared_per_block;
  if (attribute != CuAttribute::FunctionMaxDynamicSharedBytes || value < 0 ||
      static_cast<uint64_t>(value) + known->entry->shared_bytes > most)
    return CuResult::InvalidValue;
  known->dynamic_shared = value;
  return CuResult::Success;
}

namespace {

/// What a kernel did wrong, as the driver says it.
CuResult ResultOf(FaultKind kind) {
  static constexpr std::pair<FaultKind, CuResult> kResults[] = {
      {FaultKind::OutOfBounds, CuResult::IllegalAddress},
      {FaultKind::Freed, CuResult::IllegalAddress},
      {FaultKind::ReadOnly, CuResult::IllegalAddress},
      {FaultKind::Misaligned, CuResult::MisalignedAddress},
      {FaultKind::Interrupted, CuResult::LaunchTimeout}};
  for (const auto& [of, result] : kResults)
    if (of == kind) return result;
  return CuResult::LaunchFailed;
}

}  // namespace

/// Errors of the kernel itself come with the next call, as from a card.
CuResult LaunchKernel(CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CuStream stream,
                      void** params, void** extra) {
  const Call call("LaunchKernel", Needs::Context);
  if (call.failed()) return call.result();
  Driver& driver = TheDriver();
  const EmulatedFunction* known = FindFunction(function);
  const auto number = StreamOf(stream);
  if (known == nullptr || !number) return CuResult::InvalidHandle;
  const ptx::Function& entry = *known->entry;
  if (extra != nullptr || (params == nullptr && !entry.params.empty())) return CuResult::InvalidValue;
  const LaunchSize size{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
  const std::string refused = driver.device().CheckLaunch(entry, size);
  if (!refused.empty() || shared > static_cast<unsigned>(known->dynamic_shared)) {
    driver.report = "kernel '" + entry.name +
                    "': " + (refused.empty() ? "more dynamic shared memory than was allowed" : refused);
    return CuResult::InvalidValue;
  }
  std::vector<uint8_t> packed(entry.param_bytes + 8);
  for (size_t i = 0; i < entry.params.size(); ++i)
    std::memcpy(packed.data() + entry.params[i]->offset, params[i], entry.params[i]->size);
  Operation operation;
  operation.device = &driver.device();
  operation.run = [&driver, &device = driver.device(), module = known->module, &entry, size,
                   packed = std::move(packed)] {
    const Fault fault = device.Launch(*module, entry, size, packed.data());
    if (!fault) return CuResult::Success;
    driver.report = fault.text;
    return driver.sticky = ResultOf(fault.kind);
  };
  (void)driver.work.Add(*number, std::move(operation));
  return CuResult::Success;
}

}  // namespace hlo::gpu::emulated
