// Running test cases in process.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "tools/common/tool_main.h"
#include "tools/testing/command.h"
#include "tools/testing/test_file.h"

namespace hlo::testing {

/// Programs that RUN lines may name.
using ToolTable = llvm::StringMap<std::function<ToolMain>>;

/// Runs the commands of test cases in process and judges what they print. Besides the tools of the table
/// there are `FileCheck FILE [--check-prefix=P] [--check-prefixes=P,Q] [--implicit-check-not=T]` and
/// `cat FILE...`. Substitutions: %s the chunk as a file, %t a path for temporary files, %S the folder of the
/// test file, %calls the library made of testdata/custom_calls.
class Runner {
 public:
  /// `folder` is an existing folder for temporary files.
  Runner(const ToolTable& tools, std::string folder) : tools_(tools), folder_(std::move(folder)) {}

  struct Outcome {
    bool passed = true;
    std::string log;  // why not
    /// What the first command printed before any FileCheck: the text generated checks are made of.
    std::string output;
    /// Commands with --passes whose module was executed before and after them, and those of cases excused
    /// by NOEXEC.
    int executed = 0, not_executed = 0;
    /// Commands that this processor lacks instructions for.
    int left_out = 0;
  };
  Outcome Run(const TestCase& test);

 private:
  struct Streams {
    std::string out, err;
    int exit_code = 0;
  };
  void RunCommand(const TestCase& test, const RunLine& run, Outcome& outcome);
  /// Runs one stage; false if it cannot be run or is a FileCheck that fails (logged).
  bool RunStage(const TestCase& test, const Stage& stage, llvm::StringRef input, Streams& streams,
                Outcome& outcome);
  /// Cases of passes are executed before and after them (execution.h).
  void CheckPasses(const TestCase& test, const Stage& stage, Outcome& outcome);
  void AddCaseArguments(const TestCase& test, std::vector<std::string>& words) const;
  /// Makes paths of temporary files readable: the name of the test file stands for %s.
  [[nodiscard]] std::string Readable(const TestCase& test, llvm::StringRef text) const;

  const ToolTable& tools_;
  std::string folder_;
  std::string module_path_;
};

}  // namespace hlo::testing
