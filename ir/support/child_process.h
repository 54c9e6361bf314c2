// Other programs, run to their end.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "ir/support/result.h"

namespace hlo {

struct ChildOutcome {
  int code = 0;  // 128 + the number of a signal that ended it
  bool timed_out = false;
  std::string output;  // on standard output and standard error, in turn
};
struct ChildOptions {
  std::chrono::milliseconds timeout{0};  // 0: none
  size_t kept_output = 1 << 20;          // bytes; what is beyond is read and lost
};

/// Runs a program, by its path, with nothing on its standard input and in a process group of its own, which
/// ends with it where time is over or this process is asked to stop. Errors: input-open, if it cannot be
/// started; interrupted and limit-timeout.
Result<ChildOutcome> RunChild(const std::vector<std::string>& command, const ChildOptions& options);

}  // namespace hlo
