// The CUDA driver as a table of functions: that of libcuda, or one that stands in for it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::gpu {

// Types of the driver's interface, of the same size as its own (abi_test).
using CuDevice = int;
using CuDevicePtr = uint64_t;
using CuContext = void*;
using CuModule = void*;
using CuFunction = void*;
using CuStream = void*;
using CuEvent = void*;
using CuGraph = void*;
using CuGraphExec = void*;

enum class CuResult : int {
#define CU_ERROR(Kind, code, name, lost, text) Kind = code,
#include "backends/gpu/driver/errors.def"
};
/// "CUDA_ERROR_…" and what it means; null for codes that the table lacks.
const char* NameOf(CuResult result);
const char* TextOf(CuResult result);
/// Whether a context does not survive the error, so that all later calls give it again.
bool IsLost(CuResult result);
/// The one of a name; nothing for others.
std::optional<CuResult> ResultNamed(llvm::StringRef name);

/// Attributes of devices and functions, options of modules, as the driver numbers them.
struct CuAttribute {
  enum Device : int {
    MaxThreadsPerBlock = 1,
    MaxBlockDimX = 2,
    MaxGridDimX = 5,
    MaxSharedMemoryPerBlock = 8,
    WarpSize = 10,
    MaxRegistersPerBlock = 12,
    ClockRate = 13,
    MultiprocessorCount = 16,
    MemoryClockRate = 36,
    GlobalMemoryBusWidth = 37,
    L2CacheSize = 38,
    MaxThreadsPerMultiprocessor = 39,
    ComputeCapabilityMajor = 75,
    ComputeCapabilityMinor = 76,
    MaxSharedMemoryPerMultiprocessor = 81,
    MaxSharedMemoryPerBlockOptin = 97
  };
  enum Function : int {
    FunctionMaxThreadsPerBlock = 0,
    FunctionSharedBytes = 1,
    FunctionLocalBytes = 3,
    FunctionRegisters = 4,
    FunctionMaxDynamicSharedBytes = 8
  };
  enum Module : int { InfoLogBuffer = 3, InfoLogBytes = 4, ErrorLogBuffer = 5, ErrorLogBytes = 6 };
};

/// Whoever calls the driver calls it through this.
struct DriverApi {
#define CU_FUNCTION(name, symbol, version, parameters) CuResult(*name) parameters = nullptr;
#include "backends/gpu/driver/functions.def"
};

/// A function of the table: its symbol in libcuda and the version of its interface that is wanted.
struct DriverFunction {
  llvm::StringRef name, symbol;
  int version;
  size_t offset;  // in DriverApi
};
llvm::ArrayRef<DriverFunction> DriverFunctions();

}  // namespace hlo::gpu
