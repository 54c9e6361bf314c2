#include "tools/common/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "ir/support/interrupt.h"
#include "ir/support/library_use.h"
#include "ir/support/parallel.h"
#include "ir/support/stack.h"
#include "ir/support/temporary_files.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "tools/common/shell_words.h"

namespace hlo {
namespace {

std::atomic<bool> owns_process{false};
std::atomic<int64_t> memory_limit{0};

/// What Ctrl-C and the like stop: all that the process does.
StopToken signals;

// What the crash handler reads; plain pointers, set while no crash is likely.
std::atomic<const char*> crash_phase{nullptr};
std::atomic<const char*> crash_text{nullptr};
std::atomic<size_t> crash_text_size{0};
char crash_folder[4096] = "/tmp";
const char* crash_cwd = "/";
const char* crash_program = "";
std::string crash_options, crash_inputs;  // words of a shell command
std::atomic<int64_t> deadline_ms{0};      // of the run, in NowMilliseconds; 0: none
WriteCrashArguments write_crash_arguments;
std::string memory_notes;

/// Async-signal-safe.
int64_t NowMilliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Text into a descriptor with async-signal-safe calls only.
class RawWriter {
 public:
  explicit RawWriter(int descriptor) : descriptor_(descriptor) {}
  RawWriter& operator<<(const char* text) { return Write(text, strlen(text)); }
  RawWriter& operator<<(long number) {
    char digits[24];
    char* at = digits + sizeof digits;
    do *--at = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return Write(at, static_cast<size_t>(digits + sizeof digits - at));
  }
  RawWriter& Write(const char* text, size_t size) {
    while (size > 0) {
      const ssize_t n = write(descriptor_, text, size);
      if (n < 0 && errno == EINTR) continue;
      ok_ = ok_ && n > 0;
      if (n <= 0) return *this;
      text += n;
      size -= static_cast<size_t>(n);
    }
    return *this;
  }

  /// Whether everything was written.
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  int descriptor_;
  bool ok_ = true;
};

/// Milliseconds until the time limit of the run is over; nothing is left after it.
int64_t MillisecondsLeft(int64_t otherwise) {
  const int64_t deadline = deadline_ms.load();
  if (deadline == 0) return otherwise;
  return std::clamp<int64_t>(deadline - NowMilliseconds(), 0, otherwise);
}

void SetTimer(int64_t milliseconds) {
  const itimerval timer = {{}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void EndArguments(int /*signal*/) {
  RemoveTemporaryFiles();
  _exit(1);
}

/// Made by a child, which may allocate: the crash may have left memory in disorder, and locks may be held by
/// threads that the child does not have. It is given half of what is left of the time limit.
void WriteArguments(const char* folder) {
  constexpr int64_t kMost = 20'000;
  const int64_t budget = std::min(kMost, MillisecondsLeft(2 * kMost) / 2);
  if (!write_crash_arguments || budget == 0) return;
  const pid_t child = _Fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) {
      std::signal(signal, EndArguments);
      sigset_t unblocked;
      sigemptyset(&unblocked);
      sigaddset(&unblocked, signal);
      sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
    }
    SetTimer(budget);
    SetThreadCount(1);
    write_crash_arguments((llvm::StringRef(folder) + "/arguments.npz").str());
    _exit(0);
  }
  if (child < 0) return;
  // Its timer ends it, and if not even that does, we do.
  constexpr int64_t kPatience = 200;
  const int64_t end = NowMilliseconds() + budget + kPatience;
  for (int status = 0; waitpid(child, &status, WNOHANG) == 0;) {
    if (NowMilliseconds() > end) kill(child, SIGKILL);
    const timespec pause = {0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

/// Null, or why there is no reproducer. Async-signal-safe.
const char* WriteReproducer(const char* folder, const char* text, size_t size) {
  if (text == nullptr || size == 0) return "no module was in work";
  if (mkdir(folder, 0777) != 0) return strerrordesc_np(errno);
  WriteArguments(folder);
  if (chdir(folder) != 0) return strerrordesc_np(errno);
  const int module = open("module.hlo", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int script = open("run.sh", O_WRONLY | O_CREAT | O_TRUNC, 0777);
  errno = 0;
  RawWriter run(script);
  // Other files that options name are relative to the folder of the failed run.
  run << "#!/bin/sh\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\ncd " << crash_cwd << " || exit\n"
      << "if [ -f \"$here/arguments.npz\" ]; then\n  exec " << crash_program << crash_options.c_str()
      << " --inputs=@\"$here/arguments.npz\" \"$here/module.hlo\"\nfi\nexec " << crash_program
      << crash_options.c_str() << crash_inputs.c_str() << " \"$here/module.hlo\"\n";
  RawWriter copy(module);
  copy.Write(text, size);
  const bool written = run.ok() && copy.ok() && close(module) == 0 && close(script) == 0;
  return written ? nullptr : strerrordesc_np(errno);
}

RawWriter& operator<<(RawWriter& err, const LibraryUse& call) {
  if (call.target == nullptr) return err << "library '" << call.file << "' while it was being loaded";
  return err << "custom-call target '" << call.target << "' of library '" << call.file << "', called by %"
             << call.instruction;
}

/// What a library that ends the process is reported as.
DiagnosticId FailureOf(const LibraryUse& use) {
  return use.target == nullptr ? DiagnosticId("unavailable-library") : DiagnosticId("runtime-custom-call");
}

/// The first lines about a crash; returns the exit code.
int ReportSignal(RawWriter& err, int signal) {
  if (const LibraryUse* call = CurrentLibraryUse()) {
    const DiagnosticId failure = FailureOf(*call);
    err << "error: signal " << static_cast<long>(signal) << " in " << *call << " [" << failure.text().data()
        << "]\n";
    return DiagnosticInfo::Of(failure).exit;
  }
  const char* phase = crash_phase.load();
  err << "internal error: signal " << static_cast<long>(signal) << " while "
      << (phase == nullptr ? "starting" : phase) << " (version " HLO_VERSION ") [internal-error]\n";
  if (const LibraryUse* call = OtherLibraryUse())
    err << "note: at that time another thread was in " << *call << "\n";
  return ExitCode::Internal;
}

/// The thread that reports a crash, 0: none yet; and the exit code.
std::atomic<pid_t> crashing{0};
std::atomic<int> crash_code{ExitCode::Internal};

/// How long work has to notice that it shall stop: a library, say, never does.
constexpr unsigned kGraceSeconds = 3;

/// `crash_folder`/hlo-crash-PID in `folder`.
void NameFolder(char* folder) {
  char* end = stpcpy(folder, crash_folder);
  end = stpcpy(end, "/hlo-crash-");
  char digits[24];
  char* at = digits + sizeof digits - 1;
  *at = 0;
  long pid = getpid();
  do *--at = static_cast<char>('0' + pid % 10);
  while ((pid /= 10) != 0);
  stpcpy(end, at);
}

/// Allocates nothing, as the heap may be what is broken, and ends with the time limit at the latest.
void OnFatalSignal(int signal) {
  pid_t nobody = 0;
  RawWriter err(STDERR_FILENO);
  if (!crashing.compare_exchange_strong(nobody, gettid())) {
    // Threads that run the same code crash together: one report is enough.
    while (crashing != gettid()) pause();
    err << "no reproducer: signal " << static_cast<long>(signal) << " while it was written\n";
    _exit(crash_code);
  }
  constexpr int64_t kMostMilliseconds = 60'000;
  SetTimer(MillisecondsLeft(kMostMilliseconds) + int64_t{1000} * kGraceSeconds);
  RemoveTemporaryFiles();
  crash_code = ReportSignal(err, signal);
  char folder[4200];
  NameFolder(folder);
  if (const char* why = WriteReproducer(folder, crash_text.load(), crash_text_size.load()))
    err << "no reproducer: " << folder << ": " << why << "\n";
  else
    err << "reproducer: " << folder << "\n";
  _exit(crash_code);
}

void InstallCrashHandlers() {
  // Stack overflow needs another stack.
  static char stack[64 << 10];
  const stack_t alternative = {stack, 0, sizeof stack};
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = OnFatalSignal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

void StartGrace() {
  if (crashing == 0) alarm(kGraceSeconds);
}

void OnInterruptSignal(bool last) {
  if (last)
    RemoveTemporaryFiles();
  else
    StartGrace();
}

/// Nothing has stopped although it was asked to.
void OnGraceOver(int /*signal*/) {
  RawWriter err(STDERR_FILENO);
  if (crashing != 0) {
    err << "no reproducer: writing it took too long\n";
    _exit(crash_code);
  }
  RemoveTemporaryFiles();
  const long signal = signals.signal();
  if (signal > 0)
    err << "error: interrupted by signal " << signal << " [interrupted]\n";
  else
    err << "error: time limit exceeded [limit-timeout]\n";
  if (const LibraryUse* call = OtherLibraryUse()) err << "note: " << *call << ", did not return\n";
  _exit(signal > 0 ? static_cast<int>(128 + signal) : ExitCode::Limit);
}

/// A library that ends the process takes our results with it.
void OnExit() {
  const LibraryUse* call = OtherLibraryUse();
  if (call == nullptr) return;
  RemoveTemporaryFiles();
  RawWriter err(STDERR_FILENO);
  const DiagnosticId failure = FailureOf(*call);
  err << "error: exit() in " << *call << " [" << failure.text().data() << "]\n";
  _exit(DiagnosticInfo::Of(failure).exit);
}

/// Signals that end the process without asking: nothing half-written stays.
void OnEndingSignal(int signal) {
  RemoveTemporaryFiles();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

/// The default is to be killed; with a handler, write fails instead. Programs that are started get the
/// default again.
void OnFileSizeLimit(int /*signal*/) {}

void InstallEndingHandlers() {
  for (const int signal : {SIGQUIT, SIGPIPE, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGSYS, SIGPWR}) {
    struct sigaction action = {};
    // What the caller has ignored stays so.
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = OnEndingSignal;
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, OnFileSizeLimit);
}

/// Memory that cannot be had ends the process: nothing of ours works on without it.
void OnOutOfMemory() {
  RemoveTemporaryFiles();
  const bool limited = memory_limit.load() > 0;
  RawWriter err(STDERR_FILENO);
  err << (limited ? "error: memory limit exceeded [limit-memory]\n"
                  : "error: out of memory [runtime-memory]\n")
      << memory_notes.c_str();
  _exit(limited ? ExitCode::Limit : ExitCode::RunTime);
}

}  // namespace

void SetReproducerDirectory(llvm::StringRef directory) {
  if (!directory.empty() && directory.size() < sizeof crash_folder)
    memcpy(crash_folder, directory.str().c_str(), directory.size() + 1);
}

void SetCrashPhase(const char* phase) { crash_phase = phase; }

void SetMemoryNotes(std::string notes) { memory_notes = std::move(notes); }

std::string ReproducerFolder() { return llvm::formatv("{0}/hlo-crash-{1}", crash_folder, getpid()).str(); }

void SetCrashCommand(const CommandLine& command_line) {
  // The reported module has been selected and converted already.
  static constexpr llvm::StringLiteral kChoices[] = {"module", "stage-in", "input-format"};
  crash_options.clear();
  crash_inputs.clear();
  for (const auto& [name, value] : command_line.options) {
    if (llvm::is_contained(kChoices, name)) continue;
    const bool input = name == "input" || name == "inputs";
    (input ? crash_inputs : crash_options) += " " + ShellWord(("--" + name + "=" + value).str());
  }
}

CrashScope::CrashScope(const char* phase, llvm::StringRef module, WriteCrashArguments write_arguments) {
  write_crash_arguments = std::move(write_arguments);
  crash_text_size = 0;
  crash_text = module.data();
  crash_text_size = module.size();
  crash_phase = phase;
}

CrashScope::~CrashScope() {
  crash_text = nullptr;
  crash_text_size = 0;
  write_crash_arguments = nullptr;
  crash_phase = "ending";
}

void LimitProcessMemory(int64_t bytes) {
  if (!owns_process || bytes <= 0) return;
  memory_limit = bytes;
  const rlimit limit = {static_cast<rlim_t>(bytes), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

int RunUnderLimits(const CommonOptions& options, const CommandLine& command_line, DiagnosticSink& sink,
                   llvm::function_ref<Status()> work) {
  constexpr int64_t kMostThreads = 1024;
  SetThreadCount(static_cast<int>(std::min(options.threads, kMostThreads)));
  SetReproducerDirectory(options.reproducer_dir);
  SetCrashCommand(command_line);
  LimitProcessMemory(options.memory_limit.bytes);
  Status status;
  {
    StopToken stop(CurrentWork().stop);
    const StopScope scope(stop);
    std::optional<TimeLimit> limit;
    if (options.timeout.count() > 0) {
      deadline_ms = NowMilliseconds() + options.timeout.count();
      limit.emplace(stop, options.timeout, owns_process ? StartGrace : nullptr);
    }
    status = work();
  }
  deadline_ms = 0;
  if (owns_process) alarm(0);
  if (!status) sink.Report(status.error());
  return sink.exit_code();
}

void ExpectAllocations(size_t bytes) {
  constexpr size_t kHugePage = size_t{1} << 21, kMost = size_t{1} << 30;
  if (!owns_process || bytes < kHugePage || memory_limit.load() > 0) return;
  bytes = std::min(bytes, kMost) / kHugePage * kHugePage;
  // The heap grows by that much at once, in large pages, and does not shrink in between.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(kMost));
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  auto* const before = static_cast<char*>(sbrk(0));
  void* volatile grown = malloc(kHugePage);  // not to be optimised away
  free(grown);
  auto* const after = static_cast<char*>(sbrk(0));
  mallopt(M_TOP_PAD, 128 << 10);
  const auto at = reinterpret_cast<uintptr_t>(before);
  char* const begin = before + (llvm::alignTo(at, 4096) - at);
  if (begin >= after) return;
  madvise(begin, static_cast<size_t>(after - begin), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  // The small pages before the first large one, at once instead of by a fault each.
  char* const large = before + (llvm::alignTo(at, kHugePage) - at);
  madvise(begin, static_cast<size_t>(std::min(large, after) - begin), MADV_POPULATE_WRITE);
#endif
}

void LeaveToProcessEnd(std::unique_ptr<Module> module) {
  static Module* left = nullptr;  // reachable: no leak
  if (owns_process && left == nullptr) left = module.release();
}

int RunToolProcess(ToolMain& tool, llvm::ArrayRef<const char*> command, llvm::ArrayRef<const char*> args) {
  owns_process = true;
  DeepenMainStack();
  static std::string program, start;
  for (const char* word : command) program += (program.empty() ? "" : " ") + ShellWord(word);
  if (const char* flags = std::getenv("XLA_FLAGS"))
    program = "env " + ShellWord(("XLA_FLAGS=" + llvm::StringRef(flags)).str()) + " " + program;
  crash_program = program.c_str();
  llvm::SmallString<256> cwd;
  if (!llvm::sys::fs::current_path(cwd)) start = ShellWord(cwd);
  crash_cwd = start.c_str();
  if (const char* folder = std::getenv("TMPDIR")) SetReproducerDirectory(folder);
  InstallInterruptHandlers(signals, OnInterruptSignal);
  const StopScope scope(signals);
  std::signal(SIGALRM, OnGraceOver);
  InstallCrashHandlers();
  InstallEndingHandlers();
  std::atexit(OnExit);
  std::set_new_handler(OnOutOfMemory);
  // LLVM's containers ask malloc.
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { OnOutOfMemory(); });
  llvm::raw_fd_ostream out(STDOUT_FILENO, /*shouldClose=*/false);
  llvm::raw_fd_ostream err(STDERR_FILENO, /*shouldClose=*/false, /*unbuffered=*/true);
  int code = tool(args, llvm::StringRef(), out, err);
  out.flush();
  if (out.has_error()) {
    const DiagnosticId id =
        out.error() == std::errc::file_too_large ? DiagnosticId("output-size") : DiagnosticId("output-write");
    err << "error: cannot write standard output: " << out.error().message() << " [" << id.text() << "]\n";
    out.clear_error();
    code = std::max<int>(code, DiagnosticInfo::Of(id).exit);
  }
  if (const int signal = signals.signal()) code = 128 + signal;
  err.flush();
  // Idle pool threads and large modules need no orderly end.
  _exit(code);
}

}  // namespace hlo
