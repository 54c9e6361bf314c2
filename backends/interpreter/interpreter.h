// The interpreter backend: runs a module op by op on N simulated devices in one process.
#pragma once
#include <chrono>
#include <memory>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// Options of one run; see tools.md §3.7 and ops-structured §12.4.
struct InterpreterOptions {
  int64_t replica_count = 1;
  int64_t partition_count = 1;
  uint64_t rng_seed = 42;
  std::chrono::milliseconds collective_timeout{30000};
  /// Runs this device alone: the others contribute what changes nothing (reductions) or zeros.
  std::optional<int64_t> only_device;
  /// Infeed data per device, taken in order; what outfeed wrote is appended to outfeeds.
  std::vector<std::vector<Literal>> infeeds;
  /// What to do with custom-call targets nobody implements: error, zeros or identity, by target.
  llvm::StringMap<std::string> missing_custom_calls;
  /// Called as work goes on, from any thread: instructions done so far and the current one.
  std::function<void(const Instruction&)> on_instruction;
};

struct InterpreterResult {
  std::vector<Literal> results;                // per device r * partitions + p; of those that ran
  std::vector<std::vector<Literal>> outfeeds;  // per device
};

/// Everything the interpreter cannot run is found before any work: id unsupported-…, exit 5.
Status CheckSupported(const Module& module, const InterpreterOptions& options);
/// Runs the entry computation on arguments[device][parameter]. Errors at run time: id runtime-…, exit 6.
Result<InterpreterResult> RunModule(const Module& module, std::vector<std::vector<Literal>> arguments,
                                    const InterpreterOptions& options);

}  // namespace hlo
