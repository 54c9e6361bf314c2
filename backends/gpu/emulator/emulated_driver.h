// A stand-in for libcuda: the same functions, an emulated device behind them.
#pragma once
#include <string>

#include "backends/gpu/driver/driver.h"
#include "backends/gpu/emulator/device.h"

namespace hlo::gpu {

/// The n-th call of a function (by its name in the table, from 1) gives an error, which stays if it is of
/// those that a context does not survive.
struct PlannedFault {
  std::string function;
  uint64_t call = 1;
  CuResult result = CuResult::Unknown;
};

struct EmulatedDriverOptions {
  DeviceOptions device;
  int devices = 1;
  int version = kSwitchVersion;  // functions of newer interfaces are null
  std::vector<PlannedFault> faults;
};

/// What is asked for on a stream is done at once or, with a seed, when something waits for it or at times
/// that the seed gives. Work of other streams that no event orders, and that touches the same bytes, is
/// found.
///
/// Starts anew: what an earlier one had is gone. The functions may be called from several threads; one at a
/// time runs.
const DriverApi& StartEmulatedDriver(const EmulatedDriverOptions& options);
/// Gives the one that runs as many devices, if it has fewer. Errors: limit-memory.
Status GrowEmulatedDriver(int devices);
/// What kernels did wrong last; empty: nothing.
std::string EmulatedReport();
/// What is in memory of the current device counts as written by nobody, when it is the stream's turn: reads
/// of it are reported.
void ForgetEmulatedMemory(CuStream stream, CuDevicePtr address, size_t bytes);
/// What all kernels of the current device did so far.
Counts EmulatedCounts();

}  // namespace hlo::gpu
