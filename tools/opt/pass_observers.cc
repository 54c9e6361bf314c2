#include "tools/opt/pass_observers.h"

#include <map>

#include "ir/support/json.h"
#include "tools/common/line_diff.h"

namespace hlo {
namespace {

using std::chrono::duration;

double Milliseconds(std::chrono::nanoseconds time) { return duration<double, std::milli>(time).count(); }

void PrintHeader(llvm::raw_ostream& os, const char* where, const PassExecution& execution, const char* what) {
  os << "// *** " << where << ' ' << execution.pass->name << " (execution " << execution.number << what
     << ")\n";
}

}  // namespace

Status PassPrinter::BeforePass(const Module& module, const PassExecution& execution) {
  if (options_.before && options_.before->Matches(execution.pass->name)) {
    PrintHeader(os_, "before", execution, "");
    Print(os_, module, options_.print);
    os_ << '\n';
  }
  if (options_.changed == ChangedForm::Diff) {
    // The text after the pass before this one still holds.
    if (text_.empty()) text_ = ToString(module, options_.print);
  }
  return {};
}

Status PassPrinter::AfterPass(const Module& module, const PassExecution& execution) {
  const char* const what = execution.changed ? ", changed" : ", unchanged";
  if (options_.after_all || (options_.after && options_.after->Matches(execution.pass->name))) {
    PrintHeader(os_, "after", execution, what);
    Print(os_, module, options_.print);
    os_ << '\n';
  }
  if (options_.changed == ChangedForm::Unset || !execution.changed) return {};
  PrintHeader(os_, "after", execution, what);
  std::string now = ToString(module, options_.print);
  if (options_.changed == ChangedForm::Full)
    os_ << now << '\n';
  else
    os_ << LineDiff(text_, now, /*context=*/1, options_.color) << '\n';
  text_ = std::move(now);
  return {};
}

void PrintPassTimes(llvm::raw_ostream& os, llvm::ArrayRef<PassExecution> executions, int64_t verifications) {
  struct Row {
    int64_t executions = 0, changes = 0, before = 0, after = 0;
    std::chrono::nanoseconds total{0}, most{0};
  };
  std::map<llvm::StringRef, Row> by_pass;
  std::chrono::nanoseconds all{0};
  for (const PassExecution& e : executions) {
    Row& row = by_pass[e.pass->name];
    ++row.executions;
    row.changes += e.changed;
    row.before += e.instructions_before;
    row.after += e.instructions_after;
    row.total += e.time;
    row.most = std::max(row.most, e.time);
    all += e.time;
  }
  std::vector<std::pair<llvm::StringRef, Row>> rows(by_pass.begin(), by_pass.end());
  llvm::sort(rows, [](const auto& a, const auto& b) {
    return std::pair(b.second.total, a.first) < std::pair(a.second.total, b.first);
  });
  os << llvm::formatv("total {0:f3} ms in {1} executions, {2} verified\n", Milliseconds(all),
                      executions.size(), verifications);
  os << llvm::formatv("{0,-38}{1,10}{2,12}{3,12}{4,9}{5,14}{6,14}\n", "pass", "executions", "total ms",
                      "max ms", "changes", "instr. before", "after");
  for (const auto& [name, row] : rows)
    os << llvm::formatv("{0,-38}{1,10}{2,12:f3}{3,12:f3}{4,9}{5,14}{6,14}\n", name, row.executions,
                        Milliseconds(row.total), Milliseconds(row.most), row.changes, row.before, row.after);
}

void PrintPassCounters(llvm::raw_ostream& os, llvm::ArrayRef<PassExecution> executions) {
  std::map<llvm::StringRef, std::map<std::string, int64_t>> by_pass;
  for (const PassExecution& e : executions) {
    auto& counters = by_pass[e.pass->name];
    counters["executions"] += 1;
    counters["changes"] += e.changed;
    counters["rewrites"] += e.rewrites;
    for (const auto& [name, count] : e.counters) counters[name] += count;
  }
  for (const auto& [pass, counters] : by_pass)
    for (const auto& [name, count] : counters) os << llvm::formatv("{0,10}  {1}: {2}\n", count, pass, name);
}

void PassTrace::Add(llvm::StringRef module, llvm::ArrayRef<PassExecution> executions) {
  const int64_t row = events_.empty() ? 1 : events_.back().row + 1;
  for (const PassExecution& e : executions) events_.push_back({module.str(), row, e});
}

std::string PassTrace::Json() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter json(os);
  json.Object([&] {
    json.Member("displayTimeUnit", "ms");
    json.Array("traceEvents", [&] {
      for (const Event& event : events_) {
        const PassExecution& e = event.execution;
        json.Object([&] {
          json.Member("name", e.pass->name);
          json.Member("cat", "pass");
          json.Member("ph", "X");
          json.Member("pid", 1);
          json.Member("tid", event.row);
          json.Member("ts", duration<double, std::micro>(e.start - events_.front().execution.start).count());
          json.Member("dur", duration<double, std::micro>(e.time).count());
          json.Object("args", [&] {
            json.Member("module", event.module);
            json.Member("execution", e.number);
            json.Member("pipeline", e.pipeline);
            json.Member("round", e.round);
            json.Member("changed", e.changed);
            json.Member("rewrites", e.rewrites);
            json.Member("instructions_before", e.instructions_before);
            json.Member("instructions_after", e.instructions_after);
          });
        });
      }
    });
  });
  os << '\n';
  return text;
}

}  // namespace hlo
