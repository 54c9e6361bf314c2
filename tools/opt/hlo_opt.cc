// hlo-opt: checks, prints, converts and takes apart modules (tools.md §2).
#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "llvm/Support/Format.h"
#include "tools/common/process.h"
#include "tools/common/tool_main.h"
#include "tools/modules/inputs.h"
#include "tools/modules/module_json.h"
#include "tools/modules/rounding_noise.h"
#include "tools/modules/transform.h"
#include "tools/opt/expect.h"
#include "tools/opt/options.h"
#include "tools/opt/output.h"
#include "tools/opt/passes.h"
#include "tools/opt/reduction.h"

namespace hlo {
namespace {

using llvm::raw_ostream;
using llvm::StringRef;

/// The blocks of a module's text (header, tables, computations), sorted: the order of computations is not
/// always kept, as it depends on the order of their definitions where callees are shared.
std::vector<StringRef> SortedBlocks(StringRef text) {
  llvm::SmallVector<StringRef> blocks;
  text.split(blocks, "\n\n", -1, /*KeepEmpty=*/false);
  std::vector<StringRef> sorted(blocks.begin(), blocks.end());
  llvm::sort(sorted);
  return sorted;
}

/// Prints, reparses and compares: the text must be the same again, and so must be what it means.
Status CheckRoundTrip(const Module& module, const InputModule& input) {
  PrintOptions options = PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  std::string text = ToString(module, options);
  const std::string name = input.file + " (printed)";
  ParseResult again = ParseModule(std::make_shared<SourceBuffer>(name, text));
  if (!again.module) {
    Diagnostic error = MakeError("mismatch-roundtrip", {}, "the printed module does not parse");
    error.file = input.file;
    for (const Diagnostic& d : again.diagnostics)
      if (d.severity == Severity::Error) error.Note(d.message);
    return Error(std::move(error));
  }
  const std::string second = ToString(*again.module, options);
  const bool same_text = second == text || SortedBlocks(second) == SortedBlocks(text);
  if (same_text && Fingerprint(module) == Fingerprint(*again.module)) return {};
  Diagnostic error = MakeError("mismatch-roundtrip", {}, "the printed module reads back as another one");
  error.file = input.file;
  StringRef a = text, b = second;
  for (unsigned line = 1; !a.empty() || !b.empty(); ++line) {
    const auto [a_line, a_rest] = a.split('\n');
    const auto [b_line, b_rest] = b.split('\n');
    if (a_line != b_line) {
      error.Note(llvm::formatv("line {0} printed first: '{1}'", line, a_line.trim().take_front(200)).str());
      error.Note(llvm::formatv("line {0} printed again: '{1}'", line, b_line.trim().take_front(200)).str());
      break;
    }
    a = a_rest;
    b = b_rest;
  }
  return Error(std::move(error));
}

/// One run of the tool.
class OptRun {
 public:
  OptRun(const OptOptions& options, OptStage stage, PassRunner& passes, const CommandLine& command_line,
         StringRef stdin_text, raw_ostream& out, DiagnosticSink& sink)
      : options_(options),
        stage_(stage),
        passes_(passes),
        sink_(sink),
        reader_(options.common, command_line.positional, stdin_text, sink),
        out_(out),
        output_(options, command_line.positional, out) {}

  Status Run() {
    if (options_.verify_diagnostics) reader_.set_report(false);
    if (options_.update_checks) reader_.KeepOriginals();
    while (auto input = reader_.Next()) {
      if (Interrupted()) {
        if (input->module) sink_.Report(InterruptedError());
        break;
      }
      if (options_.verify_diagnostics)
        Compare(*input);
      else if (options_.update_checks)
        Update(*input);
      else if (input->module)
        Report(Process(*input), *input);
      if (reader_.at_end()) LeaveToProcessEnd(std::move(input->module));
      if (sink_.stopped()) break;
    }
    if (options_.update_checks) Report(updater_.Write(options_.in_place, output_), {});
    if (!options_.aot.empty()) Report(WriteFunctions(), {});
    Report(passes_.Finish(sink_, out_), {});
    return output_.Finish();
  }

 private:
  void Report(Status status, const InputModule& input) {
    if (!status) ReportAbout(std::move(status).error(), input);
  }

  void ReportAbout(Diagnostic error, const InputModule& input) {
    if (!error.loc.valid() && error.file.empty() && error.id.starts_with("fixpoint")) error.file = input.file;
    sink_.Report(std::move(error));
  }

  void Compare(const InputModule& input) {
    if (!input.source) {
      sink_.Report(input.diagnostics);
      return;
    }
    std::vector<Diagnostic> seen = input.diagnostics;
    if (input.module && options_.verify_roundtrip)
      if (auto status = CheckRoundTrip(*input.module, input); !status)
        seen.push_back(std::move(status).error());
    sink_.Report(CheckExpectations(*input.source, input.begin, input.end, seen));
  }

  void Update(const InputModule& input) {
    if (!input.module) return;
    std::string text;
    llvm::raw_string_ostream os(text);
    Report(Transformed(input, [&](const Module& module) -> Status { return Emit(module, input, os); }),
           input);
    Report(updater_.Add(input, text), input);
  }

  Status Process(const InputModule& input) {
    const CrashScope scope("printing", input.source->text().slice(input.begin, input.end));
    if (options_.verify_roundtrip) HLO_CHECK_OK(CheckRoundTrip(*input.module, input));
    if (options_.check) return {};
    if (options_.reduce) return ReduceInput(input, options_, sink_, out_);
    if (!options_.bisect_passes.empty()) return BisectPasses(input, options_, passes_, sink_, out_);
    return Transformed(input, [&](const Module& module) -> Status {
      if (!options_.aot.empty()) return MakeFunction(module, input);
      HLO_TRY(raw_ostream * os, output_.Begin(module, stage_, reader_.files()));
      Status status = Emit(module, input, *os);
      if (!status) output_.Drop();
      return status;
    });
  }

  /// Calls `emit` with each module that the options make of the input.
  Status Transformed(const InputModule& input, llvm::function_ref<Status(const Module&)> emit) {
    Module& module = *input.module;
    if (stage_ == OptStage::Parsed) return emit(module);
    if (options_.remove_infeed_outfeed) HLO_CHECK_OK(RemoveInfeedOutfeed(module));
    if (options_.while_execution_count) HLO_CHECK_OK(FixLoopCounts(module, *options_.while_execution_count));
    // Code is made by the passes of its level, which named ones come before.
    extracts_ = options_.isolate || !options_.extract.empty() || !options_.extract_computation.empty() ||
                options_.disturb_rounding;
    if (stage_ != OptStage::Code)
      HLO_CHECK_OK(passes_.Run(module, input, sink_, out_));
    else if (extracts_ && !passes_.named().empty())
      HLO_CHECK_OK(passes_.Run(module, passes_.named(), input, sink_, out_));
    HLO_CHECK_OK(PrepareStage(module, stage_, options_, sink_));
    std::vector<std::unique_ptr<Module>> parts;
    if (options_.isolate) {
      HLO_TRY(parts, IsolateInstructions(module));
    } else if (!options_.extract.empty()) {
      std::vector<const Instruction*> targets;
      for (const std::string& name : options_.extract) {
        HLO_TRY(const Instruction* target, FindInstruction(module, name));
        targets.push_back(target);
      }
      ExtractOptions extract;
      extract.height = options_.extract_height;
      extract.boundary = options_.extract_boundary;
      extract.report = [&](Diagnostic d) { sink_.Report(std::move(d)); };
      HLO_TRY(auto part, ExtractInstructions(module, targets, extract));
      parts.push_back(std::move(part));
    }
    for (const std::string& name : options_.extract_computation) {
      HLO_TRY(const Computation* computation, FindComputation(module, name));
      parts.push_back(ExtractComputation(module, *computation));
    }
    if (options_.disturb_rounding) {
      HLO_TRY(auto noisy, WithRoundingNoise(module));
      parts.push_back(std::move(noisy));
    }
    const bool changed = options_.remove_infeed_outfeed || options_.while_execution_count;
    if (parts.empty() && !options_.isolate) {
      if (changed) HLO_CHECK_OK(CheckResult(module));
      return emit(module);
    }
    for (const auto& part : parts) {
      HLO_CHECK_OK(CheckResult(*part));
      HLO_CHECK_OK(emit(*part));
    }
    return {};
  }

  /// Results are verified as --verify says; what is found here is our own mistake or the input's.
  Status CheckResult(const Module& module) {
    if (options_.common.verify != VerifyMode::Each && options_.common.verify != VerifyMode::Final) return {};
    for (Diagnostic& violation : Verify(module))
      if (violation.severity == Severity::Error) return Error(std::move(violation));
    return {};
  }

  /// For --aot.
  Status MakeFunction(const Module& module, const InputModule& input) {
    std::vector<CpuOptions> versions = passes_.VersionsToCompile(module, extracts_, input, sink_, out_);
    for (CpuOptions& version : versions) {
      version.host = options_.host();
      version.triple = options_.target;
    }
    const std::vector<std::string>& names = options_.entry_name;
    const std::string name = functions_ < names.size() ? names[functions_] : "";
    ++functions_;
    return functions_of_c_.Add(module, versions, name);
  }
  Status WriteFunctions() {
    if (functions_ == 0 || sink_.exit_code() != 0) return {};
    if (options_.entry_name.size() > functions_)
      return Error("usage-option", {}, "option '--entry-name' has {0} names for {1} modules",
                   options_.entry_name.size(), functions_);
    return WriteAheadOfTime(functions_of_c_, options_, reader_.files());
  }

  Status Emit(const Module& module, const InputModule& input, raw_ostream& os) {
    std::unique_ptr<Module> canonical;
    const Module* shown = &module;
    if (options_.print_style == PrintStyle::Canonical) {
      canonical = CanonicallyNamed(module);
      shown = canonical.get();
    }
    if (options_.print_fingerprint) {
      os << llvm::format_hex_no_prefix(Fingerprint(module), 16) << "  " << module.name() << '\n';
      return {};
    }
    const PrintOptions print = MakePrintOptions(options_, os.is_displayed());
    const auto indent = static_cast<unsigned>(options_.json_indent);
    if (stage_ == OptStage::Buffers)
      return PrintBuffers(os, *shown, passes_.machine(), options_.JsonOutput(), indent);
    if (stage_ == OptStage::Code) {
      CpuOptions cpu = passes_.CompileOptions(module, extracts_, input, sink_, out_);
      if (!extracts_ && passes_.named().empty()) cpu.program = input.program;
      return PrintCode(os, module, std::move(cpu), options_);
    }
    if (stage_ == OptStage::Cost) {
      PrintCost(os, *shown, options_.cost == CostForm::Csv);
      return {};
    }
    return WriteModule(os, *shown, Info(stage_).form,
                       {print, indent, /*called=*/false, /*fusion_bodies=*/true, /*hlo_proto=*/false,
                        [this](Diagnostic d) { sink_.Report(std::move(d)); }});
  }

  const OptOptions& options_;
  OptStage stage_;
  PassRunner& passes_;
  DiagnosticSink& sink_;
  InputReader reader_;
  raw_ostream& out_;
  OptOutput output_;
  CheckUpdater updater_;
  size_t functions_ = 0;  // made for --aot
  AheadOfTimeCompiler functions_of_c_{options_.aot_weights};
  bool extracts_ = false;  // modules that are shown are parts of what was read
};

/// Answers that need no input; nothing if the options ask for none.
bool PrintLists(const OptOptions& options, raw_ostream& out) {
  if (!options.list_ops.empty())
    WriteOpsJson(out, static_cast<unsigned>(options.json_indent));
  else if (options.list_stages)
    ListStages(out, options.platform);
  else if (options.passes.list_pipelines)
    ListPipelines(out);
  else if (options.passes.list_passes != ListForm::Unset)
    ListPasses(out, options.passes.list_passes);
  else if (!options.passes.describe_pass.empty())
    DescribePass(out, *FindPass(options.passes.describe_pass));
  else
    return false;
  return true;
}

}  // namespace

int HloOptMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out,
               llvm::raw_ostream& err) {
  OptOptions options;
  const std::vector<OptionGroup> groups = OptGroups(options);
  Started started = StartTool(OptTool(), groups, options.common, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(OptTool().name, options.common, err);
  sink.Report(started.command_line.warnings);
  auto stage = CheckOptOptions(options);
  if (!stage) {
    sink.Report(std::move(stage).error());
    return sink.exit_code();
  }
  const PassUse of_code = options.code == CodeForm::Header ? PassUse::CompileAheadOfTime : PassUse::Compile;
  auto passes =
      PassRunner::Make(options, *stage == OptStage::Code ? of_code : PassUse::Show, started.command_line);
  if (!passes) {
    sink.Report(std::move(passes).error());
    return sink.exit_code();
  }
  if (options.passes.print_pipeline) {
    out << PipelineText(passes->PipelineOf(nullptr), /*expand=*/true) << '\n';
    return sink.exit_code();
  }
  if (PrintLists(options, out)) return sink.exit_code();
  return RunUnderLimits(options.common, started.command_line, sink, [&] {
    return OptRun(options, *stage, *passes, started.command_line, stdin_text, out, sink).Run();
  });
}

}  // namespace hlo
