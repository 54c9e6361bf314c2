#include "tools/run/spread.h"

#include "backends/processes/launch.h"

namespace hlo {
namespace {

/// What one process would find and the others would not hear of.
Status CheckSpreadOptions(const RunOptions& options) {
  const std::pair<const char*, bool> alone[] = {{"run-device", options.run_device.has_value()},
                                                {"bisect-passes", options.bisect_passes},
                                                {"reduce-to", !options.reduce_to.empty()}};
  for (const auto& [name, given] : alone)
    if (given)
      return Error("usage-option", {}, "option '--{0}': not of several processes; --launcher=threads has it",
                   name);
  return {};
}

}  // namespace

bool IsFollower(Launcher launcher) {
  if (launcher != Launcher::Mpi && launcher != Launcher::Auto) return false;
  const auto launch = processes::FindLaunch();
  return launch && *launch && (*launch)->rank > 0;
}

Result<std::unique_ptr<Processes>> JoinProcesses(const RunOptions& options) {
  if (options.launcher == Launcher::Nccl)
    return Error("unavailable-nccl", {},
                 "no launcher 'nccl': --platform=gpu runs on all GPUs of this machine by itself");
  if (options.launcher == Launcher::Threads) return std::unique_ptr<Processes>();
  if (options.launcher == Launcher::Auto) {
    HLO_TRY(const auto launch, processes::FindLaunch());
    if (!launch || launch->size == 1) return std::unique_ptr<Processes>();
  }
  HLO_CHECK_OK(CheckSpreadOptions(options));
  return Processes::JoinMpi();
}

void Follow(RunOptions& options) {
  // How often things run does not change.
  if (options.Benchmarking() && options.benchmark == ReportForm::Unset) options.benchmark = ReportForm::Table;
  if (options.Profiling() && options.profile == ReportForm::Unset) options.profile = ReportForm::Table;
  for (std::string* file :
       {&options.outfeed, &options.save_inputs, &options.output_literal, &options.result_json, &options.csv,
        &options.baseline, &options.trace, &options.profile_out, &options.passes.dump_to, &options.memory})
    file->clear();
  options.expected.clear();
  options.reference = Reference::None;
  options.print = PrintMode::None;
  options.peaks = "flops=1,bandwidth=1";
  options.progress = When::Never;
}

Status AgreeToRun(Processes& processes, Status mine, const Module* program) {
  const std::string own = mine ? std::to_string(Fingerprint(*program)) : "";
  HLO_TRY(const std::vector<std::string> all, processes.Share(own));
  if (!mine) return mine;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty())
      return Error("runtime-collective-timeout", {}, "process {0} of {1} cannot run the module", r,
                   all.size());
    if (all[r] != own)
      return Error("runtime-collective-mismatch", {},
                   "process {0} has another program: another module, other options, or another processor", r);
  }
  return {};
}

void KeepingStream::write_impl(const char* text, size_t size) {
  kept_.append(text, size);
  to_.write(text, size);
  to_.flush();
}

}  // namespace hlo
