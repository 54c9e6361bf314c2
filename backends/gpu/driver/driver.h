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
using CuGraphNode = void*;
using CuGraphCondition = uint64_t;

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

/// A node of a graph that does other graphs, its bodies, by what a kernel before it has set its condition to.
struct CuConditionalNode {
  enum Type : int { If = 0, While = 1, Switch = 2 };
  static constexpr int kKind = 13;
  int kind = kKind;
  int reserved[3] = {};
  CuGraphCondition condition = 0;
  int type = If;
  unsigned count = 1;
  CuGraph* bodies = nullptr;  // the driver's, as many
  CuContext context = nullptr;
  int64_t padding[26] = {};  // other kinds of nodes are larger
};
/// How graphs are made.
struct CuGraphFlags {
  enum Mode : int { ThisThread = 1 };            // of captures: others may do what a graph cannot hold
  enum Dependencies : unsigned { Replace = 1 };  // those of a capture: not those that it had
};

/// Interfaces up to this version are those of every driver that this program runs with.
inline constexpr int kOldestDriver = 12000;
/// Of nodes that have several bodies.
inline constexpr int kSwitchVersion = 12080;

/// Whoever calls the driver calls it through this. Null: a function that the driver may lack, and does.
struct DriverApi {
#define CU_FUNCTION(name, symbol, version, parameters) CuResult(*name) parameters = nullptr;
#include "backends/gpu/driver/functions.def"
};

/// A function of the table: its symbol in libcuda and the version of its interface that is wanted.
struct DriverFunction {
  llvm::StringRef name, symbol;
  int version;
  size_t offset;  // in DriverApi
  /// The symbol without the version of its interface.
  [[nodiscard]] llvm::StringRef base() const;
  [[nodiscard]] bool MayBeMissing() const { return version > kOldestDriver; }
};
llvm::ArrayRef<DriverFunction> DriverFunctions();

}  // namespace hlo::gpu
