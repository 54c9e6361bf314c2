// What the emulated driver has; its functions are in several files.
#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "backends/gpu/emulator/emulated_driver.h"

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

struct EmulatedEvent {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

/// All that the driver has. Work is done when it is asked for, so that streams are in order by themselves.
struct Driver {
  std::mutex mutex;
  EmulatedDriverOptions options;
  bool initialized = false;
  std::vector<std::unique_ptr<Device>> devices;
  int current = -1;
  std::map<void*, std::unique_ptr<EmulatedModule>> modules;
  std::map<void*, std::unique_ptr<EmulatedEvent>> events;
  std::set<void*> streams;
  std::map<void*, std::unique_ptr<char[]>> host_memory;
  std::map<llvm::StringRef, uint64_t> calls;
  CuResult sticky = CuResult::Success;
  std::string report;

  [[nodiscard]] Device& device() { return *devices[static_cast<size_t>(current)]; }
};

Driver& TheDriver();

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
