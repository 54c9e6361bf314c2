// Reading *_test.hlo files: modules with the commands that run them and what these must print.
//
// A file is a list of chunks between lines `// -----`. In a chunk, lines of these forms direct the test:
//   // RUN: hlo-opt %s --check | FileCheck %s    a command (tools/testing/command.h); a chunk without any
//                                                takes those of the nearest chunk above that has some
//   // RUN[avx512f,avx512vl]: command            one that is left out where the processor lacks such
//                                                instructions, as what it shows is chosen for those that have
//                                                them
//   // CHECK: ..., // CHECK-NEXT: ...            FileCheck directives over the output (of every
//                                                command, if none names FileCheck)
//   ... // ERROR: text                           an error at this line whose message contains the text;
//                                                `{{...}}` in it is a regular expression. @+N, @-N move
//                                                the line (ERROR@-1:), @0 means an error without position.
//                                                WARNING, NOTE and REMARK likewise
//   // STDERR: text                              the text stands in the error output
//   // INPUT: value                              an hlo-run --input, in order
//   // EXPECT: value                             an hlo-run --expected, in order
//   // EXIT: n                                   the exit code of every command; without it 0, or any
//                                                other code where errors are expected
//   // AND                                       between the modules of a case: the commands see `// -----`
//   // NOUPDATE                                  --update leaves the checks alone
//   // RULE: name                                the case shows this rule of algsimp
//   // NOEXEC: reason                            not executed before and after the passes
//   // INEXACT: reason                           the passes may round floats differently
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::testing {

struct RunLine {
  unsigned line = 0;  // in the file
  std::string command;
  std::vector<std::string> features;  // known to ir/support/cpu_features.h; the command needs them all
};

/// An expected diagnostic.
struct Annotation {
  unsigned annotated_line = 0;  // where the annotation stands
  unsigned line = 0;            // where the diagnostic is expected; 0: without position
  Severity severity = Severity::Error;
  std::string text;
};

/// One chunk.
struct TestCase {
  std::string path;         // of the file
  unsigned first_line = 1;  // of the chunk in the file
  std::string text;         // of the chunk
  std::vector<RunLine> runs;
  std::vector<Annotation> annotations;
  std::vector<std::string> inputs, expected, stderr_texts;
  std::optional<int> exit_code;
  bool has_checks = false;
  bool no_update = false;
  std::vector<std::string> rules;     // of RULE lines
  std::string no_execution, inexact;  // reasons; empty: executed, exact

  /// `path:line`, the way failures name the case.
  [[nodiscard]] std::string name() const { return path + ":" + std::to_string(first_line); }
  /// The chunk behind as many empty lines as precede it in the file, so that positions agree.
  [[nodiscard]] std::string PaddedText() const { return std::string(first_line - 1, '\n') + text; }
};

/// Splits a test file; fails on malformed directives. A chunk of nothing but blanks, comments and
/// RUN lines is no case, it only provides commands for the chunks below.
Result<std::vector<TestCase>> ParseTestFile(llvm::StringRef path, llvm::StringRef text);

}  // namespace hlo::testing
