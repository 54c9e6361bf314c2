#include "tools/viz/drawing/graphviz.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "ir/support/interrupt.h"
#include "ir/support/library_use.h"
#include "llvm/ADT/ScopeExit.h"

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;

/// Of libgvc and libcgraph, without their headers.
struct Functions {
  void* (*context)() = nullptr;
  int (*layout)(void* context, void* graph, const char* engine) = nullptr;
  int (*render_data)(void* context, void* graph, const char* format, char** bytes, unsigned* size) = nullptr;
  void* (*read)(const char* text) = nullptr;
  void* (*attribute)(void* graph, int kind, char* name, const char* value) = nullptr;
  std::string why;  // they are of no use
};

template <class F>
bool Find(void* from, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(from, name));
  return function != nullptr;
}

Functions Load() {
  Functions f;
  const char* asked = std::getenv("HLO_GRAPHVIZ");
  if (asked != nullptr && llvm::StringRef(asked) == "none") {
    f.why = "HLO_GRAPHVIZ=none";
    return f;
  }
  const bool named = asked != nullptr && *asked != '\0';
  // Plugins look for the symbols of the library among those of the process.
  const char* const file = named ? asked : "libgvc.so.6";
  const LibraryScope loading({file});
  void* loaded = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr) {
    f.why =
        named ? "HLO_GRAPHVIZ: " + std::string(dlerror()) : "libgvc.so.6 not found (Debian package libgvc6)";
    return f;
  }
  const bool all = Find(loaded, "gvContext", f.context) && Find(loaded, "gvLayout", f.layout) &&
                   Find(loaded, "gvRenderData", f.render_data) && Find(loaded, "agmemread", f.read) &&
                   Find(loaded, "agattr", f.attribute);
  if (!all) f.why = "libgvc lacks functions";
  return f;
}

const Functions& Graphviz() {
  static const Functions functions = Load();
  return functions;
}

constexpr int kOfGraphs = 0;  // kind of attributes

bool WriteAll(int to, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(to, bytes, size);
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

/// The child: ends with 0 if the picture is in `out`.
[[noreturn]] void Render(const Functions& f, const std::string& dot, const std::string& format, bool quick,
                         int out, int messages) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    std::signal(signal, SIG_DFL);
  dup2(messages, STDERR_FILENO);
  dup2(messages, STDOUT_FILENO);
  void* context = f.context();
  void* graph = context == nullptr ? nullptr : f.read(dot.c_str());
  if (graph == nullptr) _exit(1);
  // Bounds on the search for good ranks and places: beyond them little gets better.
  const std::pair<const char*, const char*> usual[] = {{"nslimit", "1"}, {"nslimit1", "1"}};
  const std::pair<const char*, const char*> cheap[] = {
      {"nslimit", "1"}, {"nslimit1", "1"}, {"mclimit", "0.3"}, {"splines", "line"}};
  const auto attributes = quick ? llvm::ArrayRef(cheap) : llvm::ArrayRef(usual);
  for (const auto& [name, value] : attributes) {
    std::string copy = name;
    f.attribute(graph, kOfGraphs, copy.data(), value);
  }
  char* bytes = nullptr;
  unsigned size = 0;
  if (f.layout(context, graph, "dot") != 0 ||
      f.render_data(context, graph, format.c_str(), &bytes, &size) != 0 || bytes == nullptr || size == 0)
    _exit(1);
  _exit(WriteAll(out, bytes, size) ? 0 : 1);
}

std::string Contents(int file) {
  std::string text;
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return text;
  text.resize(static_cast<size_t>(size));
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

/// Processor time that a child has used.
std::chrono::nanoseconds TimeOf(pid_t child) {
  clockid_t clock = 0;
  timespec used = {};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// Waits for the child; nothing if it was ended before it was done. Its own time counts, so that pictures do
/// not depend on what else the machine does; but never much more than that.
std::optional<int> Wait(pid_t child, std::chrono::milliseconds limit) {
  constexpr int kPatience = 4;
  const Clock::time_point deadline = Clock::now() + limit * kPatience;
  std::chrono::microseconds pause{500};
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (Interrupted() || TimeOf(child) >= limit || Clock::now() >= deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20'000));
  }
}

}  // namespace

bool HasGraphviz(std::string& why) {
  why = Graphviz().why;
  return why.empty();
}

Result<Picture> RenderDot(llvm::StringRef dot, llvm::StringRef format, const LayoutEffort& effort) {
  const Functions& f = Graphviz();
  if (!f.why.empty()) return Error("unavailable-library", {}, "{0} needs Graphviz: {1}", format, f.why);
  const std::string text = dot.str(), form = format.str();
  const int out = memfd_create("picture", MFD_CLOEXEC), messages = memfd_create("messages", MFD_CLOEXEC);
  const auto close_files = llvm::make_scope_exit([&] {
    for (const int file : {out, messages})
      if (file >= 0) close(file);
  });
  const pid_t child = out < 0 || messages < 0 ? -1 : fork();
  if (child < 0)
    return Error("unavailable-library", {}, "{0}: cannot start a process: {1}", format, std::strerror(errno));
  if (child == 0) Render(f, text, form, effort.quick, out, messages);
  const auto status = Wait(child, effort.limit);
  if (Interrupted()) return Error(InterruptedError());
  if (!status) return Picture{"", true};
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return Picture{Contents(out), false};
  const std::string said = Contents(messages);
  const std::string why = WIFSIGNALED(*status)
                              ? "it ended with signal " + std::to_string(WTERMSIG(*status))
                              : llvm::StringRef(said).split('\n').first.take_front(200).str();
  return Error("unavailable-library", {}, "Graphviz (package libgvc6) cannot make {0}: {1}", format, why);
}

}  // namespace hlo
