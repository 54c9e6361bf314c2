#include "tools/common/dump_directory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "tools/common/options.h"

namespace hlo {
namespace {

/// NAME.after_optimizations, NAME.cpu_after_optimizations, NAME.sm_8.0_gpu_after_optimizations
bool ParseAfter(llvm::StringRef rest, DumpFile& dump) {
  if (!rest.consume_back("after_optimizations")) return false;
  dump.stage = DumpStage::After;
  if (!rest.consume_back(".")) {
    if (!rest.consume_back("_")) return false;
    const size_t dot = rest.ends_with("_gpu") && rest.contains(".sm_") ? rest.rfind(".sm_") : rest.rfind('.');
    if (dot == llvm::StringRef::npos) return false;
    dump.target = rest.drop_front(dot + 1).str();
    rest = rest.take_front(dot);
  }
  dump.module = rest.str();
  return true;
}

/// NAME.SSSS.PIPELINE.after_A.before_B, and of steps within one pass NAME.SSSS.PASS.after_STEP
bool ParsePass(llvm::StringRef rest, DumpFile& dump) {
  const size_t after = rest.rfind(".after_");
  if (after == llvm::StringRef::npos) return false;
  const llvm::StringRef passes = rest.drop_front(after + 7);
  const size_t before = passes.rfind(".before_");
  auto [head, pipeline] = rest.take_front(after).rsplit('.');
  auto [module, order] = head.rsplit('.');
  if (order.empty() || !llvm::all_of(order, llvm::isDigit)) return false;
  dump.stage = DumpStage::Pass;
  dump.module = module.str();
  dump.order = order.str();
  dump.pipeline = pipeline.str();
  dump.pass = passes.take_front(before).str();
  if (before != llvm::StringRef::npos) dump.next = passes.drop_front(before + 8).str();
  return true;
}

/// Digits compared as numbers of any length.
std::pair<size_t, llvm::StringRef> Numeric(llvm::StringRef digits) {
  digits = digits.ltrim('0');
  return {digits.size(), digits};
}

auto TimeOrder(const DumpFile& dump) {
  return std::tuple(llvm::StringRef(dump.module), dump.number, dump.stage, Numeric(dump.order),
                    llvm::StringRef(dump.path));
}

}  // namespace

std::optional<DumpFile> ParseDumpName(llvm::StringRef path) {
  const llvm::StringRef name = llvm::sys::path::filename(path);
  DumpFile dump;
  dump.path = path.str();
  const size_t at = name.find("module_");
  if (at == llvm::StringRef::npos || (at > 0 && name[at - 1] != '.')) return std::nullopt;
  llvm::StringRef rest = name.drop_front(at + 7);
  const llvm::StringRef digits = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(digits.size());
  if (digits.empty() || digits.getAsInteger(10, dump.number) || !rest.consume_front(".")) return std::nullopt;
  if (!rest.consume_back(".txt")) return std::nullopt;
  if (rest.consume_back(".before_optimizations")) {
    dump.module = rest.str();
    return dump;
  }
  if (ParseAfter(rest, dump) || ParsePass(rest, dump)) return dump;
  return std::nullopt;
}

Result<std::vector<DumpFile>> ReadDumpDirectory(llvm::StringRef directory) {
  std::vector<DumpFile> dumps;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(directory, error), end; it != end && !error; it.increment(error))
    if (auto dump = ParseDumpName(it->path())) dumps.push_back(std::move(*dump));
  if (error) {
    Diagnostic problem;
    problem.file = directory.str();
    problem.id = "input-open";
    problem.message = "cannot open: " + error.message();
    return Error(std::move(problem));
  }
  llvm::sort(dumps, [](const DumpFile& a, const DumpFile& b) { return TimeOrder(a) < TimeOrder(b); });
  return dumps;
}

std::vector<DumpSeries> GroupDumps(llvm::ArrayRef<DumpFile> files) {
  std::vector<DumpSeries> result;
  for (size_t begin = 0; begin < files.size();) {
    const llvm::StringRef module = files[begin].module;
    const auto group =
        files.drop_front(begin).take_while([&](const DumpFile& f) { return f.module == module; });
    begin += group.size();
    // The numbers of each stage in turn; the stage with the most of them decides which compilations there
    // are.
    std::vector<int64_t> numbers[3];
    for (const DumpFile& file : group) {
      auto& seen = numbers[static_cast<size_t>(file.stage)];
      if (seen.empty() || seen.back() != file.number) seen.push_back(file.number);
    }
    const auto& most = *std::max_element(std::begin(numbers), std::end(numbers),
                                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const size_t first = result.size();
    for (size_t i = 0; i < most.size(); ++i) result.push_back({module.str(), i, {}});
    for (const DumpFile& file : group) {
      const auto& own = numbers[static_cast<size_t>(file.stage)];
      // Numbers mean something where they agree; elsewhere only their order does.
      const bool agree = llvm::all_of(own, [&](int64_t n) { return llvm::is_contained(most, n); });
      const auto& among = agree ? most : own;
      result[first + (llvm::find(among, file.number) - among.begin())].steps.push_back(file);
    }
    for (DumpSeries& series : llvm::MutableArrayRef(result).drop_front(first))
      llvm::sort(series.steps, [](const DumpFile& a, const DumpFile& b) {
        return std::tuple(a.stage, Numeric(a.order), llvm::StringRef(a.path)) <
               std::tuple(b.stage, Numeric(b.order), llvm::StringRef(b.path));
      });
  }
  return result;
}

Result<std::vector<DumpSeries>> SelectDumps(std::vector<DumpSeries> all, llvm::StringRef module) {
  if (module.empty()) return all;
  if (size_t index = 0; !module.getAsInteger(10, index)) {
    if (index >= all.size()) return std::vector<DumpSeries>();
    return std::vector{std::move(all[index])};
  }
  HLO_TRY(const Regex wanted, Regex::Compile(module));
  llvm::erase_if(all, [&](const DumpSeries& series) { return !wanted.Matches(series.module); });
  return all;
}

Diagnostic NoSuchDump(llvm::StringRef module, llvm::ArrayRef<DumpSeries> all) {
  std::vector<llvm::StringRef> names;
  for (const DumpSeries& series : all) names.emplace_back(series.module);
  const std::string hint = DidYouMeanText(module, names);
  return MakeError("usage-name", {}, "option '--module': no module matches '{0}'{1}{2}", module,
                   hint.empty() ? "" : "; ", hint);
}

Diagnostic NoDumps(llvm::StringRef directory, size_t found, llvm::StringRef stage) {
  Diagnostic problem = MakeError("input-empty", {}, "no HLO module in dump directory{0}",
                                 stage.empty() ? "" : llvm::formatv(" (stage '{0}')", stage).str());
  problem.file = directory.str();
  if (found == 0)
    problem.Note(
        "dumps have names as module_0001.NAME.before_optimizations.txt; other files are named one by one");
  else
    problem.Note(llvm::formatv("--stage-in=all takes all {0} dumps that there are", found).str());
  return problem;
}

}  // namespace hlo
