// What programs exchange with the host and with each other while they run.
#pragma once
#include "ir/literal.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Takes the place of the queues that a run brings along (ExecutionOptions::infeeds). Devices are numbered as
/// replica * partitions + partition; their threads share it.
class HostTransfers {
 public:
  HostTransfers() = default;
  HostTransfers(const HostTransfers&) = delete;
  HostTransfers& operator=(const HostTransfers&) = delete;
  virtual ~HostTransfers() = default;

  /// Asked again and again while a device waits: an error ends that.
  using Check = llvm::function_ref<Status()>;

  /// The next value for the device; waits until there is one. Errors: those of `check`.
  virtual Result<Literal> Take(int64_t device, Check check) = 0;
  /// A value that the device has for the host.
  virtual void Put(int64_t device, Literal value) = 0;

  /// Whether what is sent through the channel may be received by another program.
  [[nodiscard]] virtual bool Connects(int64_t channel) const = 0;
  virtual void Send(int64_t channel, int64_t source, int64_t target, Literal value) = 0;
  /// Waits for the value. Errors: those of `check`.
  virtual Result<Literal> Receive(int64_t channel, int64_t source, int64_t target, Check check) = 0;
};

}  // namespace hlo
