// The conformance suite: its cases, their data, and its verdict on results (testdata/conformance/README.md).
#pragma once
#include <string>
#include <vector>

#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::testing {

/// How far the elements of an output may be off.
struct ResultBound {
  enum class Mode : uint8_t { Exact, Ulp, Close, Norm, Any };
  Mode mode = Mode::Exact;
  double abs = 0, rel = 0, ulp = 0;
};

/// One array of a parameter (number, then the place in its tuple) or of the result (its place in the root's
/// tuple; {0} for a root that is an array).
struct CaseLeaf {
  std::vector<int64_t> index;
  ResultBound bound;  // of results
};

struct ConformanceCase {
  std::string name;        // `suite/name`
  std::string tier;        // core, model, lapack or collective
  std::string file, data;  // paths
  std::vector<CaseLeaf> parameters, outputs;
  int64_t devices = 1;
};

/// The cases of the suite in a folder. Errors: input-open, input-format.
Result<std::vector<ConformanceCase>> ReadConformanceCases(llvm::StringRef folder);

/// A case in memory.
struct LoadedCase {
  std::unique_ptr<Module> module;
  std::vector<std::vector<Literal>> arguments;  // by device and parameter
  std::vector<std::vector<Literal>> expected;   // by device and output
};
/// Errors: those of the parser; input-array.
Result<LoadedCase> LoadCase(const ConformanceCase& conformance_case);

/// What is wrong with the results (one per device), or nothing.
std::string JudgeResults(const ConformanceCase& conformance_case, const LoadedCase& loaded,
                         llvm::ArrayRef<Literal> results);

}  // namespace hlo::testing
