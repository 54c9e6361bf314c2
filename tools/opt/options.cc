#include "tools/opt/options.h"

namespace hlo {
namespace {

using O = OptOptions;

struct StageRow {
  llvm::StringLiteral name;
  OptStage stage;
  std::optional<CodeForm> code{};
  std::optional<GpuCodeForm> gpu{};
};
constexpr StageRow kStages[] = {
    {"parsed", OptStage::Parsed},
    {"hlo", OptStage::Hlo},
    {"hlo-scheduled", OptStage::Scheduled},
    {"hlo-backend", OptStage::Scheduled},
    {"buffer-assignment", OptStage::Buffers},
    {"program", OptStage::Code, CodeForm::Program},
    {"kernel-ir", OptStage::Code, CodeForm::KernelIr, GpuCodeForm::KernelIr},
    // Kernels are emitted as they shall be: no pass runs over their IR.
    {"llvm-before-optimizations", OptStage::Code, CodeForm::LlvmBefore, GpuCodeForm::LlvmBefore},
    {"llvm-after-optimizations", OptStage::Code, CodeForm::LlvmAfter, GpuCodeForm::LlvmAfter},
    {"llvm", OptStage::Code, CodeForm::LlvmAfter, GpuCodeForm::LlvmAfter},
    {"asm", OptStage::Code, CodeForm::Assembly},
    {"obj", OptStage::Code, CodeForm::Object},
    {"ptx", OptStage::Code, {}, GpuCodeForm::Ptx},
    {"cubin", OptStage::Code, {}, GpuCodeForm::Cubin},
    {"sass", OptStage::Code, {}, GpuCodeForm::Sass},
    {"header", OptStage::Code, CodeForm::Header},
    {"json", OptStage::Json},
    {"pb", OptStage::Proto},
    {"pbtxt", OptStage::ProtoText},
    {"dot", OptStage::Dot},
    {"html", OptStage::Html},
    {"cost", OptStage::Cost},
};

struct FormatRow {
  llvm::StringLiteral word;
  OptStage stage;  // instead of `hlo`
};
constexpr FormatRow kFormats[] = {
    {"hlo", OptStage::Hlo},   {"txt", OptStage::Hlo},   {"text", OptStage::Hlo},
    {"json", OptStage::Json}, {"pb", OptStage::Proto},  {"proto", OptStage::Proto},
    {"dot", OptStage::Dot},   {"html", OptStage::Html}, {"pbtxt", OptStage::ProtoText},
};

std::vector<llvm::StringRef> StageWords() {
  std::vector<llvm::StringRef> words;
  for (const StageRow& row : kStages) words.push_back(row.name);
  return words;
}
std::vector<llvm::StringRef> FormatWords() {
  std::vector<llvm::StringRef> words;
  for (const FormatRow& row : kFormats) words.push_back(row.word);
  return words;
}

constexpr OptionRow kTargetRows[] = {
    Option<&O::platform>("platform", "NAME", "none", "pipeline and code generator: none, cpu, gpu"),
    Option<&O::stage>("stage", "STAGE", "hlo",
                      "what to print: parsed, hlo, hlo-scheduled, buffer-assignment, json, pb, dot, html, "
                      "cost; of platform "
                      "cpu: program, kernel-ir, llvm-before-optimizations, llvm, asm, obj, header; of gpu: "
                      "kernel-ir, llvm-before-optimizations, llvm, ptx, cubin, sass")
        .Words(&StageWords),
    Option<&O::aot>("aot", "PREFIX", "",
                    "PREFIX.o, .h and .json: the module as a function of C for other programs"),
    Option<&O::target>("target", "TRIPLE", "this machine's",
                       "with --aot: for which kind of machine (aarch64-linux-gnu)")
        .Advanced(),
    Option<&O::self_contained>("self-contained", "", "",
                               "with --aot: the object calls nothing, products are plain loops")
        .Advanced(),
    Option<&O::aot_weights>("aot-weights", "", "",
                            "with --aot: large constants lie in PREFIX.weights, which the program maps")
        .Advanced(),
    Option<&O::entry_name>("entry-name", "SYM", "the module's name",
                           "the function of --aot; repeatable, for one module after the other")
        .Advanced(),
    Option<&O::explain_codegen>("explain-codegen", "", "",
                                "by which code instructions are computed on cpu, and why"),
    Option<&O::tier>("tier", "TIER", "compile", "with --explain-codegen: as in hlo-run").Advanced(),
    Option<&O::mcpu>(
        "mcpu", "CPU", "native",
        "the CPU that code is made for, in LLVM's words; with --aot several, separated by commas: "
        "the object has code for each and takes what the processor it runs on can do")
        .Advanced(),
    Option<&O::mattr>("mattr", "+F,-F", "", "features of the CPU to add or take away")
        .Advanced()
        .MayBeEmpty(),
    Option<&O::gpu_target>("gpu-target", "NAME|FILE", "h100",
                           "the GPU that code is for: a100, b200, h100, h200, or a description"),
    Option<&O::gpu_tf32>("gpu-tf32", "", "",
                         "gpu: products and convolutions of f32 round their operands to tf32, where their "
                         "precision is default or high; with --strict-fp not")
        .Advanced(),
    Option<&O::force_path>(
        "force-path", "NAME", "",
        "cpu: products and convolutions that this way can compute are computed by it: onednn, "
        "gemv, packed-gemm, ... (--explain-codegen has their names)")
        .Advanced(),
    Option<&O::kernel>("kernel", "RE", "", "only kernels with such a name or of such an instruction")
        .Advanced(),
    Option<&O::debug_lines>("debug-info", "", "", "lines of the HLO text in LLVM IR, assembly and objects")
        .Letter('g')
        .Advanced(),
    Option<&O::list_stages>("list-stages", "", "", "the stages of the platform").Advanced(),
    Option<&O::list_ops>("list-ops", "json", "", "the table of opcodes").Bare("json").Advanced(),
};
constexpr OptionRow kPrintingRows[] = {
    Option<&O::print_style>(
        "print-style", "STYLE", "long",
        "long, short, or canonical (names `opcode.N` in post-order, no metadata: stable under "
        "renaming and reordering)"),
    Option<&O::metadata>("print-metadata", "", "by style", "metadata and stack tables"),
    Option<&O::layouts>("print-layouts", "", "by style", "layouts of shapes"),
    Option<&O::operand_shapes>("print-operand-shapes", "", "by style", "shapes before operands"),
    Option<&O::backend_config>("print-backend-config", "", "by style", "backend_config attributes")
        .Advanced(),
    Option<&O::sharding>("print-sharding", "", "by style", "sharding attributes"),
    Option<&O::large_constants>("print-large-constants", "N", "unlimited; 10 on a terminal",
                                "larger constants are printed as {...}"),
    Option<&O::async_sugar>("async-sugar", "", "", "print async ops as `X-start`, `X-update`, `X-done`"),
    Option<&O::print_fingerprint>("print-fingerprint", "", "", "a hash per module, blind to names and order")
        .Advanced(),
    Option<&O::json_indent>("json-indent", "N", "0", "spaces per level of JSON output").Advanced(),
    Option<&O::split_marker>("output-split-marker", "TEXT", "// -----", "line between several modules")
        .Advanced()
        .MayBeEmpty(),
};
constexpr OptionRow kCheckingRows[] = {
    Option<&O::check>("check", "", "", "parse and verify, print nothing"),
    Option<&O::verify_roundtrip>("verify-roundtrip", "", "", "print, reparse, compare"),
    Option<&O::verify_diagnostics>("verify-diagnostics", "", "",
                                   "compare with `// expected-error {{text}}` comments"),
    Option<&O::update_checks>("update-checks", "", "", "rewrite the generated CHECK block of each module")
        .Advanced(),
    Option<&O::in_place>("in-place", "", "", "with --update-checks: into the input file").Advanced(),
};
constexpr OptionRow kExtractionRows[] = {
    Option<&O::extract>("extract", "NAME", "", "a module that computes this instruction; repeatable"),
    Option<&O::extract_computation>("extract-computation", "NAME", "",
                                    "a module with this computation as entry")
        .Advanced(),
    Option<&O::extract_height>("extract-height", "N", "-1",
                               "levels of operands kept; -1: all, 0: the instruction alone"),
    Option<&O::extract_boundary>("extract-boundary", "WHAT", "parameter",
                                 "stand-in for what was cut: parameter, zeros or random"),
    Option<&O::isolate>("isolate", "", "", "one module per non-trivial instruction, duplicates merged"),
    Option<&O::output_directory>("output-dir", "DIR", "", "with --isolate: a file per module").Advanced(),
    Option<&O::while_execution_count>("while-execution-count", "N", "", "let every while loop run N times")
        .Advanced(),
    Option<&O::remove_infeed_outfeed>("remove-infeed-outfeed", "", "", "infeeds become zeros, outfeeds go")
        .Advanced(),
    Option<&O::disturb_rounding>("disturb-rounding", "", "",
                                 "noise where rounding is: what comparisons measure their bounds with")
        .Advanced(),
    Option<&O::cost>("cost", "csv", "", "FLOPs, transcendentals, bytes per instruction and in all")
        .Bare("table"),
};
constexpr OptionRow kReductionRows[] = {
    Option<&O::reduce>("reduce", "", "", "shrink the module while --test stays interesting"),
    Option<&O::test>("test", "CMD", "",
                     "interesting if CMD (%s: the module, quoted as its place needs) exits with 0"),
    Option<&O::test_exit>("test-exit", "CODES", "0", "codes that are interesting instead: 1,139 or !0")
        .Advanced(),
    Option<&O::test_output>("test-output", "RE", "", "what CMD prints must match, too").Advanced(),
    Option<&O::max_tests>("max-tests", "N", "5000", "tests at most").Advanced(),
    Option<&O::test_timeout>("test-timeout", "DURATION", "10 x first run", "for one test").Advanced(),
    Option<&O::repeat_test>("repeat-test", "K", "1", "interesting if any of K runs is").Advanced(),
    Option<&O::bisect_passes>("bisect-passes", "CMD", "",
                              "find the pass and rewrite that make CMD interesting"),
};
constexpr OptionRow kOutputRows[] = {
    Option<&CommonOptions::output>("output", "FILE", "-", "main output; `-` is standard output").Letter('o'),
    Option<&CommonOptions::output_format>("output-format", "FORMAT", "extension of -o",
                                          "hlo, json (hlo.graph/1), pb, dot or html")
        .Letter('T')
        .Words(&FormatWords),
};

constexpr OptionAlias kOwnAliases[] = {
    {"format", "input-format"},
    {"debug_options_file", "config"},
    {"emit", "stage"},
    {"emit-proto", "stage", "pbtxt"},
    {"instruction", "extract"},
    {"instruction_name", "extract"},
    {"height", "extract-height"},
    {"xla_syntax_sugar_async_ops", "async-sugar"},
    {"xla_dump_disable_metadata", "print-metadata", {}, true},
};

constexpr auto kAliases = WithPassAliases(kOwnAliases);

constexpr UnavailableOption kUnavailableOptions[] = {
    {"target-triple", "code generation for other kinds of machines"},
    {"gpu-arch", "code generation"},
    {"gpu-target-config", "code generation"},
    {"xla-gpu-target-config-filename", "code generation"},
};

// What makes code or runs passes.
constexpr OptionRelation kNeeds[] = {
    {"entry-name|self-contained", "aot|stage=header"},
    {"aot-weights|target", "aot"},
    {"tier", "explain-codegen|stage=program"},
    {"kernel|force-path", "stage|explain-codegen"},
    {"debug-info", "stage"},
    {"extract-height|extract-boundary", "extract"},
    {"output-dir", "isolate"},
    {"in-place", "update-checks"},
    {"test-exit|test-output|test-timeout|repeat-test|max-tests", "reduce|bisect-passes"},
    {"print-before|print-after|print-after-all|print-changed|debug-rewrites|time-passes|pass-stats",
     "passes|O|stage|aot|explain-codegen|platform=cpu|platform=host|platform=gpu|platform=cuda|print-"
     "pipeline"},
    kDumpNeeds,
};
constexpr OptionRelation kExcludes[] = {
    // What prints nothing, or is compared with comments, leaves modules as they are.
    {"check", "passes|O|aot|cost|explain-codegen|extract|extract-computation|isolate|reduce|bisect-passes"},
    {"verify-diagnostics",
     "passes|O|aot|cost|explain-codegen|extract|extract-computation|isolate|reduce|bisect-passes|output"},
    {"stage=parsed",
     "passes|O|extract|extract-computation|isolate|remove-infeed-outfeed|while-execution-count"},
    {"cost", "explain-codegen|stage"},
    {"explain-codegen", "stage"},
    {"reduce", "bisect-passes|isolate|extract|extract-computation|aot|explain-codegen|cost|update-checks"},
    {"bisect-passes", "isolate|extract|extract-computation|aot|explain-codegen|cost|update-checks"},
    {"isolate", "extract"},
    {"aot", "print-fingerprint"},
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-opt --check model.hlo",
    "hlo-opt --print-style=short --no-print-metadata model.hlo -o short.hlo",
    "hlo-opt --passes=algsimp,cse,dce --print-changed model.hlo -o simple.hlo",
    "hlo-opt -O2 --bisect-passes='./check.sh %s' model.hlo",
    "hlo-opt --reduce --test='./fails.sh %s' model.hlo -o small.hlo",
};

/// Of stages of code.
bool IsOf(const StageRow& row, OptPlatform platform) {
  return platform == OptPlatform::Cpu ? row.code.has_value()
                                      : platform == OptPlatform::Gpu && row.gpu.has_value();
}

Result<const StageRow*> ParseStage(llvm::StringRef name) {
  std::vector<llvm::StringRef> words;
  for (const StageRow& row : kStages) {
    if (name == row.name) return &row;
    words.push_back(row.name);
  }
  const std::string hint = DidYouMeanText(name, words);
  return Error("usage-stage", {}, "unknown stage '{0}'{1}{2}", name, hint.empty() ? "" : "; ", hint);
}

/// The form of the output decides where the stage does not.
Status CheckOutputFormat(const OptOptions& options, OptStage& stage) {
  const llvm::StringRef format = options.OutputFormat();
  const auto* row = llvm::find_if(kFormats, [&](const FormatRow& r) { return r.word == format; });
  if (row == std::end(kFormats)) {
    if (options.common.output_format.empty()) return {};  // any extension will do
    std::vector<llvm::StringRef> words;
    for (const FormatRow& known : kFormats) words.push_back(known.word);
    return UnknownWord({"--output-format", format}, words);
  }
  // Costs and buffers have a JSON form of their own.
  const bool own = row->stage == OptStage::Json && (stage == OptStage::Cost || stage == OptStage::Buffers);
  if (row->stage != OptStage::Hlo && !own) stage = row->stage;
  return {};
}

constexpr StageInfo kStageInfos[] = {
    {OptStage::Parsed, ModuleForm::Text, ".hlo", /*hlo=*/true},
    {OptStage::Hlo, ModuleForm::Text, ".hlo", /*hlo=*/true},
    {OptStage::Scheduled, ModuleForm::Text, ".hlo", /*hlo=*/true},
    {OptStage::Buffers, ModuleForm::Text, ".txt"},
    {OptStage::Json, ModuleForm::Json, ".json"},
    {OptStage::Proto, ModuleForm::Proto, ".hlo.pb", /*hlo=*/false, /*single=*/true},
    {OptStage::ProtoText, ModuleForm::ProtoText, ".hlo.pbtxt", /*hlo=*/false, /*single=*/true},
    {OptStage::Dot, ModuleForm::Dot, ".dot"},
    {OptStage::Html, ModuleForm::Html, ".html", /*hlo=*/false, /*single=*/true},
    {OptStage::Cost, ModuleForm::Text, ".txt"},
    {OptStage::Code, ModuleForm::Text, ".s"},
};

}  // namespace

void ListStages(llvm::raw_ostream& os, OptPlatform platform) {
  for (const StageRow& row : kStages)
    if (row.name != "hlo-backend" && row.name != "llvm" &&
        (row.stage != OptStage::Code || IsOf(row, platform)))
      os << row.name << '\n';
}

const StageInfo& Info(OptStage stage) { return kStageInfos[static_cast<size_t>(stage)]; }

const ToolInfo& OptTool() {
  static constexpr ToolInfo kTool = {
      "hlo-opt",
      "checks, prints, converts, optimises, reduces and takes apart HLO modules",
      "[options] [FILE...]",
      kAliases,
      kUnavailableOptions,
      kExamples,
      kNeeds,
      kExcludes};
  return kTool;
}

std::vector<OptionGroup> OptGroups(OptOptions& options) {
  std::vector<OptionGroup> groups = {{"Target", kTargetRows, &options}};
  for (const OptionGroup& group : PassGroups(options.passes)) groups.push_back(group);
  const OptionGroup own[] = {{"Printing", kPrintingRows, &options},
                             {"Checking", kCheckingRows, &options},
                             {"Extraction and analysis", kExtractionRows, &options},
                             {"Reduction", kReductionRows, &options},
                             {"Output", kOutputRows, &options.common}};
  groups.insert(groups.end(), std::begin(own), std::end(own));
  return groups;
}

namespace {

/// Options of --aot, which make the stage.
Status CheckAheadOfTime(OptOptions& options, OptStage& stage) {
  if (llvm::StringRef(options.mcpu).contains(',') && options.aot.empty())
    return Error("usage-option", {}, "option '--mcpu': several CPUs need --aot");
  if (options.aot_weights && (options.aot.empty() || options.host() == CodeHost::Nobody))
    return Error("usage-option", {},
                 "option '--aot-weights' needs --aot and the archive of loops: no --self-contained, and no "
                 "--target for which there is none");
  if (!options.aot.empty()) {
    // Files without a name of their own are hidden, or taken for options.
    if (options.aot == "-" || llvm::StringRef(options.aot).ends_with("/"))
      return Error("usage-option", {}, "option '--aot': '{0}' is no beginning of the names of files",
                   options.aot);
    if (options.stage != "hlo" || options.explain_codegen || options.update_checks)
      return Error("usage-option", {}, "option '--aot' writes files of its own and prints no stage");
    stage = OptStage::Code;
    options.code = CodeForm::Header;
    if (options.platform == OptPlatform::None) options.platform = OptPlatform::Cpu;
  }
  return {};
}

}  // namespace

Result<OptStage> CheckOptOptions(OptOptions& options) {
  HLO_TRY(const StageRow* row, ParseStage(options.stage));
  OptStage stage = row->stage;
  options.code = row->code;
  HLO_CHECK_OK(CheckOutputFormat(options, stage));
  if (options.platform == OptPlatform::Gpu && !options.aot.empty())
    return Error("unavailable-feature", {}, "option '--aot' is not available yet for platform gpu");
  if (!options.list_ops.empty() && options.list_ops != "json")
    return Error("usage-option", {}, "option '--list-ops': found '{0}', expected json", options.list_ops);
  if (options.cost != CostForm::Unset) stage = OptStage::Cost;
  if (options.explain_codegen) {
    stage = OptStage::Code;
    options.code.reset();
    if (options.platform == OptPlatform::None) options.platform = OptPlatform::Cpu;
    // What there is with libraries.
    options.library_convolutions = options.platform == OptPlatform::Gpu && !options.passes.strict_fp;
  }
  HLO_CHECK_OK(CheckAheadOfTime(options, stage));
  if (stage == OptStage::Code && !options.explain_codegen && options.aot.empty() &&
      !IsOf(*row, options.platform))
    return Error("usage-stage", {}, "stage '{0}' is one of --platform={1}; found {2}", options.stage,
                 row->code ? "cpu" : "gpu", WordOf(options.platform));
  options.gpu_code = row->gpu.value_or(GpuCodeForm::Ptx);
  if (options.extract_height < -1)
    return Error("usage-option", {}, "option '--extract-height': found {0}, expected -1 or more",
                 options.extract_height);
  if (options.json_indent < 0 || options.json_indent > 16)
    return Error("usage-option", {}, "option '--json-indent': found {0}, expected 0 to 16",
                 options.json_indent);
  if (options.large_constants && *options.large_constants < -1)
    return Error("usage-option", {},
                 "option '--print-large-constants': found {0}, expected a number of elements",
                 *options.large_constants);
  if (options.while_execution_count &&
      (*options.while_execution_count < 0 || *options.while_execution_count > INT32_MAX))
    return Error("usage-option", {}, "option '--while-execution-count': found {0}, expected 0 to {1}",
                 *options.while_execution_count, INT32_MAX);
  if (options.reduce == options.test.empty())
    return Error("usage-option", {}, "options '--reduce' and '--test' need each other");
  if (options.max_tests < 1 || options.repeat_test < 1)
    return Error("usage-option", {}, "option '--{0}': found {1}, expected 1 or more",
                 options.max_tests < 1 ? "max-tests" : "repeat-test",
                 options.max_tests < 1 ? options.max_tests : options.repeat_test);
  return stage;
}

PrintOptions MakePrintOptions(const OptOptions& options, bool terminal) {
  PrintOptions print =
      options.print_style == PrintStyle::Short ? PrintOptions::ShortParsable() : PrintOptions::ModuleDump();
  print.async_sugar = options.async_sugar;
  if (options.print_style == PrintStyle::Canonical) print.metadata = print.origin = false;
  print.max_constant_elements = options.large_constants.value_or(terminal ? 10 : -1);
  print.metadata = options.metadata.value_or(print.metadata);
  print.layouts = options.layouts.value_or(print.layouts);
  print.operand_shapes = options.operand_shapes.value_or(print.operand_shapes);
  print.backend_config = options.backend_config.value_or(print.backend_config);
  print.sharding = options.sharding.value_or(print.sharding);
  return print;
}

}  // namespace hlo
