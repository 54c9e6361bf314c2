#include "tools/testing/pass_robustness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "ir/verify.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"
#include "passes/pass_manager.h"
#include "tools/testing/each_pass.h"

namespace hlo::testing {
namespace {

constexpr unsigned kSecondsPerPass = 20;

struct Subject {
  std::string name, text;
};

Result<std::vector<Subject>> ReadSubjects(const RobustnessOptions& options) {
  std::vector<std::string> files;
  for (const std::string& folder : options.folders) {
    if (!std::filesystem::is_directory(folder)) {
      files.push_back(folder);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".hlo") files.push_back(entry.path().string());
  }
  llvm::sort(files);
  std::vector<Subject> subjects;
  for (const std::string& file : files) {
    const auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) return Error("input-open", {}, "cannot open '{0}'", file);
    llvm::SmallVector<llvm::StringRef> chunks;
    (*buffer)->getBuffer().split(chunks, "\n// -----\n");
    for (size_t i = 0; i < chunks.size(); ++i)
      if (static_cast<int64_t>(chunks[i].size()) <= options.max_bytes)
        subjects.push_back({chunks.size() > 1 ? file + "#" + std::to_string(i) : file, chunks[i].str()});
  }
  return subjects;
}

std::string FirstError(const Module& module, bool layouts) {
  for (const Diagnostic& violation : Verify(module, {.layout_sensitive = layouts}))
    if (violation.severity == Severity::Error) return violation.message;
  return "";
}

/// What is wrong with the pass on a copy of the module, or nothing.
std::string RunOne(const Module& original, const PassInfo& pass) {
  const std::unique_ptr<Module> module = original.Clone();
  if (const Status prepared = EstablishFacts(*module, pass.requires_facts); !prepared)
    return "before it: " + prepared.error().message;
  // Layouts are compared after what assigns them, and after what keeps them if they were right.
  const bool layouts =
      pass.name == "layout-assignment" ||
      ((pass.requires_facts & pass.preserves & kLayouts) != 0 && FirstError(*module, true).empty());
  const auto changed = RunPassesChecked(*module, pass.name);
  if (!changed) return "fails: " + changed.error().message;
  std::string error = FirstError(*module, false);
  if (error.empty() && layouts) error = FirstError(*module, true);
  return error.empty() ? "" : "not valid: " + error;
}

/// In a process of its own: passes from `next` on, whose number stands in shared memory.
[[noreturn]] void Child(const Subject& subject, llvm::ArrayRef<const PassInfo*> passes, int64_t& next,
                        int out) {
  llvm::raw_fd_ostream os(out, true);
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, SIG_DFL);
  const ParseResult parsed = ParseModule(subject.text, subject.name);
  if (parsed.module && FirstError(*parsed.module, false).empty()) {
    for (; next < static_cast<int64_t>(passes.size()); ++next) {
      alarm(kSecondsPerPass);
      const PassInfo& pass = *passes[static_cast<size_t>(next)];
      if (const std::string problem = RunOne(*parsed.module, pass); !problem.empty())
        os << "FAIL " << pass.name << " " << subject.name << ": " << problem << '\n';
    }
  }
  os.flush();
  _exit(parsed.module ? 0 : 1);
}

/// Runs all passes on one module; what the children print, and what killed them.
std::string RunAll(const Subject& subject, llvm::ArrayRef<const PassInfo*> passes, int64_t& next) {
  std::string report;
  for (next = 0; next < static_cast<int64_t>(passes.size()); ++next) {
    int ends[2];
    if (pipe(ends) != 0) return "FAIL: no pipe\n";
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Child(subject, passes, next, ends[1]);
    }
    close(ends[1]);
    char buffer[4096];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
      report.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) break;
    if (next < static_cast<int64_t>(passes.size()))
      report += llvm::formatv("FAIL {0} {1}: signal {2}\n", passes[static_cast<size_t>(next)]->name,
                              subject.name, WTERMSIG(status))
                    .str();
  }
  return report;
}

}  // namespace

Result<int64_t> CheckRobustness(const RobustnessOptions& options, llvm::raw_ostream& os) {
  std::vector<const PassInfo*> passes;
  for (const PassInfo& pass : AllPasses())
    if (options.passes.empty() || llvm::is_contained(options.passes, pass.name)) passes.push_back(&pass);
  HLO_TRY(const std::vector<Subject> subjects, ReadSubjects(options));
  void* shared = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Error("limit-memory", {}, "no shared memory");
  int64_t problems = 0, modules = 0;
  for (auto i = static_cast<size_t>(options.from); i < subjects.size();
       i += static_cast<size_t>(options.every)) {
    const std::string report = RunAll(subjects[i], passes, *static_cast<int64_t*>(shared));
    problems += llvm::StringRef(report).count('\n');
    ++modules;
    os << report;
    os.flush();
  }
  munmap(shared, sizeof(int64_t));
  os << llvm::formatv("{0} modules, {1} passes, {2} problems\n", modules, passes.size(), problems);
  return problems;
}

}  // namespace hlo::testing
