#include "tools/run/benchmark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <numeric>

#include "ir/support/input_file.h"
#include "ir/support/json.h"
#include "ir/support/parallel.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// `3.41 ms`.
std::string TimeText(int64_t ns) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& [scale, unit] : kUnits)
    if (static_cast<double>(ns) >= scale)
      return llvm::formatv("{0:F3} {1}", static_cast<double>(ns) / scale, unit).str();
  return std::to_string(ns) + " ns";
}

void WriteModule(JsonWriter& json, const ModuleResult& r) {
  const TimeStatistics execute = Summarize(r.execute_ns);
  json.Member("file", r.file);
  json.Member("module", r.module);
  json.Member("platform", r.platform);
  json.Member("threads", ThreadCount());
  json.Member("status", r.status);
  json.Member("parse_ns", r.parse_ns);
  json.Member("compile_ns", r.compile_ns);
  json.Object("transfer_ns", [&] {
    json.Member("to_device", Summarize(r.to_device_ns).median);
    json.Member("from_device", Summarize(r.from_device_ns).median);
  });
  json.Object("execute_ns", [&] {
    for (const auto& [key, value] : {std::pair("min", execute.min),
                                     {"median", execute.median},
                                     {"mean", execute.mean},
                                     {"stddev", execute.stddev},
                                     {"p95", execute.p95}})
      json.Member(key, value);
    json.List("samples", r.execute_ns);
  });
  if (r.device_ns) json.Member("device_ns", *r.device_ns);
}

/// The samples of a module in an object hlo.bench/1: of the same file if it is there, else of the same name.
/// Nothing if there are none.
std::vector<int64_t> BaselineOf(const JsonArray& modules, const ModuleResult& r) {
  const JsonValue* found = nullptr;
  for (const JsonValue& module : modules) {
    if (module.String("module") != StringRef(r.module) || module.String("platform") != StringRef(r.platform))
      continue;
    if (module.String("file") == StringRef(r.file)) {
      found = &module;
      break;
    }
    if (found == nullptr) found = &module;
  }
  std::vector<int64_t> samples;
  const JsonValue* times = found == nullptr ? nullptr : found->Object("execute_ns");
  const JsonArray* array = times == nullptr ? nullptr : times->Array("samples");
  if (array == nullptr) return samples;
  for (const JsonValue& value : *array)
    if (const auto ns = value.AsInteger(); ns && *ns >= 0) samples.push_back(*ns);
  return samples;
}

std::string CsvField(StringRef text) {
  if (text.find_first_of(",\"\n") == StringRef::npos) return text.str();
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

TimeStatistics Summarize(std::vector<int64_t> samples) {
  TimeStatistics s;
  if (samples.empty()) return s;
  llvm::sort(samples);
  const size_t n = samples.size();
  const auto count = static_cast<double>(n);
  s.min = samples.front();
  s.median = std::midpoint(samples[(n - 1) / 2], samples[n / 2]);
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const int64_t x : samples)
    squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  s.mean = std::llround(mean);
  s.stddev = n < 2 ? 0 : std::llround(std::sqrt(squares / (count - 1)));
  s.p95 = samples[static_cast<size_t>(std::ceil(0.95 * count)) - 1];
  // Ranks of a binomial distribution: the interval asks nothing of how times are distributed.
  const double half = 0.98 * std::sqrt(count);
  const double low = std::floor(count / 2 - half), high = std::ceil(count / 2 + half);
  s.low = samples[static_cast<size_t>(std::max(low, 0.0))];
  s.high = samples[static_cast<size_t>(std::min(high, count - 1))];
  return s;
}

void PrintBenchmark(llvm::raw_ostream& out, llvm::ArrayRef<ModuleResult> results) {
  std::vector<std::vector<std::string>> table = {{"module", "platform", "threads", "runs", "parse", "compile",
                                                  "transfer", "min", "median", "mean", "stddev", "p95"}};
  const bool device = llvm::any_of(results, [](const ModuleResult& r) { return r.device_ns.has_value(); });
  if (device) table.front().emplace_back("device");
  for (const ModuleResult& r : results) {
    if (r.execute_ns.empty()) continue;
    const TimeStatistics s = Summarize(r.execute_ns);
    const int64_t transfer = Summarize(r.to_device_ns).median + Summarize(r.from_device_ns).median;
    std::vector<std::string> row = {r.module, r.platform, std::to_string(ThreadCount()),
                                    std::to_string(r.execute_ns.size())};
    for (const int64_t ns : {r.parse_ns, r.compile_ns, transfer, s.min, s.median, s.mean, s.stddev, s.p95})
      row.push_back(TimeText(ns));
    if (device) row.push_back(r.device_ns ? TimeText(*r.device_ns) : "-");
    table.push_back(std::move(row));
  }
  if (table.size() == 1) return;
  std::vector<size_t> widths(table.front().size());
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) {
      const auto width = static_cast<unsigned>(widths[i]);
      if (i < 2)
        out << llvm::left_justify(row[i], width) << "  ";
      else
        out << llvm::right_justify(row[i], width) << (i + 1 == row.size() ? "\n" : "  ");
    }
}

std::string BenchmarkJson(llvm::ArrayRef<ModuleResult> results, int64_t indent) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  JsonWriter json(stream, static_cast<unsigned>(indent));
  json.Object([&] {
    json.Member("schema", "hlo.bench/1");
    json.Member("tool", "hlo-run");
    json.Member("version", HLO_VERSION);
    json.Array("modules", [&] {
      for (const ModuleResult& r : results)
        if (!r.execute_ns.empty()) json.Object([&] { WriteModule(json, r); });
    });
  });
  return text + "\n";
}

namespace {

/// What errno says.
tl::unexpected<Diagnostic> CsvError(DiagnosticId id, StringRef path) {
  Diagnostic error = MakeError(id, {}, "cannot write: {0}", llvm::sys::StrError());
  error.file = path.str();
  return Error(std::move(error));
}

}  // namespace

Status AppendCsv(StringRef path, llvm::ArrayRef<ModuleResult> results) {
  const int file = ::open(path.str().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return CsvError("output-open", path);
  const off_t before = ::lseek(file, 0, SEEK_END);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (before <= 0)
    out << "file,module,platform,device,threads,version,parse_ns,compile_ns,to_device_ns,from_device_ns,"
           "runs,min_ns,median_ns,mean_ns,stddev_ns,p95_ns\n";
  const StringRef device = llvm::sys::getHostCPUName();
  for (const ModuleResult& r : results) {
    if (r.execute_ns.empty()) continue;
    const TimeStatistics s = Summarize(r.execute_ns);
    out << CsvField(r.file) << ',' << CsvField(r.module) << ',' << r.platform << ',' << device << ','
        << ThreadCount() << ',' << HLO_VERSION << ',' << r.parse_ns << ',' << r.compile_ns << ','
        << Summarize(r.to_device_ns).median << ',' << Summarize(r.from_device_ns).median << ','
        << r.execute_ns.size() << ',' << s.min << ',' << s.median << ',' << s.mean << ',' << s.stddev << ','
        << s.p95 << '\n';
  }
  // At once, for the sake of others who append; half of it is none.
  const ssize_t written = ::write(file, text.data(), text.size());
  Status status;
  if (written != static_cast<ssize_t>(text.size())) {
    if (written >= 0) errno = ENOSPC;
    status = CsvError("output-write", path);
    if (before >= 0) (void)!::ftruncate(file, before);
  }
  ::close(file);
  return status;
}

Status CompareWithBaseline(StringRef path, double max_slowdown, llvm::ArrayRef<ModuleResult> results,
                           DiagnosticSink& sink, llvm::raw_ostream& out) {
  const auto buffer = ReadInputFile(path);
  if (!buffer) return Error("input-open", {}, "'{0}': {1}", path, buffer.getError().message());
  HLO_TRY(const JsonDocument baseline,
          ReadJson(std::make_shared<SourceBuffer>(path.str(), (*buffer)->getBuffer().str())));
  const JsonArray* modules = baseline.root.Array("modules");
  if (modules == nullptr || baseline.root.String("schema") != "hlo.bench/1")
    return baseline.Wrong(baseline.root, "found other JSON, expected an object of schema hlo.bench/1");
  for (const ModuleResult& r : results) {
    if (r.execute_ns.empty()) continue;
    const std::vector<int64_t> samples = BaselineOf(*modules, r);
    if (samples.empty()) {
      Diagnostic warning = MakeError("baseline-missing", {}, "'{0}' has no times of module {1} on {2}", path,
                                     r.module, r.platform);
      warning.severity = Severity::Warning;
      sink.Report(std::move(warning));
      continue;
    }
    const TimeStatistics before = Summarize(samples), now = Summarize(r.execute_ns);
    const double change =
        static_cast<double>(now.median) / static_cast<double>(std::max<int64_t>(before.median, 1)) - 1;
    const bool slower = change > max_slowdown && now.low > before.high;
    out << llvm::formatv("{0}: {1} on {2}: median {3}, baseline {4}, {5}{6:F1}%: {7}\n", r.file, r.module,
                         r.platform, TimeText(now.median), TimeText(before.median), change < 0 ? "" : "+",
                         change * 100, slower ? "SLOWER" : "ok");
    if (slower) sink.Raise(ExitCode::Negative);
  }
  return {};
}

}  // namespace hlo
