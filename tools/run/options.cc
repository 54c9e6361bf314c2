#include "tools/run/options.h"

#include "llvm/Support/Format.h"
#include "tools/run/profile.h"

namespace hlo {
namespace {

using R = RunOptions;

constexpr OptionRow kPlatformRows[] = {
    Option<&R::platform>("platform", "NAME", "cpu",
                         "interpreter, cpu, gpu, or gpu-emu: a GPU that is emulated"),
    Option<&R::reference>("reference-platform", "NAME", "", "run there too, without passes, and compare")
        .Bare("interpreter"),
    Option<&R::reference_passes>("run-reference-hlo-passes", "WHEN", "auto", "on the reference platform")
        .Advanced(),
    Option<&R::despecialize>("despecialize", "", "",
                             "reference without schedule, fusions and mixed precision")
        .Advanced(),
    Option<&R::mcpu>("mcpu", "CPU", "native", "the CPU that code is made for, in LLVM's words").Advanced(),
    Option<&R::mattr>("mattr", "+F,-F", "", "features of the CPU to add or take away")
        .Advanced()
        .MayBeEmpty(),
    Option<&R::gpu_target>("gpu-target", "NAME|FILE", "h100",
                           "the GPU that code is for: a100, b200, h100, h200, or a description"),
    Option<&R::gpu_devices>("gpu-devices", "N,...", "all in turn",
                            "gpu: the GPU of each device of the run, by replica and partition")
        .Advanced(),
    Option<&R::gpu_sync>("gpu-sync", "", "", "gpu: wait for each step, so that errors name the instruction")
        .Advanced(),
    Option<&R::gpu_graphs>("gpu-graphs", "off|auto|on", "auto",
                           "gpu: what is recorded once and launched together: nothing, long loops and all "
                           "steps from the second run on, or all in the first run")
        .Advanced(),
    Option<&R::gpu_streams>("gpu-streams", "off|auto|all", "auto",
                            "gpu: which steps run beside others: none, long ones, or all that can do")
        .Advanced(),
    Option<&R::gpu_libraries>("gpu-libraries", "off|auto|FOLDER", "auto",
                              "gpu: what NVIDIA's libraries have is done by them, where they are or in a "
                              "folder; with --strict-fp off")
        .Advanced(),
    Option<&R::gpu_tf32>("gpu-tf32", "", "",
                         "gpu: products and convolutions of f32 round their operands to tf32, where their "
                         "precision is default or high; with --strict-fp not")
        .Advanced(),
    Option<&R::autotune>("autotune", "off|cached|on", "off",
                         "gpu: schedules of kernels from the file of results, or found by trying; with "
                         "--deterministic off")
        .Advanced(),
    Option<&R::autotune_results>("autotune-results", "FILE", "autotune.txt in the cache",
                                 "gpu: the file of results of --autotune")
        .Advanced(),
    Option<&R::gpu_emu>("gpu-emu", "KEY=VALUE", "",
                        "gpu-emu, repeatable: seed=N orders threads, memory=BYTES, checks=off, devices=N, "
                        "driver=VERSION, fault=FUNCTION@CALL=ERROR")
        .Advanced(),
    Option<&R::force_path>(
        "force-path", "NAME", "",
        "cpu: products and convolutions that this way can compute are computed by it: onednn, "
        "gemv, packed-gemm, ... (--explain-codegen has their names)")
        .Advanced(),
    Option<&R::remove_infeed_outfeed>("remove-infeed-outfeed", "", "", "infeeds become zeros, outfeeds go")
        .Advanced(),
    Option<&R::dump_snapshots>("xla-dump-hlo-snapshots", "", "",
                               "arguments and results into the folder of --dump-to")
        .Advanced(),
    Option<&R::tier>("tier", "TIER", "auto", "cpu: interpret kernels, compile them, or auto: what is faster"),
    Option<&R::no_cache>("no-cache", "", "", "compile kernels anew, do not keep them on disk"),
    Option<&R::compile_only>("compile-only", "", "", "check that the module can be run, do not run it"),
    Option<&R::infeed>("infeed", "@f.npz", "", "feeds infeed instructions, members in file order"),
    Option<&R::outfeed>("outfeed", "@f.npz", "", "captures what outfeed instructions send"),
    Option<&R::custom_call_libraries>("custom-call-lib", "FILE.so", "",
                                      "C functions of custom-call targets, not typed FFI; repeatable"),
    Option<&R::custom_call>("custom-call", "TARGET=WHAT", "",
                            "missing custom-call targets: error, zeros or identity"),
    Option<&R::show_literal>("show-literal", "FILE", "",
                             "print the arrays of an npy, npz or txt file and stop")
        .Advanced(),
};
constexpr OptionRow kArgumentRows[] = {
    Option<&R::input>(
        "input", "[SEL:]VALUE", "",
        "an argument, repeatable. SEL: parameter number or name, {tuple,index}, @rR @pP @dD. VALUE: @f.npy, "
        "@f.npz, @f.npz#key, @f.bin, @f.txt, a literal, 2x2xf32=1 2 3 4, zeros, ones, const(V), iota, "
        "iota(DIM), uniform(LO,HI), normal(MEAN,STD), device-id, uninit"),
    Option<&R::inputs>("inputs", "@f.npz", "",
                       "all arguments: arg0, arg1_0 (tuple leaf), or parameter names"),
    Option<&R::fake>("fake", "MODE", "random",
                     "arguments not given: random, random-shared, edge or a generator"),
    Option<&R::seed>("seed", "N|time", "0", "of made-up arguments"),
    Option<&R::large_float_range>("large-float-range", "", "", "random floats of all magnitudes").Advanced(),
    Option<&R::force_fake_data>("force-fake-data", "", "", "ignore arguments stored in a snapshot")
        .Advanced(),
    Option<&R::rng_seed>("rng-seed", "N", "42", "of the module's own random instructions"),
    Option<&R::save_inputs>("save-inputs", "@f.npz", "", "write the exact arguments"),
};
constexpr OptionRow kResultRows[] = {
    Option<&R::print>("print", "HOW", "auto", "none, summary, full or auto (full up to 64 elements)"),
    Option<&R::output_literal>("output", "@FILE", "",
                               "results as npy, npz, txt, bin or json; %m module name, %i index")
        .Letter('o'),
    Option<&R::output_encoding>("output-format", "FORMAT", "extension of -o", "npy, npz, txt, bin or json"),
    Option<&R::npy_widen>("npy-widen", "", "",
                          "types NumPy lacks as f32 or int8 instead of void; read so, too")
        .Advanced(),
    Option<&R::output_devices>("output-devices", "WHICH", "", "all, first or none; first if all are equal"),
    Option<&R::result_json>("result-json", "FILE", "", "object hlo.run/1"),
    Option<&R::json_indent>("json-indent", "N", "0", "spaces per level of that object").Advanced(),
};
constexpr OptionRow kComparisonRows[] = {
    Option<&R::bisect_passes>("bisect-passes", "", "", "the pass and the rewrite that make results differ")
        .Advanced(),
    Option<&R::reduce_to>("reduce-to", "FILE", "", "a small module that fails as this one does").Advanced(),
    Option<&R::expected>("expected", "VALUE", "", "compare results, repeatable; (ignored) skips one"),
    Option<&R::compare_files>("compare-files", "", "", "compare two result files given instead of modules"),
    Option<&R::abs_error>("abs-error", "X", "by type", "largest absolute error"),
    Option<&R::rel_error>("rel-error", "X", "by type",
                          "largest relative error; an element fails if it exceeds both"),
    Option<&R::ulp_error>("ulp-error", "N", "",
                          "units in the last place that must be exceeded, too, for an element to fail"),
    Option<&R::nan>("nan", "HOW", "equal", "equal, never or ignore"),
    Option<&R::tolerance>("tolerance", "SPEC", "", "f32:abs=1e-4,rel=1e-4;%name:ulp=16, exact, elements"),
    Option<&R::iterations>("iterations", "N", "1", "runs with seed, seed+1, …, each compared"),
    Option<&R::until_mismatch>("until-mismatch", "", "", "stop iterating at the first mismatch").Advanced(),
    Option<&R::chain>("chain", "OUT=ARG,...", "", "feed outputs back as arguments of the next repeat")
        .Advanced(),
};
constexpr OptionRow kDeviceRows[] = {
    Option<&R::num_replicas>("num-replicas", "N", "module", "replicas to simulate"),
    Option<&R::num_partitions>("num-partitions", "N", "module", "partitions to simulate"),
    Option<&R::is_partitioned>("is-partitioned", "", "", "the module is already per device").Advanced(),
    Option<&R::launcher>("launcher", "HOW", "auto",
                         "threads, mpi (processes of mpirun or srun) or nccl (a GPU each)"),
    Option<&R::coordinator>("coordinator", "HOST:PORT", "",
                            "without MPI: where the first process listens and the others come to")
        .Advanced(),
    Option<&R::rank>("rank", "N", "MPI's or Slurm's", "which of the processes this one is, from 0 on")
        .Advanced(),
    Option<&R::world_size>("world-size", "N", "MPI's or Slurm's", "how many processes there are").Advanced(),
    Option<&R::run_device>("run-device", "D", "", "run one device only").Advanced(),
    Option<&R::input_scope>("input-scope", "SCOPE", "global",
                            "global arrays are cut by sharding; or per-device")
        .Advanced(),
    Option<&R::collective_timeout>("collective-timeout", "DURATION", "30s",
                                   "then tell which device waits where")
        .Advanced(),
    Option<&R::donate>("donate", "WHICH", "auto", "auto, none, all or a list of parameters"),
    Option<&R::alias>("alias", "HOW", "copy",
                      "outputs aliased to arguments not donated: copy, or strict (exit 6)")
        .Advanced(),
    Option<&R::poison_donated>("poison-donated", "", "on", "overwrite donated buffers after use").Advanced(),
    Option<&R::memory>("memory", "summary|peak", "",
                       "bytes by kind and the largest; peak: all in use at the peak")
        .Bare("summary"),
    Option<&R::check_memory>("check-memory", "", "",
                             "cpu: find writes outside of buffers and reads of unwritten memory"),
    Option<&R::device_limit>("xla-force-host-platform-device-count", "N", "4096", "devices at most")
        .Advanced(),
};

constexpr OptionRow kTimingRows[] = {
    Option<&R::repeats>("repeats", "N", "1", "timed executions of the same data; 5 with --profile"),
    Option<&R::warmup>("warmup", "N", "0", "untimed executions before").Advanced(),
    Option<&R::benchmark>("benchmark", "table|json", "",
                          "20 repeats and 3 warm-ups; times of compilation, transfer and execution")
        .Bare("table"),
    Option<&R::trace>("trace", "FILE", "", "Chrome trace of compilation, executions and instructions"),
    Option<&R::profile>("profile", "table|json", "",
                        "time per instruction beside what the machine allows; one warm-up")
        .Bare("table"),
    Option<&R::profile_out>("profile-out", "FILE", "", "the profile as object hlo.profile/1; %m, %i")
        .Advanced(),
    Option<&R::group_by>("group-by", "WHAT", "instruction",
                         "its rows: instruction, opcode, source, op-name or computation"),
    Option<&R::top>("top", "N", "30", "rows of its table; 0: all").Advanced(),
    Option<&R::peaks>("peaks", "SPEC", "auto",
                      "what the machine allows: auto measures, or flops=X,bandwidth=Y")
        .Advanced(),
    Option<&R::csv>("csv", "FILE", "", "append a row of times per module").Advanced(),
    Option<&R::baseline>("baseline", "FILE", "", "exit 1 if slower than what --benchmark=json printed there"),
    Option<&R::max_slowdown>("max-slowdown", "N%", "5%", "beyond noise, what --baseline lets pass")
        .Advanced(),
};

constexpr OptionAlias kOwnAliases[] = {
    {"format", "input-format"},
    {"debug_options_file", "config"},
    {"device_type", "platform"},
    {"test_platform", "platform"},
    {"run", "compile-only", "", /*negated=*/true},
    {"input_literals_file", "inputs"},
    {"hlo_argument_mode", "fake"},
    {"random_seed", "seed"},
    {"use_large_float_range", "large-float-range"},
    {"print_literals", "print"},
    {"dump_output_literal_to", "output"},
    {"output_mode", "output-devices"},
    {"expected_output", "expected"},
    {"abs_error_bound", "abs-error"},
    {"rel_error_bound", "rel-error"},
    {"num_repeats", "repeats"},
    {"profile_execution", "profile", "table"},
    {"append_profile_to_csv_file", "csv"},
    {"is_spmd_partitioned_module", "is-partitioned"},
    {"run_single_shard_id", "run-device"},
    {"task_id", "rank"},
    {"num_nodes", "world-size"},
    {"address", "coordinator"},
    {"run-test-hlo-passes", "run-hlo-passes"},
    {"run_xla_backend_only", "run-hlo-passes", "never"},
};
constexpr auto kAliases = WithPassAliases(kOwnAliases);

// Documented, but of parts that come later.
constexpr UnavailableOption kLaterOptions[] = {
    {"target-triple", "code generation for other kinds of machines"},
    {"gpu-arch", "code generation"},
    {"gpu-target-config", "code generation"},
    {"xla-gpu-target-config-filename", "code generation"},
    {"find-divergence", "locating faults"},
    {"divergence-feed", "locating faults"},
    {"divergence-budget", "locating faults"},
    {"expected-values", "locating faults"},
    {"isolate-instructions", "locating faults"},
    {"filter-by-name", "locating faults"},
    {"skip-by-name", "locating faults"},
    {"filter-by-opcode", "locating faults"},
    {"skip-by-opcode", "locating faults"},
    {"shard-index", "locating faults"},
    {"num-shards", "locating faults"},
    {"check-finite", "locating faults"},
    {"watch", "locating faults"},
    {"watch-out", "locating faults"},
    {"partition", "the partitioner", /*flag=*/true},
    {"use-spmd-partitioning", "the partitioner", /*flag=*/true},
};

// What is for one platform says nothing on others: scripts give the same options for all.
constexpr OptionRelation kNeeds[] = {
    {"run-reference-hlo-passes|despecialize", "reference-platform|bisect-passes|reduce-to"},
    {"abs-error|rel-error|ulp-error|nan|tolerance|until-mismatch",
     "expected|reference-platform|compare-files|bisect-passes|reduce-to"},
    {"group-by|top|peaks", "profile|profile-out"},
    {"max-slowdown", "baseline"},
    {"output-format", "output"},
    {"chain", "repeats|benchmark|baseline|profile|profile-out"},
    kDumpNeeds,
};
constexpr OptionRelation kExcludes[] = {
    {"compile-only",
     "expected|output|result-json|benchmark|baseline|profile|profile-out|csv|reference-platform|save-inputs|"
     "outfeed|compare-files|bisect-passes|reduce-to"},
    {"compare-files",
     "input|inputs|expected|output|reference-platform|passes|O|benchmark|baseline|profile|profile-out|"
     "bisect-passes|reduce-to|show-literal"},
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-run m.hlo                                       random arguments, results printed",
    "hlo-run --inputs=@in.npz --output=@out.npz m.hlo    arguments and results in files",
    "hlo-run --input='f32[4] {1,2,3,4}' --input=1:iota m.hlo",
    "hlo-run --expected=@out.npz --tolerance=exact m.hlo reproducible?",
    "hlo-run --passes=algsimp --reference-platform m.hlo same values as without passes?",
    "mpirun -np 4 hlo-run m.hlo                          its devices spread over four processes",
    "hlo-run /tmp/dump                                   all modules of an XLA dump directory",
};

Status AtLeast(const char* option, int64_t value, int64_t least) {
  if (value >= least) return {};
  return Error("usage-option", {}, "option '{0}': found '{1}', expected at least {2}", option, value, least);
}

}  // namespace

const ToolInfo kHloRun = {
    "hlo-run",
    "executes HLO modules on given or generated arguments, prints, stores and compares results.",
    "[options] FILE... | DIR",
    kAliases,
    kLaterOptions,
    kExamples,
    kNeeds,
    kExcludes};

std::vector<OptionGroup> RunGroups(RunOptions& options) {
  std::vector<OptionGroup> groups = {
      {"Platform", kPlatformRows, &options}, {"Arguments", kArgumentRows, &options},
      {"Results", kResultRows, &options},    {"Comparison", kComparisonRows, &options},
      {"Timing", kTimingRows, &options},     {"Devices", kDeviceRows, &options}};
  for (OptionGroup group : PassGroups(options.passes)) {
    // A trace is of the run here, not of the passes.
    if (group.rows.back().name == "trace") group.rows = group.rows.drop_back();
    group.advanced = true;
    groups.push_back(group);
  }
  return groups;
}

Result<double> MaxSlowdown(const RunOptions& options) {
  double percent = 0;
  llvm::StringRef text = options.max_slowdown;
  if (!text.consume_back("%") || text.getAsDouble(percent) || !(percent >= 0))
    return Error("usage-option", {}, "option '--max-slowdown': found '{0}', expected a percentage, as 5%",
                 options.max_slowdown);
  return percent / 100;
}

Status CheckRunOptions(const RunOptions& o) {
  HLO_CHECK_OK(AtLeast("--iterations", o.iterations, 1));
  HLO_CHECK_OK(AtLeast("--repeats", o.Repeats(), 1));
  HLO_CHECK_OK(AtLeast("--warmup", o.Warmup(), 0));
  HLO_CHECK_OK(AtLeast("--top", o.top, 0));
  HLO_CHECK_OK(AtLeast("--json-indent", o.json_indent, 0));
  for (const auto& [option, bound] :
       {std::pair("--abs-error", o.abs_error), {"--rel-error", o.rel_error}, {"--ulp-error", o.ulp_error}})
    if (bound && !(*bound >= 0))
      return Error("usage-option", {}, "option '{0}': found '{1}', expected at least 0", option,
                   llvm::format("%g", *bound));
  if (o.num_replicas) HLO_CHECK_OK(AtLeast("--num-replicas", *o.num_replicas, 1));
  if (o.num_partitions) HLO_CHECK_OK(AtLeast("--num-partitions", *o.num_partitions, 1));
  if (o.device_limit) HLO_CHECK_OK(AtLeast("--xla_force_host_platform_device_count", *o.device_limit, 1));
  if (o.run_device) HLO_CHECK_OK(AtLeast("--run-device", *o.run_device, 0));
  HLO_TRY([[maybe_unused]] const double slowdown, MaxSlowdown(o));
  if (o.Profiling() && o.peaks != "auto") {
    HLO_TRY([[maybe_unused]] const cpu::Peaks peaks, PeaksOf(o.peaks));
  }
  if (!o.memory.empty() && o.memory != "summary" && o.memory != "peak")
    return Error("usage-option", {}, "option '--memory': found '{0}', expected summary or peak", o.memory);
  if (o.check_memory && (o.Profiling() || o.Benchmarking()))
    return Error("usage-option", {}, "option '--check-memory': its runs have no times to report");
  if (!o.force_path.name.empty() && o.platform != Platform::Cpu)
    return Error("usage-option", {}, "option '--force-path': products of --platform=cpu have paths");
  uint64_t seed = 0;
  if (o.seed != "time" && llvm::StringRef(o.seed).getAsInteger(0, seed))
    return Error("usage-option", {}, "option '--seed': found '{0}', expected a number or time", o.seed);
  return {};
}

bool DataOnStandardOutput(const RunOptions& options) {
  return llvm::StringRef(options.output_literal).ltrim('@') == "-" || options.result_json == "-" ||
         options.benchmark == ReportForm::Json || options.profile_out == "-" ||
         (options.profile == ReportForm::Json && options.profile_out.empty());
}

}  // namespace hlo
