#include "tools/run_module.h"

#include <chrono>

#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "llvm/Support/Path.h"
#include "tools/process.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Clock = std::chrono::steady_clock;

int64_t Nanoseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

const Literal& At(const Literal& value, const ShapeIndex& index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

int64_t LiteralBytes(const Literal& value) {
  int64_t bytes = static_cast<int64_t>(value.byte_size());
  for (const Literal& element : value.elements()) bytes += LiteralBytes(element);
  return bytes;
}

int64_t ShapeBytes(const Shape& shape) {
  int64_t total = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const int64_t bytes = leaf.IsArray() ? ByteSize(leaf) : 0;
    total = bytes < 0 || total > INT64_MAX - bytes ? INT64_MAX : total + bytes;
  });
  return total;
}

/// What a failure with this exit code is called in tables.
StringRef StatusOf(int exit_code) {
  switch (exit_code) {
    case kSuccess: return "RAN";
    case kNegative: return "MISMATCH";
    case kRunTime:
    case kLimit: return "RUNTIME-ERROR";
    case kUnavailable: return "SKIPPED";
    case kVerification:
    case kCompilation: return "COMPILE-ERROR";
    default: return "NOT-RUN";
  }
}

}  // namespace

ModuleRunner::ModuleRunner(const RunOptions& options, const Tolerances& tolerances, const InputModule& input,
                           DiagnosticSink& sink, llvm::raw_ostream& out,
                           llvm::ArrayRef<std::string> module_files)
    : options_(options),
      tolerances_(tolerances),
      input_(input),
      module_(*input.module),
      sink_(sink),
      out_(out),
      input_files_(module_files.begin(), module_files.end()) {
  auto add = [&](StringRef value) {
    const auto [selector, file] = value.split('@');
    if (file.empty()) return;
    // `0@r1:@f.npz#key`: the file follows the last `@`.
    input_files_.push_back(value.drop_front(value.rfind('@') + 1).split('#').first.str());
  };
  for (const std::string& value : options.input) add(value);
  for (const std::string& value : options.expected) add(value);
  if (!options.inputs.empty()) input_files_.push_back(StringRef(options.inputs).ltrim('@').str());
  if (!options.infeed.empty()) input_files_.push_back(StringRef(options.infeed).ltrim('@').str());
}

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

Status ModuleRunner::Prepare() {
  HLO_TRY(devices_, CountDevices(module_, options_));
  if (options_.run_device && *options_.run_device >= devices_.total())
    return Error("usage-option", {}, "option '--run-device': found {0}, there are {1} devices",
                 *options_.run_device, devices_.total());
  run_.only_device = options_.run_device;
  // Before the work, not after it: files that could not be written.
  const std::pair<const char*, const std::string*> files[] = {{"--output", &options_.output_literal},
                                                              {"--save-inputs", &options_.save_inputs},
                                                              {"--outfeed", &options_.outfeed}};
  for (const auto& [option, file] : files) {
    if (file->empty()) continue;
    if (auto format = ArrayFormatOf(option, FillName(*file)); !format)
      return Error(std::move(format).error());
  }
  run_.replica_count = devices_.replicas;
  run_.partition_count = devices_.partitions;
  run_.rng_seed = options_.rng_seed;
  run_.collective_timeout = options_.collective_timeout;
  for (StringRef item : options_.custom_call) {
    const auto [target, what] = item.rsplit('=');
    if (what != "error" && what != "zeros" && what != "identity")
      return Error("usage-option", {},
                   "option '--custom-call': found '{0}', expected TARGET=error, =zeros or =identity", item);
    run_.missing_custom_calls[target] = what.str();
  }
  const auto start = Clock::now();
  HLO_CHECK_OK(CheckSupported(module_, run_));
  result_.compile_ns = Nanoseconds(Clock::now() - start);
  HLO_TRY(donated_, DonatedParameters(module_, options_.donate));
  HLO_TRY(const std::vector<Diagnostic> warnings, CheckAliases(module_, donated_, options_.alias));
  sink_.Report(warnings);
  int64_t bytes = 0;
  for (const Instruction* parameter : module_.entry()->parameters()) {
    const int64_t own = ShapeBytes(parameter->shape());
    bytes = bytes > INT64_MAX - own ? INT64_MAX : bytes + own;
  }
  HLO_CHECK_OK(CheckMemory(bytes, options_.memory_limit.bytes, "arguments"));
  result_.argument_bytes = bytes;
  FindOutputForm();
  source_.emplace(options_, module_, devices_);
  HLO_CHECK_OK(source_->Read());
  result_.seed = source_->seed();
  if (!options_.expected.empty()) HLO_CHECK_OK(expected_.Read(options_.expected, leaves_, output_devices_));
  if (sink_.progress().enabled())
    run_.on_instruction = [this](const Instruction& inst) {
      sink_.progress().Update([&] { return "running " + input_.name + ": %" + inst.name().str(); });
    };
  sink_.Verbose(
      1, llvm::formatv(
             "{0}: module {1}, seed {2}, rng seed {3}, {4} replicas, {5} partitions, {6} threads, checked in "
             "{7:F3} ms",
             input_.file, input_.name, result_.seed, run_.rng_seed, devices_.replicas, devices_.partitions,
             ThreadCount(), static_cast<double>(result_.compile_ns) * 1e-6)
             .str());
  return ReadInfeed();
}

/// With global arrays, outputs that the root's sharding cuts are put together again. A device that runs
/// alone has nobody to put its part together with.
void ModuleRunner::FindOutputForm() {
  const Instruction* root = module_.entry()->root();
  const bool global = options_.input_scope == InputScope::Global && !options_.run_device;
  output_form_ = GlobalFormOf(root->shape(), root->extras().sharding.get(), global ? devices_.partitions : 1);
  leaves_ = OutputLeaves(module_);
  for (OutputLeaf& leaf : leaves_) leaf.shape = *output_form_.shape.Subshape(leaf.index);
  output_devices_ = options_.run_device  ? DeviceCount{}
                    : output_form_.cut() ? DeviceCount{devices_.replicas, 1}
                                         : devices_;
}

/// What is shown and compared: one result per replica where outputs are put together, that of the one
/// device that ran, else what the devices gave.
std::vector<Literal> ModuleRunner::GlobalResults(std::vector<Literal> results) {
  if (options_.run_device) return {std::move(results[static_cast<size_t>(*options_.run_device)])};
  if (output_form_.cut()) {
    std::vector<Literal> global;
    for (int64_t r = 0; r < devices_.replicas; ++r) {
      const auto parts = llvm::ArrayRef(results).slice(static_cast<size_t>(r * devices_.partitions),
                                                       static_cast<size_t>(devices_.partitions));
      std::optional<ShapeIndex> conflict;
      global.push_back(AssembleParts(parts, output_form_, &conflict));
      if (conflict)
        WarnThatDevicesDiffer(llvm::formatv("partitions of replica {0} that should hold the same part of "
                                            "output {1} hold different values",
                                            r, ToString(*conflict))
                                  .str());
    }
    results = std::move(global);
  }
  if (options_.input_scope == InputScope::Global && options_.output_devices == OutputDevices::First &&
      llvm::any_of(results, [&](const Literal& r) { return !(r == results.front()); }))
    WarnThatDevicesDiffer("the results of the devices differ");
  return results;
}

void ModuleRunner::WarnThatDevicesDiffer(std::string what) {
  Diagnostic warning =
      MakeError("devices-differ", module_.entry()->root()->loc(), "{0}; those of the first are shown", what);
  warning.severity = Severity::Warning;
  sink_.Report(warning);
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
          status = Error("input-shape", {}, "infeed: the module takes {0}, member {1} is {2}", leaf,
                         next == members.size() ? "missing" : "'" + members[next]->first + "'",
                         next == members.size() ? "nothing" : Describe(members[next]->second));
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

Result<InterpreterResult> ModuleRunner::Execute(int64_t iteration, Arguments* kept) {
  HLO_TRY(Arguments arguments, source_->Make(iteration));
  if (kept != nullptr) *kept = arguments;
  const auto start = Clock::now();
  HLO_TRY(InterpreterResult result, RunModule(module_, std::move(arguments), run_));
  result_.execute_ns.push_back(Nanoseconds(Clock::now() - start));
  sink_.Verbose(1, llvm::formatv("{0}: iteration {1} ran {2:F3} ms", input_.file, iteration,
                                 static_cast<double>(result_.execute_ns.back()) * 1e-6)
                       .str());
  return result;
}

bool ModuleRunner::PerDevice(llvm::ArrayRef<Literal> results) const {
  if (results.size() < 2 || options_.output_devices == OutputDevices::First) return false;
  if (options_.output_devices == OutputDevices::All) return true;
  return llvm::any_of(results, [&](const Literal& r) { return !(r == results.front()); });
}

std::vector<int64_t> ModuleRunner::ShownDevices(llvm::ArrayRef<Literal> results) const {
  if (options_.output_devices == OutputDevices::None) return {};
  if (!PerDevice(results)) return {0};
  std::vector<int64_t> all;
  for (int64_t d = 0; d < static_cast<int64_t>(results.size()); ++d) all.push_back(d);
  return all;
}

Status ModuleRunner::WriteOutputs(llvm::ArrayRef<Literal> results) {
  if (options_.output_literal.empty()) return {};
  const std::string path = FillName(options_.output_literal);
  HLO_TRY(const ArrayFormat format, ArrayFormatOf("--output", path));
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

Status ModuleRunner::WriteOutfeed(const InterpreterResult& result) {
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

void ModuleRunner::Print(llvm::ArrayRef<Literal> results, bool heading) {
  if (options_.print == PrintMode::None) return;
  sink_.progress().Erase();
  if (heading) out_ << input_.name << " (" << input_.file << "):\n";
  const bool per_device = PerDevice(results);
  for (const int64_t d : ShownDevices(results)) {
    const std::string device =
        per_device ? llvm::formatv("replica {0} partition {1} ", d / output_devices_.partitions,
                                   d % output_devices_.partitions)
                         .str()
                   : "";
    for (const OutputLeaf& leaf : leaves_)
      PrintOutput(out_, device + leaf.Label(), At(results[static_cast<size_t>(d)], leaf.index),
                  options_.print);
    if (leaves_.empty())
      out_ << device << "output " << ToString(module_.entry()->root()->shape(), /*with_layout=*/false)
           << '\n';
  }
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
  // Inputs stay, those that an earlier mismatch saved among them.
  for (int n = 2; llvm::is_contained(input_files_, path.str()); ++n) {
    path = options_.reproducer_dir;
    llvm::sys::path::append(path, stem + "-mismatch-" + std::to_string(n) + ".npz");
  }
  HLO_CHECK_OK(WriteArrays(path, ArrayFormat::Npz, arrays, {}, false, out_, input_files_));
  if (!options_.quiet)
    out_ << "saved: " << path << " (inputs, actual, expected, mask)    repeat: hlo-run --inputs=@" << path
         << " " << input_.file << '\n';
  return {};
}

/// Compares every device's outputs; keeps the comparisons of the first iteration that mismatches.
Status ModuleRunner::CompareResults(llvm::ArrayRef<Literal> results, const Arguments& arguments) {
  if (options_.expected.empty()) return {};
  std::vector<OutputComparison> comparisons;
  bool matched = true;
  for (int64_t d = 0; d < output_devices_.total(); ++d)
    for (size_t i = 0; i < leaves_.size(); ++i) {
      HLO_TRY(std::optional<Literal> expected, expected_.For(i, d));
      if (!expected) continue;
      OutputComparison c;
      c.label = leaves_[i].Label();
      if (output_devices_.total() > 1)
        c.label = llvm::formatv("replica {0} partition {1} ", d / output_devices_.partitions,
                                d % output_devices_.partitions)
                      .str() +
                  c.label;
      c.actual = At(results[static_cast<size_t>(d)], leaves_[i].index);
      c.expected = std::move(*expected);
      for (int64_t k = 0; k < c.actual.shape().rank(); ++k)
        if (c.actual.DynamicSize(k) != c.expected.DynamicSize(k))
          return Error("input-shape", {}, "{0}: dimension {1} has size {2}, expected value has {3}", c.label,
                       k, c.actual.DynamicSize(k), c.expected.DynamicSize(k));
      c.result =
          Compare(c.actual, c.expected, tolerances_.For(leaves_[i].shape.element_type(), leaves_[i].name));
      if (!c.result.matched()) {
        sink_.progress().Erase();
        PrintMismatch(out_, input_.file, "interpreter", "expected", c, options_.quiet);
      }
      matched &= c.result.matched();
      comparisons.push_back(std::move(c));
    }
  result_.compared = true;
  if (result_.status == "MISMATCH") return {};
  result_.comparisons = std::move(comparisons);
  result_.status = matched ? "MATCHED" : "MISMATCH";
  if (matched) return {};
  sink_.Raise(kNegative);
  return SaveMismatch(arguments);
}

Status ModuleRunner::RunIteration(int64_t iteration, bool heading) {
  for (int64_t i = 0; i < options_.warmup; ++i) {
    HLO_TRY(auto ignored, Execute(iteration, nullptr));
    result_.execute_ns.pop_back();
  }
  const bool keep = !options_.expected.empty() || (iteration == 0 && !options_.save_inputs.empty());
  Arguments arguments;
  HLO_TRY(InterpreterResult result, Execute(iteration, keep ? &arguments : nullptr));
  for (int64_t i = 1; i < options_.repeats; ++i) {
    HLO_TRY(result, Execute(iteration, nullptr));
  }
  result.results = GlobalResults(std::move(result.results));
  if (iteration == 0) {
    HLO_CHECK_OK(SaveInputs(arguments));
    for (const Literal& value : result.results) result_.result_bytes += LiteralBytes(value);
    if (!options_.result_json.empty())
      for (const OutputLeaf& leaf : leaves_) {
        const Literal& value = At(result.results.front(), leaf.index);
        result_.outputs.push_back({leaf.index, leaf.shape, Summarize(value)});
      }
    HLO_CHECK_OK(WriteOutputs(result.results));
    HLO_CHECK_OK(WriteOutfeed(result));
  }
  if (options_.expected.empty() || options_.print != PrintMode::Auto)
    Print(result.results, heading && iteration == 0);
  return CompareResults(result.results, arguments);
}

ModuleResult ModuleRunner::Run(bool heading) {
  const CrashScope crash("running a module", input_.source->text().slice(input_.begin, input_.end),
                         [this](StringRef path) {
                           if (!source_) return;
                           if (const auto arguments = source_->Make(iteration_))
                             (void)WriteArguments(path, ArrayFormat::Npz, *arguments).has_value();
                         });
  result_.file = input_.file;
  result_.module = input_.name;
  Status status = Prepare();
  if (status && options_.compile_only) {
    result_.status = "NOT-RUN";
  } else if (status) {
    for (int64_t i = 0; i < options_.iterations && status; ++i) {
      if (Interrupted()) {
        status = Error(InterruptedError());
        break;
      }
      iteration_ = i;
      sink_.progress().Update([&] { return "running " + input_.name; });
      status = RunIteration(i, heading);
      if (options_.until_mismatch && result_.status == "MISMATCH") break;
    }
  }
  if (!status) sink_.Report(status.error());
  result_.exit_code = sink_.module_exit_code();
  if (!status || result_.status.empty()) result_.status = StatusOf(result_.exit_code).str();
  for (const Diagnostic& d : sink_.module_diagnostics())
    result_.diagnostics.push_back((ToString(d.severity) + ": " + d.message + " [" + d.id + "]").str());
  return std::move(result_);
}

}  // namespace hlo
