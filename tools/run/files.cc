// The files of one module's run: names, infeed, arguments, results, mismatches.
#include "llvm/Support/Path.h"
#include "tools/common/output_file.h"
#include "tools/run/gpu.h"
#include "tools/run/run_module.h"

namespace hlo {

using llvm::StringRef;

std::string ModuleRunner::FillName(StringRef pattern) const {
  pattern.consume_front("@");
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const StringRef two = pattern.substr(i, 2);
    if (two == "%m" || two == "%i") {
      text += two == "%m" ? input_.name : std::to_string(input_.index);
      ++i;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

Result<ArrayFormat> ModuleRunner::FormatOf(StringRef option, StringRef path) const {
  if (option == "--output" && options_.output_encoding) return *options_.output_encoding;
  return ArrayFormatOf(option, path);
}

/// Before the work, not after it: files that could not be written, or would be written twice.
Status ModuleRunner::CheckFiles() {
  const std::pair<const char*, const std::string*> files[] = {{"--output", &options_.output_literal},
                                                              {"--save-inputs", &options_.save_inputs},
                                                              {"--outfeed", &options_.outfeed},
                                                              {"--profile-out", &options_.profile_out}};
  for (const auto& [option, pattern] : files) {
    if (pattern->empty()) continue;
    const std::string path = FillName(*pattern);
    if (pattern != &options_.profile_out) {
      HLO_TRY([[maybe_unused]] const ArrayFormat format, FormatOf(option, path));
    }
    HLO_CHECK_OK(CheckNoInput(path, input_files_));
    if (path == "-" || StringRef(path).starts_with("/dev/")) continue;
    const auto [it, added] = shared_.written.try_emplace(path, input_.name);
    if (!added && !shared_.several)
      return Error("usage-option", {}, "option '{0}': '{1}' is written for another option, too", option,
                   path);
    if (!added)
      return Error("usage-option", {},
                   "option '{0}': '{1}' would be written twice, for module '{2}' and for '{3}'; %m and %i in "
                   "names of files stand for the module's name and index",
                   option, path, it->second, input_.name);
  }
  return {};
}

/// Infeed members in file order, for the shapes of the module's infeed instructions in turn.
Status ModuleRunner::ReadInfeed() {
  if (options_.infeed.empty()) return {};
  std::vector<Shape> shapes;
  for (const Computation* computation : module_.PostOrder())
    for (const Instruction* inst : computation->instructions())
      if (inst->kind() == OpKind::Infeed) shapes.push_back(inst->shape().tuple_shape(0));
  if (shapes.empty())
    return Error("usage-option", {}, "option '--infeed': the module has no infeed instruction");
  StringRef path = options_.infeed;
  path.consume_front("@");
  HLO_TRY(const ArrayFile file, OpenArrayFile(path));
  run_.infeeds.assign(static_cast<size_t>(devices_.total()), {});
  for (int64_t d = 0; d < devices_.total(); ++d) {
    size_t next = 0;
    // Members with a device suffix belong to one device, others to all.
    std::vector<const std::pair<std::string, NpyArray>*> members;
    const std::string own = DeviceSuffix(devices_, d, true);
    for (const auto& member : file.arrays) {
      const StringRef name = member.first;
      const size_t at = name.rfind("_r");
      const bool has_device = at != StringRef::npos && name.drop_front(at).contains("_p");
      if (!has_device || name.drop_front(at) == own) members.push_back(&member);
    }
    while (next < members.size()) {
      const Shape& shape = shapes[run_.infeeds[static_cast<size_t>(d)].size() % shapes.size()];
      Status status;
      std::vector<Literal> parts;
      ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (!status || !leaf.IsArray()) return;
        if (next == members.size() || !Fits(members[next]->second, leaf)) {
          Diagnostic error = MakeError("input-shape", {}, "infeed: the module takes {0}, {1}", leaf,
                                       next == members.size() ? "no member is left for it"
                                                              : "found " + Describe(members[next]->second));
          error.file = path.str();
          if (next < members.size() && !members[next]->first.empty())
            error.file += "#" + members[next]->first;
          status = Error(std::move(error));
          return;
        }
        parts.push_back(ToLiteral(members[next++]->second, leaf));
      });
      HLO_CHECK_OK(status);
      if (parts.empty()) break;
      run_.infeeds[static_cast<size_t>(d)].push_back(shape.IsTuple() ? Literal::MakeTuple(std::move(parts))
                                                                     : std::move(parts[0]));
    }
  }
  return {};
}

Status ModuleRunner::WriteOutputs(llvm::ArrayRef<Literal> results) {
  if (options_.output_literal.empty()) return {};
  const std::string path = FillName(options_.output_literal);
  HLO_TRY(const ArrayFormat format, FormatOf("--output", path));
  const bool per_device = PerDevice(results);
  std::vector<NamedArray> arrays;
  std::vector<Literal> whole;
  for (const int64_t d : ShownDevices(results)) {
    const Literal& value = results[static_cast<size_t>(d)];
    whole.push_back(value);
    AppendLeaves(value, "out", /*split_tuple=*/true, DeviceSuffix(output_devices_, d, per_device), arrays);
  }
  return WriteArrays(path, format, arrays, whole, options_.npy_widen, out_, input_files_);
}

Status ModuleRunner::SaveInputs(const Arguments& arguments) {
  if (options_.save_inputs.empty()) return {};
  const std::string path = FillName(options_.save_inputs);
  HLO_TRY(const ArrayFormat format, ArrayFormatOf("--save-inputs", path));
  return WriteArguments(path, format, arguments);
}

Status ModuleRunner::WriteArguments(StringRef path, ArrayFormat format, const Arguments& arguments) {
  const bool per_device = options_.input_scope == InputScope::PerDevice && devices_.total() > 1;
  std::vector<NamedArray> arrays;
  std::vector<Literal> whole;
  for (int64_t d = 0; d < (per_device ? devices_.total() : 1); ++d)
    for (size_t p = 0; p < arguments[static_cast<size_t>(d)].size(); ++p) {
      const Literal value = source_->Uncut(arguments, d, p);
      whole.push_back(value);
      AppendLeaves(value, "arg" + std::to_string(p), /*split_tuple=*/false,
                   DeviceSuffix(devices_, d, per_device), arrays);
    }
  return WriteArrays(path, format, arrays, whole, /*widen=*/false, out_, input_files_);
}

/// The table, the object, or both; the object goes to --profile-out if that is given.
Status ModuleRunner::ReportProfile() {
  HLO_TRY(const cpu::Peaks peaks, IsGpu(options_.platform) && options_.peaks == "auto"
                                      ? GpuPeaks(options_)
                                      : PeaksOf(options_.peaks));
  // The run that took as long as half of them: slow ones were disturbed.
  const auto middle = profiles_.begin() + static_cast<std::ptrdiff_t>((profiles_.size() - 1) / 2);
  std::nth_element(profiles_.begin(), middle, profiles_.end(),
                   [](const auto& a, const auto& b) { return a->device_ns() < b->device_ns(); });
  Profile& profile = **middle;
  profile.CountAs(static_cast<int64_t>(profiles_.size()));
  const std::vector<ProfileRow> rows = ProfileRows(profile, program_->module(), peaks, options_.group_by);
  if (options_.profile == ReportForm::Table && !profile.counts().empty())
    PrintCounts(text_, result_, profile, peaks, rows, options_.top);
  else if (options_.profile == ReportForm::Table)
    PrintProfile(text_, result_, profile, peaks, rows, options_.top);
  if (options_.profile != ReportForm::Json && options_.profile_out.empty()) return {};
  const std::string json = ProfileJson(result_, profile, peaks, rows, options_.json_indent);
  if (options_.profile_out.empty() || options_.profile_out == "-") {
    out_ << json;
    return {};
  }
  return WriteFile(FillName(options_.profile_out), json, out_, input_files_);
}

Status ModuleRunner::WriteOutfeed(const ExecutionResult& result) {
  if (options_.outfeed.empty()) return {};
  std::vector<NamedArray> arrays;
  std::vector<Literal> whole;
  for (size_t d = 0; d < result.outfeeds.size(); ++d)
    for (size_t i = 0; i < result.outfeeds[d].size(); ++i) {
      whole.push_back(result.outfeeds[d][i]);
      AppendLeaves(result.outfeeds[d][i], "outfeed" + std::to_string(i), /*split_tuple=*/false,
                   DeviceSuffix(devices_, static_cast<int64_t>(d), devices_.total() > 1), arrays);
    }
  const std::string path = FillName(options_.outfeed);
  HLO_TRY(const ArrayFormat format, ArrayFormatOf("--outfeed", path));
  return WriteArrays(path, format, arrays, whole, options_.npy_widen, out_, input_files_);
}

Status ModuleRunner::SaveMismatch(const Arguments& arguments) {
  std::vector<NamedArray> arrays;
  const bool per_device = options_.input_scope == InputScope::PerDevice && devices_.total() > 1;
  for (int64_t d = 0; d < (per_device ? devices_.total() : 1); ++d)
    for (size_t p = 0; p < arguments[static_cast<size_t>(d)].size(); ++p)
      AppendLeaves(source_->Uncut(arguments, d, p), "arg" + std::to_string(p), false,
                   DeviceSuffix(devices_, d, per_device), arrays);
  for (const OutputComparison& c : result_.comparisons) {
    if (c.result.matched()) continue;
    std::string suffix;
    for (const char ch : c.label)
      if (llvm::isDigit(ch) || (!suffix.empty() && ch == ',')) suffix += ch == ',' ? '_' : ch;
    if (suffix.empty()) suffix = "0";
    arrays.push_back({"actual" + suffix, c.actual});
    arrays.push_back({"expected" + suffix, c.expected});
    arrays.push_back({"mask" + suffix, MismatchMask(c.actual, c.expected, c.result.tolerance)});
  }
  std::string stem = llvm::sys::path::stem(input_.file).str();
  if (stem.empty() || stem.front() == '<') stem = input_.name;
  llvm::SmallString<128> path(options_.reproducer_dir);
  llvm::sys::path::append(path, stem + "-mismatch.npz");
  // Inputs stay, those that an earlier mismatch saved among them, and so do the files of other modules.
  for (int n = 2; llvm::is_contained(input_files_, path.str()) || shared_.written.contains(path); ++n) {
    path = options_.reproducer_dir;
    llvm::sys::path::append(path, stem + "-mismatch-" + std::to_string(n) + ".npz");
  }
  shared_.written[path] = input_.name;
  HLO_CHECK_OK(WriteArrays(path, ArrayFormat::Npz, arrays, {}, false, out_, input_files_));
  if (!options_.quiet)
    text_ << "saved: " << path << " (inputs, actual, expected, mask)    repeat: hlo-run --inputs=@" << path
          << (shared_.several ? llvm::formatv(" --module={0}", input_.index).str() : "") << ' ' << input_.file
          << '\n';
  return {};
}

}  // namespace hlo
