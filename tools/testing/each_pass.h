// Every pass alone over the conformance suite, results compared with the stored ones.
#pragma once
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/pass.h"
#include "tools/testing/conformance.h"

namespace hlo::testing {

struct EachPassOptions {
  std::string suite;                // the folder with manifest.json
  std::vector<std::string> passes;  // names; empty: all
  std::string filter;               // only cases `suite/name` that contain it
  int64_t every = 1, from = 0;      // only every n-th of them, from that one on
  bool strict = false;              // under --strict-fp
};

/// What became of one pass.
struct EachPassReport {
  const PassInfo* pass = nullptr;
  int64_t cases = 0, changed = 0;
  int64_t other_bits = 0;  // changed modules whose results are right but not the same to the bit
  std::vector<std::string> failures;
};

/// Parses each case once and runs each pass on a copy, after what establishes the facts that the pass
/// requires. A changed module must verify and give the results of the suite, or where the licence of the pass
/// says so the bits of before; modules that several passes
/// agree on are executed once. Failures are printed as they come.
Result<std::vector<EachPassReport>> CheckEachPass(const EachPassOptions& options, llvm::raw_ostream& os);

/// The cases that the options select.
Result<std::vector<ConformanceCase>> SelectCases(const EachPassOptions& options);
/// How results of all devices differ in their bits, or nothing.
std::string OtherBits(llvm::ArrayRef<Literal> before, llvm::ArrayRef<Literal> after);
/// Whether the licence of the pass has it leave every bit as it is.
bool KeepsBits(const PassInfo& pass, bool strict);
/// Runs a pipeline; that it says truthfully whether it changed the module is checked.
Result<bool> RunPassesChecked(Module& module, llvm::StringRef spec, const RewritePolicy& policy = {});
/// Runs what establishes the facts. Error: pass-failed.
Status EstablishFacts(Module& module, ModuleFacts facts);

}  // namespace hlo::testing
