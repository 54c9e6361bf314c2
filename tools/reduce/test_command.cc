#include "tools/reduce/test_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/support/interrupt.h"
#include "ir/support/temporary_files.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "tools/common/shell_words.h"

extern char** environ;

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kKeptOutput = 1 << 20;  // bytes the regular expression sees
constexpr int kPollMilliseconds = 50;

tl::unexpected<Diagnostic> SystemError(const char* what, int error) {
  return Error("input-open", {}, "cannot {0}: {1}", what, std::strerror(error));
}

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

bool TestCommand::Accepts(const Outcome& outcome) const {
  if (outcome.timed_out) return false;
  const bool code = llvm::is_contained(wanted_, outcome.code) ||
                    (!unwanted_.empty() && !llvm::is_contained(unwanted_, outcome.code));
  return code && (!options_.output || options_.output->Matches(outcome.output));
}

Result<TestCommand::Outcome> TestCommand::Run(const std::string& path) const {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return SystemError("make a pipe", errno);
  auto close_read = llvm::make_scope_exit([&] { close(pipe_ends[0]); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP);  // a group of its own, to be killed as a whole
  posix_spawnattr_setpgroup(&attributes, 0);
  const std::string command = CommandWithFile(options_.command, path);
  const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, "/bin/sh", &actions, &attributes, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pipe_ends[1]);
  if (failed != 0) return SystemError("run /bin/sh", failed);

  Outcome outcome;
  const auto start = Clock::now();
  bool stop = false;
  for (pollfd ready = {pipe_ends[0], POLLIN, 0};;) {
    const int n = poll(&ready, 1, kPollMilliseconds);
    if (n > 0) {
      char buffer[4096];
      const ssize_t got = read(pipe_ends[0], buffer, sizeof buffer);
      if (got <= 0) break;
      if (outcome.output.size() < kKeptOutput) outcome.output.append(buffer, static_cast<size_t>(got));
    }
    outcome.timed_out = timeout_.count() > 0 && Clock::now() - start > timeout_;
    stop = Interrupted();
    if (outcome.timed_out || stop) {
      kill(-child, SIGKILL);
      break;
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (stop) return Error(InterruptedError());
  outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

Result<bool> TestCommand::Interesting(const std::string& text) {
  llvm::SmallString<128> path;
  int descriptor = -1;
  if (const std::error_code error = llvm::sys::fs::createTemporaryFile("hlo-test", "hlo", descriptor, path))
    return Error("input-open", {}, "cannot create a temporary file: {0}", error.message());
  const std::string name(path);
  RegisterTemporaryFile(name);
  auto remove = llvm::make_scope_exit([&] {
    [[maybe_unused]] const std::error_code left = llvm::sys::fs::remove(name);
    UnregisterTemporaryFile(name);
  });
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << text;
    os.flush();
    if (os.has_error()) {
      const std::error_code error = os.error();
      const std::string why = error.message();
      os.clear_error();
      return Error(
          error == std::errc::file_too_large ? DiagnosticId("output-size") : DiagnosticId("output-write"), {},
          "cannot write '{0}': {1}", path, why);
    }
  }
  for (int64_t i = 0; i < std::max<int64_t>(1, options_.repeat); ++i) {
    const auto start = Clock::now();
    HLO_TRY(const Outcome outcome, Run(name));
    if (timeout_.count() == 0)
      timeout_ = std::max(std::chrono::milliseconds(1000),
                          std::chrono::duration_cast<std::chrono::milliseconds>(10 * (Clock::now() - start)));
    if (Accepts(outcome)) return true;
  }
  return false;
}

}  // namespace hlo
