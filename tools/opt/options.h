// The options of hlo-opt (tools.md §2.1).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/inspect.h"
#include "backends/cpu/machine.h"
#include "backends/gpu/compile/inspect.h"
#include "ir/print.h"
#include "tools/common/common_options.h"
#include "tools/common/force_path_option.h"
#include "tools/common/tier_option.h"
#include "tools/modules/stand_in.h"
#include "tools/opt/pass_options.h"

namespace hlo {

enum class PrintStyle : uint8_t { Long, Short, Canonical };
/// What is printed at the end.
enum class OptStage : uint8_t {
  Parsed,
  Hlo,
  Scheduled,
  Buffers,
  Json,
  Proto,
  ProtoText,
  Dot,
  Html,
  Cost,
  Code
};
enum class OptPlatform : uint8_t { None, Cpu, Gpu };
enum class CostForm : uint8_t { Unset, Table, Csv };

struct OptOptions {
  CommonOptions common;

  // Target and passes
  OptPlatform platform = OptPlatform::None;
  std::string stage = "hlo";
  PassRunOptions passes;
  std::string mcpu, mattr, gpu_target;
  bool gpu_tf32 = false;
  bool library_convolutions = false;  // of the GPU; no option
  ForcedPath force_path;
  Tier tier = Tier::Compile;
  std::optional<Regex> kernel;
  bool debug_lines = false;      // of the text, in code
  std::optional<CodeForm> code;  // what the stage Code prints; nothing: the paths of --explain-codegen
  GpuCodeForm gpu_code{};        // the same of platform gpu
  std::string aot, target;
  std::vector<std::string> entry_name;
  bool self_contained = false, aot_weights = false;
  [[nodiscard]] CodeHost host() const {
    return self_contained || !cpu::HasArchive(target) ? CodeHost::Nobody : CodeHost::Archive;
  }
  bool explain_codegen = false;
  bool list_stages = false;
  std::string list_ops;

  // Printing
  PrintStyle print_style = PrintStyle::Long;
  std::optional<bool> metadata, layouts, operand_shapes, backend_config, sharding;
  std::optional<int64_t> large_constants;
  bool async_sugar = false, print_fingerprint = false;
  int64_t json_indent = 0;
  std::string split_marker = "// -----";

  // Checking
  bool check = false, verify_roundtrip = false, verify_diagnostics = false, update_checks = false,
       in_place = false;

  // Extraction
  std::vector<std::string> extract, extract_computation;
  int64_t extract_height = -1;
  Boundary extract_boundary = Boundary::Parameter;
  bool isolate = false;
  std::string output_directory;
  std::optional<int64_t> while_execution_count;
  bool remove_infeed_outfeed = false, disturb_rounding = false;
  CostForm cost = CostForm::Unset;

  // Reduction
  bool reduce = false;
  std::string test, bisect_passes;
  NameList test_exit;
  std::optional<Regex> test_output;
  int64_t max_tests = 5000, repeat_test = 1;
  std::chrono::milliseconds test_timeout{0};

  /// JSON is asked for, by name or by the output's extension.
  [[nodiscard]] bool JsonOutput() const { return OutputFormat() == "json"; }
  /// --output-format, or the extension of the output.
  [[nodiscard]] llvm::StringRef OutputFormat() const {
    if (!common.output_format.empty()) return common.output_format;
    return common.output == "-" ? llvm::StringRef() : llvm::StringRef(common.output).rsplit('.').second;
  }
};

/// What is written for a stage.
struct StageInfo {
  OptStage stage;
  ModuleForm form;            // of stages that are a whole module
  llvm::StringRef extension;  // of files in --output-dir
  bool hlo = false;           // text that can stand beside other modules, split markers between
  bool single = false;        // one module per file
};
const StageInfo& Info(OptStage stage);
/// The stages of the platform, one per line.
void ListStages(llvm::raw_ostream& os, OptPlatform platform);

/// The tool's table of aliases, unavailable options and examples.
const ToolInfo& OptTool();
/// The groups of the tool's own options.
std::vector<OptionGroup> OptGroups(OptOptions& options);
/// Checks combinations and words that are no plain enumeration; the stage to print.
Result<OptStage> CheckOptOptions(OptOptions& options);
/// The printing options that style and switches ask for; `terminal`: the output is one.
PrintOptions MakePrintOptions(const OptOptions& options, bool terminal);

template <>
inline constexpr OptionWord<PrintStyle> kOptionWords<PrintStyle>[] = {
    {"long", PrintStyle::Long}, {"short", PrintStyle::Short}, {"canonical", PrintStyle::Canonical}};
template <>
inline constexpr OptionWord<Boundary> kOptionWords<Boundary>[] = {
    {"parameter", Boundary::Parameter}, {"zeros", Boundary::Zeros}, {"random", Boundary::Random}};
template <>
inline constexpr OptionWord<OptPlatform> kOptionWords<OptPlatform>[] = {
    {"none", OptPlatform::None},  {"transforms", OptPlatform::None}, {"cpu", OptPlatform::Cpu},
    {"host", OptPlatform::Cpu},   {"gpu", OptPlatform::Gpu},         {"cuda", OptPlatform::Gpu},
    {"gpu-emu", OptPlatform::Gpu}};
template <>
inline constexpr OptionWord<CostForm> kOptionWords<CostForm>[] = {{"table", CostForm::Table},
                                                                  {"csv", CostForm::Csv}};

}  // namespace hlo
