// What programs cost, for people and for programs.
#include "hlo/executable.h"
#include "ir/support/json.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo_toolkit {
namespace {

struct MemoryRow {
  const char *key, *words;
  int64_t bytes;
};

std::vector<MemoryRow> RowsOf(const MemoryReport& report) {
  return {{"arguments", "arguments", report.arguments},
          {"results", "results", report.results},
          {"aliased", "of results in the memory of arguments", report.aliased},
          {"temporaries", "temporaries", report.temporaries},
          {"constants", "constants", report.constants},
          {"peak", "peak", report.peak()}};
}

}  // namespace

std::string MemoryReport::ToText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "         bytes  of a run on each device\n";
  for (const MemoryRow& row : RowsOf(*this)) os << llvm::formatv("{0,14}  {1}\n", row.bytes, row.words);
  return text;
}

std::string MemoryReport::ToJson() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  hlo::JsonWriter json(os);
  json.Object([&] {
    for (const MemoryRow& row : RowsOf(*this)) json.Member(row.key, row.bytes);
  });
  return text;
}

std::string ProfileReport::ToText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "            ns     share      calls  instruction\n";
  constexpr double kPercent = 100;
  const auto share = [&](std::chrono::nanoseconds time) {
    return total.count() == 0
               ? 0
               : kPercent * static_cast<double>(time.count()) / static_cast<double>(total.count());
  };
  for (const Row& row : rows)
    os << llvm::formatv("{0,14} {1,8:f1}% {2,10}  {3}{4}{5}\n", row.time.count(), share(row.time), row.calls,
                        row.text, row.library.empty() ? "" : "  by ", row.library);
  os << llvm::formatv("{0,14}                       total of {1} run{2}\n", total.count(), runs,
                      runs == 1 ? "" : "s");
  return text;
}

std::string ProfileReport::ToJson() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  hlo::JsonWriter json(os);
  json.Object([&] {
    json.Member("runs", runs);
    json.Member("total_ns", total.count());
    json.Array("rows", [&] {
      for (const Row& row : rows)
        json.Object([&] {
          json.Member("name", row.name);
          json.Member("opcode", row.opcode);
          json.Member("text", row.text);
          json.Member("library", row.library);
          json.Member("calls", row.calls);
          json.Member("time_ns", row.time.count());
        });
    });
  });
  return text;
}

}  // namespace hlo_toolkit
