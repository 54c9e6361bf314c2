// What the emulated driver has; its functions are in several files.
#pragma once
#include <map>
#include <mutex>

#include "backends/gpu/emulator/emulated_driver.h"
#include "backends/gpu/emulator/streams.h"

namespace hlo::gpu::emulated {

struct EmulatedFunction {
  const LoadedModule* module = nullptr;
  const ptx::Function* entry = nullptr;
  int dynamic_shared = 48 << 10;  // at most, as it was set
};

struct EmulatedModule {
  SourcePtr source;
  std::unique_ptr<LoadedModule> code;
  std::map<std::string, EmulatedFunction, std::less<>> functions;
};

/// All that the driver has. Handles are addresses.
struct Driver {
  std::mutex mutex;
  EmulatedDriverOptions options;
  bool initialized = false;
  std::vector<std::unique_ptr<Device>> devices;
  uint64_t generation = 0;  // how often it has been started
  std::map<void*, std::unique_ptr<EmulatedModule>> modules;
  std::map<void*, StreamEventPtr> events;  // their last recordings
  Streams work;
  std::map<void*, size_t> streams;  // numbers of those of `work`
  std::map<void*, std::shared_ptr<OperationGraph>> graphs, graph_execs;
  CuGraphCondition last_condition = 0;
  std::map<void*, std::unique_ptr<char[]>> handles;  // of what has no other address
  struct HostMemory {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  std::map<const void*, HostMemory> host_memory;
  std::map<llvm::StringRef, uint64_t> calls;
  CuResult sticky = CuResult::Success;
  std::string report;

  /// The device that this thread has made the current one; -1: none, since the driver has been started.
  [[nodiscard]] int current() const;
  void SetCurrent(int device) const;
  [[nodiscard]] Device& device() { return *devices[static_cast<size_t>(current())]; }
};

Driver& TheDriver();

/// A handle that nothing else has.
void* NewHandle();

/// The number of a stream; null is the one that is always there.
std::optional<size_t> StreamOf(CuStream stream);

enum class Needs : uint8_t { Nothing, Init, Context };

/// Before each call: one at a time, planned faults, errors that stay, what must have been called before.
class Call {
 public:
  Call(llvm::StringRef name, Needs needs);
  [[nodiscard]] bool failed() const { return result_ != CuResult::Success; }
  [[nodiscard]] CuResult result() const { return result_; }

 private:
  std::unique_lock<std::mutex> lock_;
  CuResult result_ = CuResult::Success;
};

// The functions of the table.
#define CU_FUNCTION(name, symbol, version, parameters) CuResult name parameters;
#include "backends/gpu/driver/functions.def"

}  // namespace hlo::gpu::emulated
