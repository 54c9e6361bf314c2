// file_test: runs *_test.hlo files in process.
//
//   file_test [--update] [--list] [--filter=TEXT] FILE|FOLDER...
//
// A folder stands for the test files directly in it. --filter runs only the cases whose path:line or text
// contains TEXT. --update rewrites generated checks in place instead of judging them. Exits 1 if a case
// fails.
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "ir/support/sanitized.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/opt/check_block.h"
#include "tools/testing/runner.h"

namespace hlo::testing {
namespace {

constexpr unsigned kSecondsPerCase = kSanitized ? 240 : 60;

struct Options {
  bool update = false;
  bool list = false;
  std::string filter;
  std::vector<std::string> files;
};

struct Counts {
  int passed = 0, failed = 0, updated = 0, executed = 0, not_executed = 0, left_out = 0;
};

// The case that is running, for the message of a timeout.
const char* current_case = "";

void OnTimeout(int) {
  // Only async-signal-safe calls.
  for (const char* text : {"\nTIMEOUT ", current_case, "\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  _exit(1);
}

void AddFiles(const std::string& path, std::vector<std::string>& files) {
  if (!llvm::sys::fs::is_directory(path)) {
    files.push_back(path);
    return;
  }
  std::error_code error;
  std::vector<std::string> found;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with("_test.hlo")) found.push_back(it->path());
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

bool RunCase(Runner& runner, const TestCase& test, Counts& counts) {
  const std::string name = test.name();
  current_case = name.c_str();
  const llvm::PrettyStackTraceFormat trace("running %s", current_case);
  alarm(kSecondsPerCase);
  const Runner::Outcome outcome = runner.Run(test);
  alarm(0);
  counts.executed += outcome.executed;
  counts.not_executed += outcome.not_executed;
  counts.left_out += outcome.left_out;
  ++(outcome.passed ? counts.passed : counts.failed);
  if (!outcome.passed) llvm::errs() << outcome.log << '\n';
  return outcome.passed;
}

/// The chunk with its generated checks made anew.
std::string UpdateCase(Runner& runner, const TestCase& test, Counts& counts) {
  if (test.no_update || !llvm::StringRef(test.text).contains(kCheckBanner)) return test.text;
  TestCase unchecked = test;
  unchecked.has_checks = false;
  for (RunLine& run : unchecked.runs)
    run.command = llvm::StringRef(run.command).split("| FileCheck").first.str();
  const Runner::Outcome outcome = runner.Run(unchecked);
  const auto text = ReplaceCheckBlock(test.text, outcome.output);
  if (!outcome.passed || !text) {
    ++counts.failed;
    llvm::errs() << outcome.log << '\n';
    return test.text;
  }
  counts.updated += *text != test.text ? 1 : 0;
  return *text;
}

void RunFile(Runner& runner, const std::string& path, const Options& options, Counts& counts) {
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    ++counts.failed;
    llvm::errs() << path << ": cannot read: " << buffer.getError().message() << '\n';
    return;
  }
  const llvm::StringRef text = (*buffer)->getBuffer();
  const auto cases = ParseTestFile(path, text);
  if (!cases) {
    ++counts.failed;
    llvm::errs() << Render(cases.error());
    return;
  }
  std::string updated;
  size_t line_start = 0;
  for (const TestCase& test : *cases) {
    if (!llvm::StringRef(test.name()).contains(options.filter) &&
        !llvm::StringRef(test.text).contains(options.filter))
      continue;
    if (options.list) {
      llvm::outs() << test.name() << '\n';
    } else if (options.update) {
      const size_t at = text.find(test.text, line_start);
      updated += text.slice(line_start, at).str() + UpdateCase(runner, test, counts);
      line_start = at + test.text.size();
    } else {
      RunCase(runner, test, counts);
    }
  }
  updated += text.drop_front(line_start);
  if (!options.update || updated == text) return;
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os << updated;
}

int Main(const Options& options, const char* program) {
  llvm::sys::PrintStackTraceOnErrorSignal(program);
  std::signal(SIGALRM, OnTimeout);
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("file_test", folder)) {
    llvm::errs() << "cannot create a temporary folder\n";
    return 1;
  }
  ToolTable tools;
  tools["hlo-opt"] = HloOptMain;
  tools["hlo-run"] = HloRunMain;
  tools["hlo-diff"] = HloDiffMain;
  tools["hlo-viz"] = HloVizMain;
  Runner runner(tools, folder.str().str());
  Counts counts;
  for (const std::string& file : options.files) RunFile(runner, file, options, counts);
  [[maybe_unused]] const std::error_code left = llvm::sys::fs::remove_directories(folder);
  if (options.update)
    llvm::outs() << counts.updated << " updated, " << counts.failed << " failed\n";
  else if (!options.list)
    llvm::outs() << counts.passed << " passed, " << counts.failed << " failed\n";
  if (!options.update && !options.list && counts.executed + counts.not_executed > 0)
    llvm::outs() << counts.executed << " executed before and after passes, " << counts.not_executed
                 << " excused\n";
  if (!options.update && counts.left_out > 0)
    llvm::outs() << counts.left_out
                 << " commands left out: they need instructions that this processor lacks\n";
  return counts.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hlo::testing

int main(int argc, char** argv) {
  hlo::testing::Options options;
  for (llvm::StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    if (argument == "--update") {
      options.update = true;
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument.consume_front("--filter=")) {
      options.filter = argument.str();
    } else if (argument.starts_with("-")) {
      llvm::errs() << "usage: file_test [--update] [--list] [--filter=TEXT] FILE|FOLDER...\n";
      return 2;
    } else {
      hlo::testing::AddFiles(argument.str(), options.files);
    }
  }
  return hlo::testing::Main(options, argv[0]);
}
