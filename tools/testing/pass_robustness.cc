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
#include "passes/rewrite/expr.h"
#include "passes/rewrite/rule.h"
#include "tools/modules/rounding_noise.h"
#include "tools/testing/each_pass.h"
#include "tools/testing/execution.h"

namespace hlo::testing {
namespace {

constexpr unsigned kSecondsPerPass = 20;
constexpr unsigned kSecondsToExecute = 2;
constexpr int64_t kMaxExecuted = 1 << 16;  // elements of all values

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
  for (const Diagnostic& violation : Verify(module, {.layout_sensitive = layouts, .dynamic_flags = false}))
    if (violation.severity == Severity::Error) return violation.message;
  return "";
}

/// Its results are determined: no random numbers, no vectors that may as well point the other way.
bool IsDetermined(const Instruction& inst) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  return inst.info().category != OpCategory::Random && !(call && call->custom_call_target == "Eigh");
}

/// Small, and the same whenever it runs.
bool IsExecutable(const Module& module) {
  int64_t elements = 0;
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions()) {
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        elements += leaf.IsArray() ? std::min(leaf.ElementCount(), kMaxExecuted) : 0;
      });
      if (!IsDetermined(*inst) || elements > kMaxExecuted) return false;
    }
  return true;
}

/// A module's results on some arguments.
struct Reference {
  std::vector<std::vector<Literal>> arguments, results;
  bool floats = false;
};

/// The module with other last places in what is factorised; null if nothing is.
std::unique_ptr<Module> WithOtherLastPlaces(const Module& module) {
  std::unique_ptr<Module> copy = module.Clone();
  bool changed = false;
  for (const auto& c : copy->computations())
    for (Instruction* call : c->InstructionsOf(OpKind::CustomCall)) {
      if (call->attr<CustomCallAttrs>().custom_call_target != "Qr") continue;
      Maker make(call);
      const Expr matrix(make, call->operand(0));
      const Expr number =
          IotaOf(make, ElementType::S32, {matrix.shape().ElementCount()}, 0).Reshape(matrix.shape().dims());
      const Expr places = (number * 7 % 5 - 2).To(matrix.type()) * RoundingUnit(matrix.type());
      call->SetOperand(0, matrix * (places + 1));
      changed = true;
    }
  return changed ? std::move(copy) : nullptr;
}

/// Factors of dependent columns may point anywhere: other last places make other ones.
bool IsWellPosed(const Module& module, const Reference& reference) {
  const std::unique_ptr<Module> other = WithOtherLastPlaces(module);
  if (!other) return true;
  const auto result = Execute(*other, reference.arguments);
  if (!result) return true;
  Differences differences;
  for (size_t d = 0; d < reference.results.size(); ++d)
    Compare(reference.results[d].front(), result->results[d], kRounding | kSignedZero | kNan | kRange,
            /*bounded=*/true, reference.floats, differences);
  return differences.beyond == 0;
}

std::optional<Reference> MakeReference(const Module& module) {
  if (!IsExecutable(module)) return std::nullopt;
  Reference reference;
  reference.arguments = MakeArguments(module, {}, 1);
  auto result = Execute(module, reference.arguments);
  if (!result) return std::nullopt;
  for (Literal& literal : result->results) reference.results.push_back({std::move(literal)});
  reference.floats = ConcernsFloats(module);
  if (!IsWellPosed(module, reference)) return std::nullopt;
  return reference;
}

std::string Compare(const Module& after, const PassInfo& pass, const Reference& reference, bool strict) {
  const auto result = Execute(after, reference.arguments);
  if (!result) return "does not run: " + result.error().message;
  Differences differences;
  const bool keeps_precision = pass.name != "simplify-fp-conversions";
  for (size_t d = 0; d < reference.results.size(); ++d)
    Compare(reference.results[d].front(), result->results[d],
            strict ? 0 : kRounding | kSignedZero | kNan | kRange, keeps_precision && !strict,
            reference.floats && !strict, differences);
  if (differences.beyond == 0) return "";
  return llvm::formatv("computes other values: {0} of {1}: {2}", differences.beyond, differences.values,
                       differences.first);
}

/// What is wrong with the pass on a copy of the module, or nothing.
std::string RunOne(const Module& original, const PassInfo& pass, const std::optional<Reference>& reference,
                   bool strict) {
  const std::unique_ptr<Module> module = original.Clone();
  if (const Status prepared = EstablishFacts(*module, pass.requires_facts); !prepared)
    return "before it: " + prepared.error().message;
  // Layouts are compared after what assigns them, and after what keeps them if they were right.
  const bool layouts =
      pass.name == "layout-assignment" ||
      ((pass.requires_facts & pass.preserves & kLayouts) != 0 && FirstError(*module, true).empty());
  const auto changed = RunPassesChecked(*module, pass.name, {.strict_fp = strict});
  // Passes may refuse what they cannot do within limits, and what they check.
  if (!changed &&
      (changed.error().id.starts_with("limit-") || changed.error().id.starts_with("unsupported-")))
    return "";
  if (!changed) return "fails: " + changed.error().message;
  std::string error = FirstError(*module, false);
  if (error.empty() && layouts) error = FirstError(*module, true);
  if (!error.empty()) return "not valid: " + error;
  return reference && *changed ? Compare(*module, pass, *reference, KeepsBits(pass, strict)) : "";
}

/// Where a child is; stands in memory that its parent sees.
struct Progress {
  int64_t next = 0;        // the pass
  bool executing = false;  // the module itself, before any pass
};

/// In a process of its own: passes from `progress` on.
[[noreturn]] void Child(const Subject& subject, llvm::ArrayRef<const PassInfo*> passes, bool execute,
                        bool strict, Progress& progress, int out) {
  llvm::raw_fd_ostream os(out, true);
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, SIG_DFL);
  const ParseResult parsed = ParseModule(subject.text, subject.name);
  if (parsed.module && FirstError(*parsed.module, false).empty()) {
    std::optional<Reference> reference;
    if (execute) {
      alarm(kSecondsToExecute);
      progress.executing = true;
      reference = MakeReference(*parsed.module);
      progress.executing = false;
    }
    for (; progress.next < static_cast<int64_t>(passes.size()); ++progress.next) {
      alarm(kSecondsPerPass);
      const PassInfo& pass = *passes[static_cast<size_t>(progress.next)];
      if (const std::string problem = RunOne(*parsed.module, pass, reference, strict); !problem.empty())
        os << "FAIL " << pass.name << " " << subject.name << ": " << problem << '\n';
    }
  }
  os.flush();
  _exit(parsed.module ? 0 : 1);
}

/// What killed a child, if anything did.
std::string Death(int status, const Subject& subject, llvm::StringRef what) {
  return llvm::formatv("FAIL {0} {1}: signal {2}\n", what, subject.name, WTERMSIG(status));
}

/// Runs all passes on one module; what the children print, and what killed them.
std::string RunAll(const Subject& subject, llvm::ArrayRef<const PassInfo*> passes, bool execute, bool strict,
                   Progress& progress) {
  std::string report;
  for (progress = {}; progress.next < static_cast<int64_t>(passes.size());) {
    int ends[2];
    if (pipe(ends) != 0) return "FAIL: no pipe\n";
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Child(subject, passes, execute, strict, progress, ends[1]);
    }
    close(ends[1]);
    char buffer[4096];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
      report.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) break;
    if (progress.executing) {
      execute = progress.executing = false;
      if (WTERMSIG(status) != SIGALRM) report += Death(status, subject, "interpreter");
    } else if (progress.next < static_cast<int64_t>(passes.size())) {
      report += Death(status, subject, passes[static_cast<size_t>(progress.next++)]->name);
    }
  }
  return report;
}

}  // namespace

Result<int64_t> CheckRobustness(const RobustnessOptions& options, llvm::raw_ostream& os) {
  std::vector<const PassInfo*> passes;
  for (const PassInfo& pass : AllPasses())
    if (options.passes.empty() || llvm::is_contained(options.passes, pass.name)) passes.push_back(&pass);
  HLO_TRY(const std::vector<Subject> subjects, ReadSubjects(options));
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Error("limit-memory", {}, "no shared memory");
  int64_t problems = 0, modules = 0;
  for (auto i = static_cast<size_t>(options.from); i < subjects.size();
       i += static_cast<size_t>(options.every)) {
    const std::string report =
        RunAll(subjects[i], passes, options.execute, options.strict, *static_cast<Progress*>(shared));
    problems += llvm::StringRef(report).count('\n');
    ++modules;
    os << report;
    os.flush();
  }
  munmap(shared, sizeof(Progress));
  os << llvm::formatv("{0} modules, {1} passes, {2} problems\n", modules, passes.size(), problems);
  return problems;
}

}  // namespace hlo::testing
