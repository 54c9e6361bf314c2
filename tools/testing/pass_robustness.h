// Every pass alone over modules of any form: none may crash, make an invalid module or change results.
#pragma once
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::testing {

struct RobustnessOptions {
  std::vector<std::string> folders;  // of .hlo files, `_test.hlo` files in cases; or files
  std::vector<std::string> passes;   // names; empty: all
  int64_t every = 1, from = 0;       // only every n-th module, from that one on
  int64_t max_bytes = 64 << 10;      // longer modules are left out
  bool execute = false;              // small modules are run before and after each pass
  bool strict = false;               // the same bits after it, under --strict-fp; else rounding aside
};

/// Runs passes after what establishes the facts that they require, each module in a process of its own.
/// Modules that are not valid are left out. Prints what crashed, failed, or made an invalid module (with
/// layouts, where the pass requires them), and returns how many did. With `execute` also what makes other
/// results, on made-up arguments; modules with random numbers or that take long are left out.
Result<int64_t> CheckRobustness(const RobustnessOptions& options, llvm::raw_ostream& os);

}  // namespace hlo::testing
