#include "tools/run/run_module.h"

#include <chrono>

#include "ir/eval/custom_call_library.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "ir/verify.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Sequence.h"
#include "tools/common/process.h"
#include "tools/modules/transform.h"
#include "tools/run/gpu.h"
#include "tools/run/memory.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Clock = std::chrono::steady_clock;

int64_t Nanoseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

int64_t LiteralBytes(const Literal& value) {
  int64_t bytes = static_cast<int64_t>(value.byte_size());
  for (const Literal& element : value.elements()) bytes += LiteralBytes(element);
  return bytes;
}

bool HasInstruction(const Module& module, OpKind kind) {
  return llvm::any_of(module.PostOrder(), [kind](const Computation* computation) {
    return llvm::any_of(computation->instructions(),
                        [kind](const Instruction* inst) { return inst->kind() == kind; });
  });
}

}  // namespace

ModuleRunner::ModuleRunner(const RunOptions& options, const Tolerances& tolerances, const InputModule& input,
                           RunShared& shared, DiagnosticSink& sink, llvm::raw_ostream& out,
                           llvm::ArrayRef<std::string> module_files)
    : options_(options),
      tolerances_(tolerances),
      input_(input),
      module_(*input.module),
      shared_(shared),
      sink_(sink),
      out_(out),
      text_(DataOnStandardOutput(options) ? sink.err() : out),
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

/// Passes without limits, of which nobody hears.
Status RunUnwatched(Module& module, llvm::ArrayRef<PipelineItem> pipeline) {
  RewriteControls controls;
  PassManager manager(controls, PassSelection());
  HLO_TRY([[maybe_unused]] const bool changed, manager.Run(module, pipeline));
  return {};
}

/// Passes and the like; verifies what the interpreter relies on and no verification has shown yet.
Status ModuleRunner::Transform() {
  Module& module = *input_.module;
  // The compiler runs them itself, on a copy.
  const bool passes = !Compiles(options_.platform) && shared_.passes->active();
  if (options_.remove_infeed_outfeed) HLO_CHECK_OK(RemoveInfeedOutfeed(module));
  if (passes) original_ = module.Clone();
  if (!Compiles(options_.platform)) HLO_CHECK_OK(shared_.passes->Run(module, input_, sink_, out_));
  const bool on_reference =
      options_.reference_passes == RunPasses::Always && options_.reference != Reference::None;
  if (on_reference && (passes || !shared_.passes->named().empty())) {
    original_ = module.Clone();
    if (!passes) HLO_CHECK_OK(RunUnwatched(*original_, shared_.passes->named()));
  }
  if (options_.despecialize && options_.reference != Reference::None) {
    if (!original_) original_ = module.Clone();
    HLO_TRY(const std::vector<PipelineItem> despecializer, ParsePipeline("despecializer"));
    HLO_CHECK_OK(RunUnwatched(*original_, despecializer));
  }
  const bool verified =
      options_.verify == VerifyMode::Each || (options_.verify == VerifyMode::Input && !passes);
  if (verified) return {};
  for (Diagnostic& violation : Verify(module))
    if (violation.severity == Severity::Error) return Error(std::move(violation));
  return {};
}

Status ModuleRunner::Prepare() {
  HLO_CHECK_OK(Transform());
  HLO_TRY(devices_, CountDevices(module_, options_));
  if (options_.run_device && *options_.run_device >= devices_.total())
    return Error("usage-option", {}, "option '--run-device': found {0}, there are {1} devices",
                 *options_.run_device, devices_.total());
  run_.only_device = options_.run_device;
  HLO_CHECK_OK(CheckFiles());
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
  run_.custom_call_libraries = shared_.libraries;
  if (shared_.libraries) sink_.Report(ShadowedFunctions(module_, *shared_.libraries));
  HLO_CHECK_OK(CountArgumentBytes());
  if (options_.check_memory && options_.platform != Platform::Cpu)
    return Error("unavailable-feature", {},
                 "option '--check-memory': platform {0} has no memory plan to check", result_.platform);
  HLO_CHECK_OK(CompilePrograms());
  HLO_TRY(donated_, DonatedParameters(module_, options_.donate));
  HLO_TRY(const std::vector<Diagnostic> warnings, CheckAliases(module_, donated_, options_.alias));
  sink_.Report(warnings);
  HLO_CHECK_OK(CheckProgramMemory());
  if (!options_.compile_only) program_->Expect(result_.argument_bytes);
  FindOutputForm();
  source_.emplace(options_, Original(), devices_);
  source_->SetStored(input_.arguments);
  HLO_CHECK_OK(source_->Read());
  result_.seed = source_->seed();
  HLO_TRY(chain_, ParseChain(options_.chain.items, module_));
  HLO_CHECK_OK(CheckToleranceNames());
  if (!options_.expected.empty())
    HLO_CHECK_OK(
        expected_.Read(options_.expected, output_form_.shape, leaves_, output_devices_, options_.npy_widen));
  if (sink_.progress().enabled() || shared_.trace != nullptr)
    run_.on_instruction = [this](const Instruction& inst) {
      if (shared_.trace != nullptr) shared_.trace->Begin(inst);
      sink_.progress().Update([&] { return "running " + input_.name + ": %" + inst.name().str(); });
    };
  if (shared_.trace != nullptr)
    run_.on_library = [this](llvm::StringRef library) { shared_.trace->DoneBy(library); };
  sink_.Verbose(
      1, llvm::formatv("{0}: module {1}, platform {8}, seed {2}, rng seed {3}, replicas {4}, partitions {5}, "
                       "threads {6}, checked in {7:F3} ms",
                       input_.file, input_.name, result_.seed, run_.rng_seed, devices_.replicas,
                       devices_.partitions, ThreadCount(), static_cast<double>(result_.compile_ns) * 1e-6,
                       result_.platform)
             .str());
  if (!options_.outfeed.empty() && !HasInstruction(module_, OpKind::Outfeed))
    return Error("usage-option", {}, "option '--outfeed': the module has no outfeed instruction");
  return ReadInfeed();
}

Status ModuleRunner::CountArgumentBytes() {
  result_.argument_bytes = 0;
  for (const Instruction* parameter : module_.entry()->parameters())
    if (llvm::AddOverflow(result_.argument_bytes, ShapeBytes(parameter->shape()), result_.argument_bytes))
      result_.argument_bytes = INT64_MAX;
  if (options_.compile_only) return {};
  return CheckArgumentMemory(module_, result_.argument_bytes, options_.memory_limit.bytes);
}

/// For the platform and, with --reference-platform, for that which it is compared with.
Status ModuleRunner::CompilePrograms() {
  const auto start = Clock::now();
  HLO_TRY(program_, MakeProgram());
  const auto compiled = Clock::now();
  result_.compile_ns = Nanoseconds(compiled - start);
  if (shared_.trace != nullptr) shared_.trace->Add("compile " + input_.name, "compilation", start, compiled);
  if (options_.reference != Reference::None) {
    HLO_TRY(reference_, MakeReference());
  }
  return {};
}

/// What the options say, but for the passes.
Result<CompileOptions> ModuleRunner::CompileOptionsFor(Platform platform) {
  CompileOptions compile;
  compile.store.on_disk = !options_.no_cache;
  compile.report = [this](Diagnostic d) { sink_.Report(std::move(d)); };
  compile.passes.optimization_level = static_cast<int>(options_.passes.level.value_or(2));
  compile.passes.controls = shared_.passes->BaseControls();
  compile.cpu.cpu = options_.mcpu;
  compile.cpu.features = options_.mattr;
  compile.cpu.tier = options_.tier;
  // Whoever measures wants to know what many runs would take.
  if (!options_.Benchmarking() && !options_.Profiling())
    compile.cpu.executions = (options_.Warmup() + options_.Repeats()) * options_.iterations;
  compile.cpu.force_path = options_.force_path.name;
  if (!IsGpu(platform)) return compile;
  HLO_TRY(compile.gpu, GpuOptionsOf(options_));
  return compile;
}

Result<std::unique_ptr<Executable>> ModuleRunner::MakeProgram() {
  HLO_TRY(CompileOptions compile, CompileOptionsFor(options_.platform));
  if (options_.launcher == Launcher::Nccl && compile.gpu.gpus.empty())
    llvm::append_range(compile.gpu.gpus, llvm::seq<int>(0, static_cast<int>(devices_.total())));
  if (Compiles(options_.platform)) {
    PassRunner& passes = *shared_.passes;
    if (!passes.named().empty()) compile.support = SupportCheck::AfterPasses;
    compile.passes = passes.CompileOptions(module_, /*without_named=*/false, input_, sink_, out_);
    compile.cpu.check_memory = options_.check_memory;
    compile.cpu.program = input_.program;
    compile.gpu.machine = passes.machine();
    if (compile.cpu.program.exists() && !IsGpu(options_.platform)) HLO_CHECK_OK(CheckProgramOptions());
  }
  return Client(options_.platform).Compile(module_, compile, run_);
}

/// Programs are run as they are.
Status ModuleRunner::CheckProgramOptions() const {
  const std::pair<const char*, bool> options[] = {{"passes", !shared_.passes->named().empty()},
                                                  {"check-memory", options_.check_memory},
                                                  {"force-path", !options_.force_path.name.empty()}};
  for (const auto& [name, given] : options)
    if (given)
      return Error("usage-option", {}, "option '--{0}': the input is a program, of which all is decided",
                   name);
  return {};
}

/// Without passes, but for those that code is made by in any case.
Result<std::unique_ptr<Executable>> ModuleRunner::MakeReference() {
  const Platform platform = PlatformOf(options_.reference);
  HLO_TRY(CompileOptions compile, CompileOptionsFor(platform));
  compile.support = SupportCheck::Never;
  compile.passes.controls.machine = nullptr;
  return Client(platform).Compile(Original(), compile, run_);
}

/// The plan of the program, if something asks for it or arrays are large, against limit and machine.
Status ModuleRunner::CheckProgramMemory() {
  SetMemoryNotes({});
  if ((options_.compile_only || !HasManyBytes(module_)) && options_.memory.empty() &&
      options_.memory_limit.bytes == 0 && options_.result_json.empty())
    return {};
  memory_ = program_->Memory();
  if (!memory_ && options_.memory.empty()) return {};
  if (!memory_)
    return Error("unavailable-feature", {}, "option '--memory': platform {0} does not plan its memory",
                 result_.platform);
  SetMemoryNotes(LargestBuffers(*memory_, "note: "));
  result_.temp_bytes = memory_->temporaries;
  result_.peak_bytes = memory_->peak();
  // When it runs a GPU says what it has: its description may be another's.
  if (memory_->device_memory > 0 && !options_.compile_only) memory_->device_memory = INT64_MAX;
  const int64_t here = options_.run_device ? 1 : devices_.total() / options_.processes;
  return CheckMemoryPlan(*memory_, here, options_.memory_limit.bytes);
}

/// Names in --tolerance that name no output; where several modules run, others may have it.
Status ModuleRunner::CheckToleranceNames() {
  std::vector<StringRef> names;
  for (const OutputLeaf& leaf : leaves_) {
    names.emplace_back(leaf.name);
    const ElementType type = leaf.shape.element_type();
    if (comparing())
      sink_.Verbose(1, llvm::formatv("{0}: {1} (%{2}): bounds {3}", input_.file, leaf.Label(), leaf.name,
                                     tolerances_.Given(type, leaf.name)
                                         ? BoundsText(tolerances_.For(type, leaf.name), type)
                                         : "what rounding does")
                           .str());
  }
  for (const StringRef name : tolerances_.Names()) {
    if (shared_.several || llvm::is_contained(names, name)) continue;
    const std::string hint = DidYouMeanText(name, names);
    return Error("usage-name", {}, "option '--tolerance': no output '%{0}'{1}{2}", name,
                 hint.empty() ? "" : "; ", hint);
  }
  return {};
}

/// With global arrays, outputs that the root's sharding cuts are put together again. A device that runs
/// alone has nobody to put its part together with.
void ModuleRunner::FindOutputForm() {
  const Instruction* root = Original().entry()->root();
  const bool global = options_.input_scope == InputScope::Global && !options_.run_device;
  output_form_ = GlobalFormOf(root->shape(), root->extras().sharding.get(), global ? devices_.partitions : 1);
  leaves_ = OutputLeaves(Original());
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

/// One execution on these arguments; its time goes to `times` if given.
Result<ExecutionResult> ModuleRunner::Execute(const Executable& program, Arguments arguments,
                                              std::vector<int64_t>* times) {
  // Executions may be too short to notice.
  if (Interrupted()) return Error(InterruptedError());
  const auto begin = Clock::now();
  // The program writes over what is donated to it: making that again is no part of the execution.
  if (options_.Benchmarking())
    for (std::vector<Literal>& mine : arguments)
      for (size_t p = 0; p < mine.size(); ++p)
        if (donated_[p]) mine[p] = mine[p].Copy();
  // Executions that nobody times are not profiled either.
  if (options_.Profiling() && times != nullptr)
    run_.profile = profiles_.emplace_back(std::make_unique<Profile>()).get();
  else
    run_.profile = nullptr;
  const auto start = Clock::now();
  HLO_TRY(ExecutionResult result, program.Run(std::move(arguments), run_));
  const auto end = Clock::now();
  if (run_.profile != nullptr) run_.profile->CountRun();
  if (shared_.trace != nullptr) {
    shared_.trace->EndExecution();
    shared_.trace->Add("arguments of " + input_.name, "transfer", begin, start);
    shared_.trace->Add("execute " + input_.name, "execution", start, end);
  }
  if (times == nullptr) return result;
  times->push_back(Nanoseconds(end - start));
  result_.to_device_ns.push_back(Nanoseconds(start - begin));
  result_.from_device_ns.push_back(0);  // results are made in the memory of this process
  sink_.Verbose(1, llvm::formatv("{0}: iteration {1} ran {2:F3} ms", input_.file, iteration_,
                                 static_cast<double>(times->back()) * 1e-6)
                       .str());
  return result;
}

/// --repeats executions, each on the arguments anew but for what --chain feeds back.
Result<ExecutionResult> ModuleRunner::Repeat(const Executable& program, const Arguments& arguments,
                                             std::vector<int64_t>* times) {
  HLO_TRY(ExecutionResult result, Execute(program, arguments, times));
  // Without feedback the reference gives the same every time.
  for (int64_t i = 1; i < options_.Repeats() && (times != nullptr || !chain_.empty()); ++i) {
    Arguments next = arguments;
    FeedBack(chain_, result.results, next);
    result = {};  // its memory is free for the next one
    HLO_TRY(result, Execute(program, std::move(next), times));
  }
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

void ModuleRunner::Print(llvm::ArrayRef<Literal> results, bool heading) {
  if (options_.print == PrintMode::None) return;
  sink_.progress().Erase();
  if (heading) text_ << input_.name << " (" << input_.file << "):\n";
  const bool per_device = PerDevice(results);
  for (const int64_t d : ShownDevices(results)) {
    const std::string device =
        per_device ? llvm::formatv("replica {0} partition {1} ", d / output_devices_.partitions,
                                   d % output_devices_.partitions)
                         .str()
                   : "";
    for (const OutputLeaf& leaf : leaves_)
      PrintOutput(text_, device + leaf.Label(), PartAt(results[static_cast<size_t>(d)], leaf.index),
                  options_.print);
    if (leaves_.empty())
      text_ << device << "output " << ToString(module_.entry()->root()->shape(), /*with_layout=*/false)
            << '\n';
  }
}

Result<ExecutionResult> ModuleRunner::ExecuteIteration(const Arguments& arguments) {
  // Comparing is the first process's business, with all devices in it.
  run_.network = shared_.processes;
  auto forget = llvm::make_scope_exit([this] { run_.network = nullptr; });
  for (int64_t i = 0; i < options_.Warmup(); ++i) {
    HLO_TRY(auto ignored, Execute(*program_, arguments, nullptr));
  }
  HLO_TRY(ExecutionResult result, Repeat(*program_, arguments, &result_.execute_ns));
  if (shared_.processes != nullptr) HLO_CHECK_OK(shared_.processes->Collect(result));
  return result;
}

Result<bool> ModuleRunner::EndEarly(bool failed) {
  const bool end = failed || (options_.until_mismatch && result_.status == "MISMATCH");
  if (shared_.processes == nullptr) return end;
  HLO_TRY(const std::string said, shared_.processes->FromFirst(end ? "end" : ""));
  return !said.empty();
}

Status ModuleRunner::RunIteration(int64_t iteration, bool heading) {
  iteration_ = iteration;
  HLO_TRY(Arguments arguments, source_->Make(iteration));
  HLO_TRY(ExecutionResult result, ExecuteIteration(arguments));
  executed_ = true;
  if (shared_.processes != nullptr && !shared_.processes->Leads()) return {};
  result.results = GlobalResults(std::move(result.results));
  if (iteration == 0) {
    if (options_.Benchmarking()) {
      HLO_TRY(result_.device_ns, program_->DeviceTime(arguments, run_));
    }
    HLO_CHECK_OK(SaveInputs(arguments));
    for (const Literal& value : result.results) result_.result_bytes += LiteralBytes(value);
    if (!options_.result_json.empty())
      for (const OutputLeaf& leaf : leaves_) {
        const Literal& value = PartAt(result.results.front(), leaf.index);
        result_.outputs.push_back({leaf.index, leaf.shape, Summarize(value)});
      }
    HLO_CHECK_OK(WriteOutputs(result.results));
    HLO_CHECK_OK(WriteOutfeed(result));
  }
  // Comparisons, and data on standard output, speak for themselves.
  if (options_.print != PrintMode::Auto ||
      (!comparing() && !options_.Benchmarking() && !options_.Profiling() && &text_ == &out_))
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
  result_.parse_ns = input_.parse_ns;
  result_.platform = WordOf(options_.platform);
  if (options_.reference != Reference::None) result_.reference = WordOf(options_.reference);
  Status status = Prepare();
  if (shared_.processes != nullptr)
    status = shared_.processes->AgreeToRun(std::move(status), program_ ? &program_->module() : nullptr);
  if (status && options_.compile_only) {
    result_.status = "NOT-RUN";
  } else if (status) {
    for (int64_t i = 0; i < options_.iterations && status; ++i) {
      if (Interrupted()) {
        status = Error(InterruptedError());
        break;
      }
      sink_.progress().Update([&] { return "running " + input_.name; });
      executed_ = false;
      status = RunIteration(i, heading);
      // A run ends in the same way in all processes; what is done with its results, the first one does.
      if (!executed_) break;
      const auto end = EndEarly(!status);
      if (status && !end) status = Error(end.error());
      if (!status || *end) break;
    }
  }
  if (status && !options_.memory.empty())
    PrintMemory(text_, module_, result_.platform, *memory_, donated_, options_.memory == "peak");
  if (status && !profiles_.empty()) status = ReportProfile();
  ReportVacuous();
  if (status && result_.status == "MATCHED") PrintMatch();
  if (!status) sink_.Report(status.error());
  result_.exit_code = sink_.module_exit_code();
  if (!status || result_.status.empty()) result_.status = StatusOf(result_.exit_code, !status).str();
  for (const auto& d : sink_.module_diagnostics()) result_.diagnostics.push_back(RenderJson(d, input_.name));
  return std::move(result_);
}

}  // namespace hlo
