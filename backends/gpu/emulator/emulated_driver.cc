#include "backends/gpu/emulator/emulated_driver.h"

#include "backends/gpu/emulator/driver_state.h"

namespace hlo::gpu {
namespace emulated {

Driver& TheDriver() {
  static Driver driver;
  return driver;
}

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
  else if (driver.current < 0)
    result_ = CuResult::InvalidContext;
}

}  // namespace emulated

using emulated::Driver;
using emulated::TheDriver;

const DriverApi& StartEmulatedDriver(const EmulatedDriverOptions& options) {
  static const DriverApi api = {
#define CU_FUNCTION(name, symbol, version, parameters) &emulated::name,
#include "backends/gpu/driver/functions.def"
  };
  Driver& driver = TheDriver();
  const std::lock_guard lock(driver.mutex);
  driver.work.Start(0, nullptr);
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
  driver.current = -1;
  driver.sticky = CuResult::Success;
  driver.report.clear();
  driver.options = options;
  return api;
}

std::string EmulatedReport() {
  const std::lock_guard lock(TheDriver().mutex);
  return TheDriver().report;
}

void ForgetEmulatedMemory(CuStream stream, CuDevicePtr address, size_t bytes) {
  const std::lock_guard lock(TheDriver().mutex);
  const auto number = emulated::StreamOf(stream);
  if (TheDriver().current < 0 || bytes == 0 || !number) return;
  Operation operation;
  operation.run = [address, bytes, &device = TheDriver().device()] {
    device.memory().SetWritten(address, bytes, /*written=*/false);
    return CuResult::Success;
  };
  (void)TheDriver().work.Add(*number, std::move(operation));
}

Counts EmulatedCounts() {
  const std::lock_guard lock(TheDriver().mutex);
  Counts counts;
  if (!TheDriver().devices.empty()) counts = TheDriver().devices.front()->counts();
  return counts;
}

}  // namespace hlo::gpu
