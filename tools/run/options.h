// The options of hlo-run (tools.md §3).
#pragma once
#include <optional>

#include "backends/client/platform.h"
#include "backends/processes/launch.h"
#include "tools/arrays/array_file.h"
#include "tools/common/common_options.h"
#include "tools/common/force_path_option.h"
#include "tools/common/tier_option.h"
#include "tools/opt/pass_options.h"

namespace hlo {

enum class FakeMode : uint8_t { Random, RandomShared, Edge, Zeros, Normal, DeviceId, Uninit, Generator };
enum class PrintMode : uint8_t { None, Summary, Full, Auto };
enum class OutputDevices : uint8_t { Auto, All, First, None };
enum class InputScope : uint8_t { Global, PerDevice };
using processes::Launcher;
enum class AliasMode : uint8_t { Copy, Strict };
/// Where the run to compare with takes place.
enum class Reference : uint8_t {
  None,
#define HLO_PLATFORM(kind, name, compile, takes) kind,
#include "backends/client/platforms.def"
#undef HLO_PLATFORM
};
/// There is one.
inline Platform PlatformOf(Reference reference) {
  return static_cast<Platform>(static_cast<uint8_t>(reference) - 1);
}
/// A report that is a table or JSON, if it is asked for.
enum class ReportForm : uint8_t { Unset, Table, Json };
/// What the rows of a profile are.
enum class GroupBy : uint8_t { Instruction, Opcode, Source, OpName, Computation };
/// As gpu::GraphUse, gpu::SideStreams and gpu::Tuning.
enum class GpuGraphs : uint8_t { Off, Auto, On };
enum class GpuStreams : uint8_t { Off, Auto, All };
enum class Autotune : uint8_t { Off, Cached, On };
enum class NanMode : uint8_t { Equal, Never, Ignore };

struct RunOptions : CommonOptions {
  Platform platform = Platform::Cpu;
  Reference reference = Reference::None;
  RunPasses reference_passes = RunPasses::Auto;
  PassRunOptions passes;
  bool despecialize = false, remove_infeed_outfeed = false, dump_snapshots = false;
  std::string mcpu, mattr, gpu_target, gpu_libraries;
  bool gpu_tf32 = false;
  std::vector<std::string> gpu_emu;  // KEY=VALUE
  NameList gpu_devices;
  bool gpu_sync = false;
  GpuGraphs gpu_graphs = GpuGraphs::Auto;
  GpuStreams gpu_streams = GpuStreams::Auto;
  Autotune autotune = Autotune::Off;
  std::string autotune_results;
  ForcedPath force_path;
  bool compile_only = false;
  Tier tier = Tier::Auto;
  bool no_cache = false;
  std::string infeed, outfeed;
  std::vector<std::string> custom_call;  // TARGET=error|zeros|identity
  std::vector<std::string> custom_call_libraries;
  std::string show_literal;
  // Arguments
  std::vector<std::string> input;
  std::string inputs;
  std::string fake = "random";
  std::string seed = "0";
  bool large_float_range = false, force_fake_data = false;
  uint64_t rng_seed = 42;
  std::string save_inputs;
  // Results
  PrintMode print = PrintMode::Auto;
  std::string output_literal;                  // --output
  std::optional<ArrayFormat> output_encoding;  // --output-format
  bool npy_widen = false;
  OutputDevices output_devices = OutputDevices::Auto;
  std::string result_json;
  int64_t json_indent = 0;
  // Comparison
  std::vector<std::string> expected;
  bool compare_files = false;
  std::optional<double> abs_error, rel_error, ulp_error;
  NanMode nan = NanMode::Equal;
  std::vector<std::string> tolerance;
  int64_t iterations = 1;
  bool until_mismatch = false;
  std::optional<int64_t> repeats, warmup;
  NameList chain;
  bool bisect_passes = false;
  std::string reduce_to;
  int64_t processes = 1;  // no option: how many share the devices
  bool again = false;     // no option: a run that looks for the fault of another, and writes nothing
  // Devices, aliasing
  std::optional<int64_t> num_replicas, num_partitions, run_device, device_limit;
  bool is_partitioned = false;
  Launcher launcher = Launcher::Auto;
  std::optional<int64_t> rank, world_size;
  std::string coordinator;
  InputScope input_scope = InputScope::Global;
  std::chrono::milliseconds collective_timeout{30000};
  std::string donate = "auto";
  AliasMode alias = AliasMode::Copy;
  bool poison_donated = true, check_memory = false;
  std::string memory;  // summary, peak
  // Timing
  ReportForm benchmark = ReportForm::Unset;
  std::string csv, baseline, trace;
  std::string max_slowdown = "5%";
  ReportForm profile = ReportForm::Unset;
  std::string profile_out, peaks = "auto";
  GroupBy group_by = GroupBy::Instruction;
  int64_t top = 30;

  [[nodiscard]] bool Profiling() const { return profile != ReportForm::Unset || !profile_out.empty(); }
  [[nodiscard]] bool Benchmarking() const { return benchmark != ReportForm::Unset || !baseline.empty(); }
  [[nodiscard]] int64_t Repeats() const {
    return repeats.value_or(Benchmarking() ? 20 : Profiling() ? 5 : 1);
  }
  [[nodiscard]] int64_t Warmup() const { return warmup.value_or(Benchmarking() ? 3 : Profiling() ? 1 : 0); }
};

extern const ToolInfo kHloRun;
/// hlo-run's own groups; the first shows before the common ones.
std::vector<OptionGroup> RunGroups(RunOptions& options);
/// The factor minus 1 that --max-slowdown allows.
Result<double> MaxSlowdown(const RunOptions& options);
/// Combinations that make no sense, numbers out of range: usage-option.
Status CheckRunOptions(const RunOptions& options);

template <>
inline constexpr OptionWord<Platform> kOptionWords<Platform>[] = {
    {"interpreter", Platform::Interpreter}, {"cpu", Platform::Cpu},  {"gpu", Platform::Gpu},
    {"gpu-emu", Platform::GpuEmu},          {"host", Platform::Cpu}, {"cuda", Platform::Gpu},
};
template <>
inline constexpr OptionWord<Reference> kOptionWords<Reference>[] = {
    {"interpreter", Reference::Interpreter},
    {"cpu", Reference::Cpu},
    {"gpu", Reference::Gpu},
    {"gpu-emu", Reference::GpuEmu},
    {"default", Reference::Interpreter},
    {"host", Reference::Cpu},
    {"cuda", Reference::Gpu},
    {"", Reference::None},
};
template <>
inline constexpr OptionWord<GpuGraphs> kOptionWords<GpuGraphs>[] = {
    {"off", GpuGraphs::Off},
    {"auto", GpuGraphs::Auto},
    {"on", GpuGraphs::On},
};
template <>
inline constexpr OptionWord<GpuStreams> kOptionWords<GpuStreams>[] = {
    {"off", GpuStreams::Off},
    {"auto", GpuStreams::Auto},
    {"all", GpuStreams::All},
};
template <>
inline constexpr OptionWord<Autotune> kOptionWords<Autotune>[] = {
    {"off", Autotune::Off},
    {"cached", Autotune::Cached},
    {"on", Autotune::On},
};
template <>
inline constexpr OptionWord<ReportForm> kOptionWords<ReportForm>[] = {
    {"table", ReportForm::Table},
    {"json", ReportForm::Json},
};
template <>
inline constexpr OptionWord<GroupBy> kOptionWords<GroupBy>[] = {
    {"instruction", GroupBy::Instruction}, {"opcode", GroupBy::Opcode},           {"source", GroupBy::Source},
    {"op-name", GroupBy::OpName},          {"computation", GroupBy::Computation},
};
template <>
inline constexpr OptionWord<ArrayFormat> kOptionWords<ArrayFormat>[] = {
    {"npy", ArrayFormat::Npy}, {"npz", ArrayFormat::Npz},   {"txt", ArrayFormat::Txt},
    {"bin", ArrayFormat::Bin}, {"json", ArrayFormat::Json},
};
template <>
inline constexpr OptionWord<PrintMode> kOptionWords<PrintMode>[] = {
    {"auto", PrintMode::Auto}, {"none", PrintMode::None}, {"summary", PrintMode::Summary},
    {"full", PrintMode::Full}, {"true", PrintMode::Full}, {"false", PrintMode::None},
};
template <>
inline constexpr OptionWord<OutputDevices> kOptionWords<OutputDevices>[] = {
    {"auto", OutputDevices::Auto},
    {"all", OutputDevices::All},
    {"first", OutputDevices::First},
    {"none", OutputDevices::None},
    {"return_outputs", OutputDevices::All},
    {"return_device_0_outputs", OutputDevices::First},
    {"not_return_outputs", OutputDevices::None},
};
template <>
inline constexpr OptionWord<InputScope> kOptionWords<InputScope>[] = {
    {"global", InputScope::Global},
    {"per-device", InputScope::PerDevice},
};
template <>
inline constexpr OptionWord<Launcher> kOptionWords<Launcher>[] = {
    {"auto", Launcher::Auto},
    {"threads", Launcher::Threads},
    {"mpi", Launcher::Mpi},
    {"nccl", Launcher::Nccl},
};
template <>
inline constexpr OptionWord<AliasMode> kOptionWords<AliasMode>[] = {
    {"copy", AliasMode::Copy},
    {"strict", AliasMode::Strict},
};
template <>
inline constexpr OptionWord<NanMode> kOptionWords<NanMode>[] = {
    {"equal", NanMode::Equal},
    {"never", NanMode::Never},
    {"ignore", NanMode::Ignore},
};

/// Standard output takes arrays or the result object: texts go to standard error then.
bool DataOnStandardOutput(const RunOptions& options);

}  // namespace hlo
