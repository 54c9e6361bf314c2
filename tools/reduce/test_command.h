// Commands of the user that judge a module (tools.md §2.5: --test, --bisect-passes).
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "ir/support/child_process.h"
#include "tools/common/options.h"

namespace hlo {

/// Runs under `sh -c` with `%s` replaced by the path of the module (shell_words.h).
class TestCommand {
 public:
  struct Options {
    std::string command;
    std::vector<std::string> exit_codes;   // `1`, `139`, `!0`; empty: 0
    std::optional<Regex> output;           // must match standard output and error together too
    std::chrono::milliseconds timeout{0};  // 0: ten times the first run, at least a second
    int64_t repeat = 1;                    // interesting if any of so many runs is
  };
  /// Errors: usage-option for malformed exit codes.
  static Result<TestCommand> Make(Options options);

  /// True if the module with this text is interesting. Thread-safe after the first call. Errors: input-open
  /// if no temporary file or process can be made; interrupted.
  Result<bool> Interesting(const std::string& text);

 private:
  explicit TestCommand(Options options) : options_(std::move(options)) {}
  Result<ChildOutcome> Run(const std::string& path) const;
  [[nodiscard]] bool Accepts(const ChildOutcome& outcome) const;

  Options options_;
  std::vector<int> wanted_, unwanted_;
  std::chrono::milliseconds timeout_{0};  // in force; 0: none yet
};

}  // namespace hlo
