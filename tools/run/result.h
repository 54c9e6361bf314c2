// Showing results and comparisons, as text and as the object hlo.run/1 (tools.md §3.3, §3.4, §3.8).
#pragma once
#include <string>
#include <vector>

#include "tools/arrays/array_file.h"
#include "tools/run/compare.h"
#include "tools/run/expected.h"

namespace hlo {

/// What a summary says about one array.
struct ArraySummary {
  uint64_t checksum = 0;  // of its bytes
  int64_t nan = 0, inf = 0;
  int64_t min_at = -1, max_at = -1;   // linear indices; -1: none
  double min = 0, max = 0, mean = 0;  // of the numbers that are no NaN; the mean of finite ones
};
ArraySummary Summarize(const Literal& array);

/// Prints one output: in full, or min, max, mean, counts, checksum, first elements.
void PrintOutput(llvm::raw_ostream& out, llvm::StringRef label, const Literal& array, PrintMode mode);

/// One compared output.
struct OutputComparison {
  std::string label;  // `output {0}`
  Literal actual, expected;
  Comparison result;
};
/// The `MISMATCH` report of one output; `actual_name`, `expected_name` head the columns. With `brief`
/// only the first line.
void PrintMismatch(llvm::raw_ostream& out, llvm::StringRef file, llvm::StringRef actual_name,
                   llvm::StringRef expected_name, const OutputComparison& comparison, bool brief);
/// `m.hlo: MATCH cpu vs expected, 2 outputs: largest error abs 1.2e-07 rel 3.0e-06`, or `no error`.
void PrintMatchLine(llvm::raw_ostream& out, llvm::StringRef file, llvm::StringRef sides, size_t count,
                    llvm::StringRef noun, double max_abs, double max_rel);
/// `abs 1e-3 rel 1e-3`.
std::string BoundsText(const Tolerance& tolerance, ElementType type);
/// `[2,77]` of a linear index.
std::string IndexText(const Shape& shape, int64_t linear);

/// One row of the final table and of the result object.
struct ModuleResult {
  std::string file, module, status;
  std::string platform, reference;  // reference: empty if there is none
  int exit_code = 0;
  uint64_t seed = 0;
  int64_t parse_ns = 0, compile_ns = 0;
  std::optional<int64_t> device_ns;  // of one execution, by the clock of the device
  std::vector<int64_t> to_device_ns, execute_ns, from_device_ns;  // per execution
  struct Output {
    ShapeIndex index;
    Shape shape;
    ArraySummary summary;
  };
  std::vector<Output> outputs;
  bool compared = false;
  std::vector<OutputComparison> comparisons;  // of the last iteration, or the first with a mismatch
  int64_t argument_bytes = 0, result_bytes = 0;
  std::optional<int64_t> temp_bytes, peak_bytes;  // of backends that plan their memory
  std::string reference_status;                   // empty: no reference
  std::vector<std::string> diagnostics;           // as JSON objects
};
void PrintTable(llvm::raw_ostream& out, llvm::ArrayRef<ModuleResult> results);
/// The status of a module with this exit code; `failed`: its run did not come to an end.
llvm::StringRef StatusOf(int exit_code, bool failed);
std::string ResultJson(llvm::ArrayRef<ModuleResult> results, int64_t indent);

}  // namespace hlo
