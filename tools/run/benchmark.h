// Times of executions: statistics, tables, the object hlo.bench/1, comparison with one (tools.md §3.5).
#pragma once
#include <string>
#include <vector>

#include "tools/common/sink.h"
#include "tools/run/result.h"

namespace hlo {

/// What a sample of times says, in nanoseconds.
struct TimeStatistics {
  int64_t min = 0, median = 0, mean = 0, stddev = 0, p95 = 0;
  int64_t low = 0, high = 0;  // the 95% interval of the median
};
/// All zeros of an empty sample.
TimeStatistics Summarize(std::vector<int64_t> samples);

/// One line per module that ran.
void PrintBenchmark(llvm::raw_ostream& out, llvm::ArrayRef<ModuleResult> results);
/// The object hlo.bench/1.
std::string BenchmarkJson(llvm::ArrayRef<ModuleResult> results, int64_t indent);
/// Appends a row per module that ran to the file at `path`, and a heading if it is new. Error output-write.
Status AppendCsv(llvm::StringRef path, llvm::ArrayRef<ModuleResult> results);
/// Compares with the object hlo.bench/1 at `path`: a median that is worse by more than `max_slowdown` (0.05:
/// 5%) with disjoint 95% intervals is reported and raises exit code 1. Errors: input-format.
Status CompareWithBaseline(llvm::StringRef path, double max_slowdown, llvm::ArrayRef<ModuleResult> results,
                           DiagnosticSink& sink, llvm::raw_ostream& out);

}  // namespace hlo
