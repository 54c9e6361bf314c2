#include "backends/gpu/emulator/emulated_driver.h"

#include "backends/gpu/emulator/driver_state.h"

namespace hlo::gpu {
namespace emulated {

namespace {

struct Current {
  uint64_t generation = 0;
  int device = -1;
};
thread_local Current current_of_thread;

}  // namespace

Driver& TheDriver() {
  static Driver driver;
  return driver;
}

int Driver::current() const {
  return current_of_thread.generation == generation ? current_of_thread.device : -1;
}
void Driver::SetCurrent(int device) const { current_of_thread = {generation, device}; }

Call::Call(llvm::StringRef name, Needs needs) : lock_(TheDriver().mutex) {
  Driver& driver = TheDriver();
  const uint64_t number = ++driver.calls[name];
  for (const PlannedFault& fault : driver.options.faults)
    if (fault.function == name && fault.call == number) {
      result_ = fault.result;
      if (IsLost(result_)) driver.sticky = result_;
      return;
    }
  if (needs == Needs::Nothing) return;
  if (!driver.initialized) result_ = CuResult::NotInitialized;
  if (needs != Needs::Context || result_ != CuResult::Success) return;
  if (driver.sticky != CuResult::Success)
    result_ = driver.sticky;
  else if (driver.current() < 0)
    result_ = CuResult::InvalidContext;
}

}  // namespace emulated

using emulated::Driver;
using emulated::TheDriver;

const DriverApi& StartEmulatedDriver(const EmulatedDriverOptions& options) {
  static DriverApi api;
  const int newest = std::max(options.version, kOldestDriver);
#define CU_FUNCTION(name, symbol, since, parameters) api.name = (since) <= newest ? &emulated::name : nullptr;
#include "backends/gpu/driver/functions.def"
  Driver& driver = TheDriver();
  const std::lock_guard lock(driver.mutex);
  driver.work.Start(0);
  driver.modules.clear();
  driver.events.clear();
  driver.streams.clear();
  driver.graphs.clear();
  driver.graph_execs.clear();
  driver.handles.clear();
  driver.host_memory.clear();
  driver.devices.clear();
  driver.calls.clear();
  driver.initialized = false;
  ++driver.generation;
  driver.sticky = CuResult::Success;
  driver.report.clear();
  driver.options = options;
  return api;
}

Status GrowEmulatedDriver(int devices) {
  Driver& driver = TheDriver();
  const std::lock_guard lock(driver.mutex);
  while (driver.initialized && static_cast<int>(driver.devices.size()) < devices) {
    HLO_TRY(driver.devices.emplace_back(), Device::Create(driver.options.device));
  }
  driver.options.devices = std::max(driver.options.devices, devices);
  return {};
}

std::string EmulatedReport() {
  const std::lock_guard lock(TheDriver().mutex);
  return TheDriver().report;
}

void ForgetEmulatedMemory(CuStream stream, CuDevicePtr address, size_t bytes) {
  const std::lock_guard lock(TheDriver().mutex);
  const auto number = emulated::StreamOf(stream);
  if (TheDriver().current() < 0 || bytes == 0 || !number) return;
  Operation operation;
  operation.device = &TheDriver().device();
  operation.run = [address, bytes, &device = TheDriver().device()] {
    device.memory().SetWritten(address, bytes, /*written=*/false);
    return CuResult::Success;
  };
  (void)TheDriver().work.Add(*number, std::move(operation));
}

Counts EmulatedCounts() {
  const std::lock_guard lock(TheDriver().mutex);
  const Driver& driver = TheDriver();
  const int current = driver.current();
  if (driver.devices.empty()) return {};
  return driver.devices[static_cast<size_t>(std::max(current, 0))]->counts();
}

}  // namespace hlo::gpu
