// A GPU through the functions of its driver, whose errors are diagnostics.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backends/gpu/driver/driver.h"
#include "backends/gpu/libraries/lent_driver.h"
#include "backends/profile.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// Of errors of the driver and of what kernels do.
inline constexpr DiagnosticId kGpuErrorId = "runtime-gpu";

/// The driver of a platform.
struct DriverBinding {
  const DriverApi* api = nullptr;
  /// What else is known of the last error; empty or null: nothing.
  std::function<std::string()> report;
  /// What kernels have done so far; null where nobody counts.
  std::function<DeviceCounts()> counts;
  /// Bytes are written anew when it is the stream's turn: reading them before is a mistake. Null where nobody
  /// looks.
  std::function<void(CuStream stream, CuDevicePtr address, size_t bytes)> forget;
  /// Work is done when it is asked for: waiting for it costs nothing.
  bool synchronous = false;
  /// What libraries for it are given of it; null: they find it.
  const LentDriver* lent = nullptr;
};

/// Kernels that set conditions of graphs, by which these do loops and branches.
struct ConditionSetters {
  CuFunction loop = nullptr;    // (condition, predicate, stop): whether it goes on; not if `stop` is not 0
  CuFunction branch = nullptr;  // (condition, selector, its bytes, branches, which; all ones: the chosen one)
  bool switches = false;        // a node may have a body for each branch
  std::string why_not;          // there are none
};

/// One GPU; several threads may use it at once. After an error that its context does not survive every call
/// gives that error again, without asking the driver.
class Gpu {
 public:
  /// Takes the GPU of this number. Errors: unavailable-gpu, if there is none that runs code for `sm`;
  /// kGpuErrorId.
  static Result<std::shared_ptr<Gpu>> Open(DriverBinding driver, int ordinal, int sm);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// Calls a function of the table. Errors: kGpuErrorId; limit-memory, where the GPU has none left;
  /// interrupted and limit-timeout.
  template <class... P, class... A>
  Status Call(CuResult (*DriverApi::*function)(P...), A... arguments) {
    HLO_CHECK_OK(Alive());
    const CuResult result = (driver_.api->*function)(static_cast<P>(arguments)...);
    if (result == CuResult::Success) return {};
    const auto* base = reinterpret_cast<const char*>(driver_.api);
    const auto* at = reinterpret_cast<const char*>(&(driver_.api->*function));
    return Error(ErrorOf(static_cast<size_t>(at - base), result));
  }
  /// Calls of this thread are for this GPU from now on.
  Status MakeCurrent() { return Call(&DriverApi::CtxSetCurrent, context_); }
  /// Loads PTX. Errors: compile-kernels, with what the driver says of it; those of Call().
  Result<CuModule> LoadModule(const std::string& ptx);
  /// Whether all is done that an event or a stream stands for, as `function` knows. Errors: those of Call().
  Result<bool> IsDone(CuResult (*DriverApi::*function)(void*), void* what);
  /// Loaded by the first call, which no stream may be captured by.
  const ConditionSetters& Setters();
  /// Why there are none, as a remark, once, if somebody has asked for them.
  std::optional<Diagnostic> TakeRemark();
  [[nodiscard]] CuContext context() const { return context_; }
  [[nodiscard]] bool IsLost() const { return !Alive(); }
  void Forget(CuStream stream, CuDevicePtr address, size_t bytes) const {
    if (driver_.forget) driver_.forget(stream, address, bytes);
  }
  [[nodiscard]] const std::function<DeviceCounts()>& counts() const { return driver_.counts; }
  [[nodiscard]] bool synchronous() const { return driver_.synchronous; }
  [[nodiscard]] const LentDriver* lent() const { return driver_.lent; }
  /// GPUs that the driver sees, this one among them.
  [[nodiscard]] int count() const { return count_; }
  /// Its number among them.
  [[nodiscard]] int ordinal() const { return ordinal_; }

 private:
  explicit Gpu(DriverBinding driver) : driver_(std::move(driver)) {}
  [[nodiscard]] Status Alive() const;
  Diagnostic ErrorOf(size_t offset, CuResult result);
  Status LoadSetters();

  DriverBinding driver_;
  int count_ = 0, ordinal_ = 0;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  bool retained_ = false;
  std::once_flag setters_are_loaded_;
  ConditionSetters setters_;
  std::atomic<bool> has_remark_ = false;
  mutable std::mutex mutex_;
  std::optional<Diagnostic> lost_;  // the error that the context did not survive
};
using GpuPtr = std::shared_ptr<Gpu>;

/// Memory of a GPU.
class DeviceMemoryBlock {
 public:
  DeviceMemoryBlock() = default;
  /// Errors: limit-memory, and those of Gpu::Call().
  static Result<DeviceMemoryBlock> Allocate(const GpuPtr& gpu, int64_t bytes);
  DeviceMemoryBlock(DeviceMemoryBlock&& o) noexcept : gpu_(std::move(o.gpu_)), address_(o.address_) {
    o.gpu_.reset();
  }
  DeviceMemoryBlock& operator=(DeviceMemoryBlock&& o) noexcept {
    std::swap(gpu_, o.gpu_);
    std::swap(address_, o.address_);
    return *this;
  }
  ~DeviceMemoryBlock();
  [[nodiscard]] CuDevicePtr address() const { return address_; }

 private:
  GpuPtr gpu_;  // null: there is nothing
  CuDevicePtr address_ = 0;
};

}  // namespace hlo::gpu
