#include "tools/run/spread.h"

#include "tools/run/gpu.h"

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
  const processes::LaunchOptions how{options.launcher, options.rank, options.world_size, options.coordinator,
                                     options.collective_timeout};
  if (options.launcher == Launcher::Nccl) HLO_CHECK_OK(CheckNccl(options));
  HLO_TRY(const auto launch, processes::FindLaunch(how));
  if (options.launcher == Launcher::Mpi || (launch && launch->size > 1))
    HLO_CHECK_OK(CheckSpreadOptions(options));
  return Processes::Join(how);
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

void KeepingStream::write_impl(const char* text, size_t size) {
  kept_.append(text, size);
  to_.write(text, size);
  to_.flush();
}

}  // namespace hlo
