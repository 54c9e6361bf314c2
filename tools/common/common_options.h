// Options all tools share (tools.md §1.1), and the way a tool starts.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "parser/parser.h"
#include "tools/common/options.h"

namespace hlo {

enum class InputFormat : uint8_t { Auto, Hlo, Pb, Pbtxt, Snapshot, UnoptimizedSnapshot, Json, Refused };
enum class ElidedPolicy : uint8_t { Keep, Error, Zeros, Iota, Random };
enum class VerifyMode : uint8_t { None, Input, Each, Final };
enum class DiagnosticsFormat : uint8_t { Text, Json, Sarif };
enum class When : uint8_t { Auto, Always, Never };

struct CommonOptions {
  std::string output = "-";
  InputFormat input_format = InputFormat::Auto;
  std::string output_format;
  std::string module;    // regular expression, or an index
  std::string stage_in;  // empty: `before`, of pages of dump directories `all`
  bool split_input_file = true;
  ElidedPolicy elided_constants = ElidedPolicy::Keep;
  VerifyMode verify = VerifyMode::Each;
  UnknownAttributes unknown_attributes = UnknownAttributes::Error;
  DiagnosticsFormat diagnostics_format = DiagnosticsFormat::Text;
  int64_t max_errors = 20;
  std::vector<std::string> warnings;  // of -W
  bool werror = false;
  When color = When::Auto, progress = When::Auto;
  bool quiet = false;
  Count verbose;
  int64_t threads = 0;  // 0: all
  std::chrono::milliseconds timeout{0};
  ByteCount memory_limit;
  bool fail_fast = false, skip_unavailable = false, strict_xla_flags = false;
  std::string config, reproducer_dir, explain, version;
  bool help = false, help_all = false;
  std::string help_as;
};

/// The groups "Input", "Messages" and "General", shown after a tool's own. Aliases of common options stand in
/// every tool's table: `format` = `input-format`, `debug_options_file` = `config`. A tool's own row hides a
/// common one of the same name; `-o` is the tool's.
std::vector<OptionGroup> CommonGroups(CommonOptions& options);

/// The arguments a started tool goes on with, or the exit code it ends with at once (after `--help`,
/// `--version`, `--explain`, or an error, which has been reported).
struct Started {
  std::optional<int> exit_code;
  CommandLine command_line;
};
/// Reads the options from all sources, reports errors, answers --help and the like. `groups` are the
/// tool's own.
Started StartTool(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, CommonOptions& options,
                  llvm::ArrayRef<const char*> args, llvm::raw_ostream& out, llvm::raw_ostream& err);

template <>
inline constexpr OptionWord<InputFormat> kOptionWords<InputFormat>[] = {
    {"auto", InputFormat::Auto},
    {"hlo", InputFormat::Hlo},
    {"txt", InputFormat::Hlo},
    {"text", InputFormat::Hlo},
    {"pb", InputFormat::Pb},
    {"proto_binary", InputFormat::Pb},
    {"pbtxt", InputFormat::Pbtxt},
    {"textproto", InputFormat::Pbtxt},
    {"proto_text", InputFormat::Pbtxt},
    {"module.pbtxt", InputFormat::Pbtxt},
    {"snapshot", InputFormat::Snapshot},
    {"snapshot_proto_binary", InputFormat::Snapshot},
    {"unoptimized-snapshot", InputFormat::UnoptimizedSnapshot},
    {"unoptimized_snapshot_proto_binary", InputFormat::UnoptimizedSnapshot},
    {"unoptimized_snapshot_proto_text", InputFormat::UnoptimizedSnapshot},
    {"json", InputFormat::Json},
    {"stablehlo", InputFormat::Refused},
    {"mhlo", InputFormat::Refused},
    {"riegeli", InputFormat::Refused},
    {"serialized_pjrt_executable", InputFormat::Refused},
};
template <>
inline constexpr OptionWord<ElidedPolicy> kOptionWords<ElidedPolicy>[] = {
    {"keep", ElidedPolicy::Keep}, {"error", ElidedPolicy::Error},   {"zeros", ElidedPolicy::Zeros},
    {"iota", ElidedPolicy::Iota}, {"random", ElidedPolicy::Random},
};
template <>
inline constexpr OptionWord<VerifyMode> kOptionWords<VerifyMode>[] = {
    {"none", VerifyMode::None},
    {"input", VerifyMode::Input},
    {"each", VerifyMode::Each},
    {"final", VerifyMode::Final},
};
template <>
inline constexpr OptionWord<UnknownAttributes> kOptionWords<UnknownAttributes>[] = {
    {"error", UnknownAttributes::Error},
    {"warn", UnknownAttributes::Warn},
    {"keep", UnknownAttributes::Keep},
};
template <>
inline constexpr OptionWord<DiagnosticsFormat> kOptionWords<DiagnosticsFormat>[] = {
    {"text", DiagnosticsFormat::Text},
    {"json", DiagnosticsFormat::Json},
    {"sarif", DiagnosticsFormat::Sarif},
};
template <>
inline constexpr OptionWord<When> kOptionWords<When>[] = {
    {"auto", When::Auto},
    {"always", When::Always},
    {"never", When::Never},
};

}  // namespace hlo
