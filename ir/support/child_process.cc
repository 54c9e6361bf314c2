#include "ir/support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "ir/support/interrupt.h"
#include "llvm/ADT/ScopeExit.h"

extern char** environ;

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMilliseconds = 50, kSignalled = 128;
constexpr size_t kReadAtOnce = 4096;

tl::unexpected<Diagnostic> SystemError(llvm::StringRef what, int error) {
  return Error("input-open", {}, "cannot {0}: {1}", what, std::strerror(error));
}

/// Starts it with its output on `output`; its number.
Result<pid_t> Spawn(const std::vector<std::string>& command, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // to be killed as a whole
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, command[0].c_str(), &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return SystemError("run " + command[0], failed);
  return child;
}

}  // namespace

Result<ChildOutcome> RunChild(const std::vector<std::string>& command, const ChildOptions& options) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return SystemError("make a pipe", errno);
  auto close_read = llvm::make_scope_exit([&] { close(pipe_ends[0]); });
  const Result<pid_t> child = Spawn(command, pipe_ends[1]);
  close(pipe_ends[1]);
  if (!child) return Error(child.error());

  ChildOutcome outcome;
  const auto start = Clock::now();
  bool stop = false;
  for (pollfd ready = {pipe_ends[0], POLLIN, 0};;) {
    if (poll(&ready, 1, kPollMilliseconds) > 0) {
      char buffer[kReadAtOnce];
      const ssize_t got = read(pipe_ends[0], buffer, sizeof buffer);
      if (got <= 0) break;
      if (outcome.output.size() < options.kept_output)
        outcome.output.append(buffer, static_cast<size_t>(got));
    }
    outcome.timed_out = options.timeout.count() > 0 && Clock::now() - start > options.timeout;
    stop = Interrupted();
    if (outcome.timed_out || stop) {
      kill(-*child, SIGKILL);
      break;
    }
  }
  int status = 0;
  while (waitpid(*child, &status, 0) < 0 && errno == EINTR) {}
  if (stop) return Error(InterruptedError());
  outcome.code = WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

}  // namespace hlo
