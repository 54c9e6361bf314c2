#include "tools/reduce/test_command.h"

#include "ir/support/temporary_files.h"
#include "tools/common/shell_words.h"

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<TestCommand> TestCommand::Make(Options options) {
  TestCommand test(std::move(options));
  for (llvm::StringRef text : test.options_.exit_codes) {
    const bool negated = text.consume_front("!");
    int code = 0;
    if (text.getAsInteger(10, code) || code < 0 || code > 255)
      return Error("usage-option", {}, "option '--test-exit': found '{0}', expected codes as in 1,139 or !0",
                   text);
    (negated ? test.unwanted_ : test.wanted_).push_back(code);
  }
  if (test.options_.exit_codes.empty()) test.wanted_ = {0};
  test.timeout_ = test.options_.timeout;
  return test;
}

bool TestCommand::Accepts(const ChildOutcome& outcome) const {
  if (outcome.timed_out) return false;
  const bool code = llvm::is_contained(wanted_, outcome.code) ||
                    (!unwanted_.empty() && !llvm::is_contained(unwanted_, outcome.code));
  return code && (!options_.output || options_.output->Matches(outcome.output));
}

Result<ChildOutcome> TestCommand::Run(const std::string& path) const {
  return RunChild({"/bin/sh", "-c", CommandWithFile(options_.command, path)}, {.timeout = timeout_});
}

Result<bool> TestCommand::Interesting(const std::string& text) {
  HLO_TRY(const TemporaryFile file, TemporaryFile::Make("hlo-test", "hlo"));
  HLO_CHECK_OK(file.Write(text));
  for (int64_t i = 0; i < std::max<int64_t>(1, options_.repeat); ++i) {
    const auto start = Clock::now();
    HLO_TRY(const ChildOutcome outcome, Run(file.path()));
    if (timeout_.count() == 0)
      timeout_ = std::max(std::chrono::milliseconds(1000),
                          std::chrono::duration_cast<std::chrono::milliseconds>(10 * (Clock::now() - start)));
    if (Accepts(outcome)) return true;
  }
  return false;
}

}  // namespace hlo
