#include "tools/diff/inputs.h"

#include <map>

#include "llvm/ADT/StringSet.h"

namespace hlo {
namespace {

/// One dump that --stage-in selects, and what it has in common with its counterpart.
struct SelectedDump {
  using Key = std::tuple<std::string, size_t, DumpStage, std::string, size_t>;
  Key key;
  std::string path;
};

/// The dumps of `all` that --module and --stage-in select.
Result<std::vector<SelectedDump>> SelectSteps(llvm::StringRef directory, const std::vector<DumpSeries>& all,
                                              const CommonOptions& options) {
  HLO_TRY(const std::vector<std::string> paths, ListDumps(directory, options.stage_in));
  const llvm::StringSet<> wanted = [&] {
    llvm::StringSet<> set;
    for (const std::string& path : paths) set.insert(path);
    return set;
  }();
  std::vector<SelectedDump> selected;
  HLO_TRY(const std::vector<DumpSeries> chosen, SelectDumps(all, options.module));
  for (const DumpSeries& series : chosen) {
    // A pass may run several times.
    std::map<std::pair<DumpStage, std::string>, size_t> times;
    for (const DumpFile& file : series.steps) {
      if (!wanted.contains(file.path)) continue;
      const std::string step = file.pipeline + "." + file.pass + "." + file.next;
      selected.push_back(
          {{series.module, series.occurrence, file.stage, step, times[{file.stage, step}]++}, file.path});
    }
  }
  return selected;
}

}  // namespace

Result<std::vector<DiffPair>> PairDumps(llvm::StringRef left, llvm::StringRef right,
                                        const CommonOptions& options) {
  HLO_TRY(const std::vector<DumpFile> old_files, ReadDumpDirectory(left));
  HLO_TRY(const std::vector<DumpFile> new_files, ReadDumpDirectory(right));
  std::vector<DumpSeries> all = GroupDumps(old_files);
  HLO_TRY(const std::vector<SelectedDump> old_dumps, SelectSteps(left, all, options));
  const std::vector<DumpSeries> new_series = GroupDumps(new_files);
  HLO_TRY(const std::vector<SelectedDump> new_dumps, SelectSteps(right, new_series, options));
  std::map<SelectedDump::Key, std::string> new_paths;
  for (const SelectedDump& dump : new_dumps) new_paths[dump.key] = dump.path;
  std::vector<DiffPair> pairs;
  for (const SelectedDump& dump : old_dumps) {
    const auto match = new_paths.find(dump.key);
    pairs.push_back({dump.path, match == new_paths.end() ? "" : match->second, std::get<0>(dump.key)});
    if (match != new_paths.end()) new_paths.erase(match);
  }
  for (const SelectedDump& dump : new_dumps)
    if (new_paths.contains(dump.key)) pairs.push_back({"", dump.path, std::get<0>(dump.key)});
  if (pairs.empty() && !options.module.empty()) {
    llvm::append_range(all, new_series);
    return Error(NoSuchDump(options.module, all));
  }
  return pairs;
}

Result<std::unique_ptr<Module>> ReadOneModule(const CommonOptions& options, const std::string& file,
                                              llvm::StringRef stdin_text, DiagnosticSink& sink) {
  InputReader reader(options, {file}, stdin_text, sink);
  std::unique_ptr<Module> module;
  while (auto input = reader.Next()) {
    if (module) return Error("usage-option", {}, "'{0}' holds several modules, expected one", file);
    if (!input->module) return nullptr;
    module = std::move(input->module);
  }
  if (!module) return Error("input-empty", {}, "'{0}': no HLO module in input", file);
  return module;
}

}  // namespace hlo
