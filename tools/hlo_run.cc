// hlo-run: executes modules (tools.md §3).
#include "backends/interpreter/interpreter.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "tools/inputs.h"
#include "tools/process.h"
#include "tools/run_arguments.h"
#include "tools/tool_main.h"

namespace hlo {
namespace {

/// Replaces %m by the module's name and %i by its index.
std::string FillName(llvm::StringRef pattern, const InputModule& input) {
  pattern.consume_front("@");
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'm') {
      text += input.name;
      ++i;
    } else if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'i') {
      text += std::to_string(input.index);
      ++i;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

class Runner {
 public:
  Runner(RunOptions& options, llvm::raw_ostream& out) : options_(options), out_(out) {}

  Status RunOne(const InputModule& input, llvm::ArrayRef<std::string> files) {
    const Module& module = *input.module;
    DeviceCount devices{options_.num_replicas.value_or(std::max<int64_t>(module.config.replica_count, 1)),
                        options_.num_partitions.value_or(std::max<int64_t>(module.config.num_partitions, 1))};
    InterpreterOptions run;
    run.replica_count = devices.replicas;
    run.partition_count = devices.partitions;
    run.rng_seed = options_.rng_seed;
    run.collective_timeout = options_.collective_timeout;
    HLO_CHECK_OK(CheckSupported(module, run));
    ArgumentSource source(options_, module, devices);
    HLO_CHECK_OK(source.Read());
    HLO_TRY(Arguments arguments, source.Make(0));
    HLO_TRY(InterpreterResult result, RunModule(module, std::move(arguments), run));
    if (options_.output_literal.empty()) return {};
    const std::string path = FillName(options_.output_literal, input);
    HLO_TRY(const ArrayFormat format, ArrayFormatOf("--output", path));
    const bool per_device = devices.total() > 1 && options_.output_devices == OutputDevices::All;
    std::vector<NamedArray> arrays;
    const int64_t count = per_device ? devices.total() : 1;
    for (int64_t d = 0; d < count; ++d)
      AppendLeaves(result.results[static_cast<size_t>(d)], "out", true, DeviceSuffix(devices, d, per_device), arrays);
    return WriteArrays(path, format, arrays, llvm::ArrayRef(result.results).take_front(static_cast<size_t>(count)),
                       options_.npy_widen, out_, files);
  }

 private:
  RunOptions& options_;

  llvm::raw_ostream& out_;
};

}  // namespace

int HloRunMain(llvm::ArrayRef<const char*> args, llvm::StringRef stdin_text, llvm::raw_ostream& out, llvm::raw_ostream& err) {
  RunOptions options;
  options.verify = VerifyMode::Input;
  options.elided_constants = ElidedPolicy::Random;
  Started started = StartTool(kHloRun, RunGroups(options), options, args, out, err);
  if (started.exit_code) return *started.exit_code;
  DiagnosticSink sink(kHloRun.name, options, err);
  sink.Report(started.command_line.warnings);
  if (auto status = CheckRunOptions(options); !status) {
    sink.Report(status.error());
    return sink.exit_code();
  }
  SetThreadCount(static_cast<int>(options.threads));
  Runner runner(options, out);
  InputReader reader(options, started.command_line.positional, stdin_text, sink);
  while (auto input = reader.Next()) {
    if (!input->module) continue;
    if (auto status = runner.RunOne(*input, reader.files()); !status) sink.Report(status.error());
  }
  return sink.exit_code();
}

}  // namespace hlo
