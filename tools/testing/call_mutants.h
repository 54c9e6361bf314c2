// Calls of every built-in custom-call target, right and spoilt, on both platforms: what fits the signature
// runs and gives the same values, what does not is refused with an error that says so.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::testing {

struct CallMutantOptions {
  uint64_t seed = 1;
  int64_t from = 0, count = 1000;  // mutants are numbered
  bool print = false;              // each one's text
  bool show_mutations = false;     // a table of what each mutation came to
  void (*begin)() = [] {};         // called before each
};

/// What became of mutants.
struct CallCounts {
  int64_t accepted = 0;                 // run, with equal results
  int64_t unchanged = 0;                // of them calls as they were made
  int64_t unreadable = 0, invalid = 0;  // refused by the parser, by the verifier
  int64_t not_run = 0;                  // refused by both platforms
  int64_t too_large = 0;                // valid, but takes too much memory
  [[nodiscard]] int64_t refused() const { return unreadable + invalid + not_run; }
};

/// Prints counts by target and whatever is wrong; returns how much is. A target that was never accepted or,
/// though its signature asks for something, never refused, is wrong too if there were enough mutants.
int64_t CheckCallMutants(const CallMutantOptions& options, llvm::raw_ostream& os);

/// The text and number of the mutant that is being looked at, for reports of crashes; empty: none.
const std::string& CurrentCallMutant();

}  // namespace hlo::testing
