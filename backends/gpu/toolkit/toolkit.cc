#include "backends/gpu/toolkit/toolkit.h"

#include <cstdlib>
#include <vector>

#include "ir/support/child_process.h"
#include "ir/support/temporary_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace hlo::gpu {
namespace {

namespace fs = llvm::sys::fs;

constexpr const char* kVariable = "HLO_CUDA";

std::string In(llvm::StringRef folder, llvm::StringRef rest) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, rest);
  return path.str().str();
}

/// Folders of `folder` whose names begin so, in no order.
std::vector<std::string> FoldersIn(llvm::StringRef folder, llvm::StringRef prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (llvm::sys::path::filename(at->path()).starts_with(prefix)) found.push_back(at->path());
  return found;
}

/// Where variables say that something is, of those that are set.
std::vector<std::string> Named(std::initializer_list<const char*> variables) {
  std::vector<std::string> folders;
  for (const char* variable : variables)
    if (const char* folder = std::getenv(variable)) folders.emplace_back(folder);
  return folders;
}
std::vector<std::string> Toolkits() {
  std::vector<std::string> folders = Named({"CUDA_HOME", "CUDA_PATH"});
  folders.emplace_back("/usr/local/cuda");
  return folders;
}
std::vector<std::string> Environments() { return Named({"VIRTUAL_ENV", "CONDA_PREFIX"}); }
/// What NVIDIA's wheels have put into a Python environment.
std::vector<std::string> WheelsOf(llvm::StringRef environment, llvm::StringRef prefix) {
  std::vector<std::string> wheels;
  for (const std::string& python : FoldersIn(In(environment, "lib"), "python"))
    for (const char* packages : {"site-packages/nvidia", "dist-packages/nvidia"})
      for (std::string& wheel : FoldersIn(In(python, packages), prefix)) wheels.push_back(std::move(wheel));
  return wheels;
}

/// `bin` folders of toolkits that are not in the PATH.
std::vector<std::string> ProgramFolders() {
  std::vector<std::string> folders;
  for (const std::string& toolkit : Toolkits()) folders.push_back(In(toolkit, "bin"));
  for (const std::string& environment : Environments()) {
    folders.push_back(In(environment, "bin"));
    for (const std::string& wheel : WheelsOf(environment, "cu")) folders.push_back(In(wheel, "bin"));
  }
  return folders;
}

/// Runs a program; what it prints. `input`: what it was given, for the message.
Result<std::string> Run(std::vector<std::string> command, llvm::StringRef input) {
  constexpr size_t kKeptOutput = size_t{1} << 30;
  HLO_TRY(ChildOutcome outcome, RunChild(command, {.kept_output = kKeptOutput}));
  if (outcome.code == 0) return std::move(outcome.output);
  Diagnostic error = MakeError("compile-kernels", {}, "{0} refuses {1} (exit code {2})",
                               llvm::sys::path::filename(command[0]), input, outcome.code);
  llvm::SmallVector<llvm::StringRef, 8> lines;
  llvm::StringRef(outcome.output).split(lines, '\n', -1, /*KeepEmpty=*/false);
  constexpr size_t kShownLines = 8;
  for (const llvm::StringRef line : llvm::ArrayRef(lines).take_front(kShownLines)) error.Note(line.str());
  return Error(std::move(error));
}

}  // namespace

Result<std::string> FindToolkitProgram(llvm::StringRef name) {
  const char* const chosen = std::getenv(kVariable);
  if (chosen != nullptr) {
    std::string path = In(In(chosen, "bin"), name);
    if (fs::can_execute(path)) return path;
    return Error("unavailable-toolkit", {}, "no {0} of NVIDIA's toolkit: {1} is '{2}'", name, kVariable,
                 chosen);
  }
  if (auto found = llvm::sys::findProgramByName(name)) return std::move(*found);
  for (const std::string& folder : ProgramFolders())
    if (std::string path = In(folder, name); fs::can_execute(path)) return path;
  Diagnostic error = MakeError("unavailable-toolkit", {},
                               "no {0} of NVIDIA's toolkit in the PATH, CUDA_HOME, /usr/local/cuda or the "
                               "Python environment",
                               name);
  error.Note((kVariable + llvm::Twine(" may name the toolkit's folder")).str());
  return Error(std::move(error));
}

std::optional<std::vector<std::string>> LibraryFolders() {
  const char* const chosen = std::getenv(kVariable);
  if (chosen != nullptr && llvm::StringRef(chosen) == "none") return std::nullopt;
  std::vector<std::string> folders;
  for (const std::string& toolkit : chosen != nullptr ? std::vector<std::string>{chosen} : Toolkits())
    for (const char* const part : {"lib64", "lib"}) folders.push_back(In(toolkit, part));
  if (chosen != nullptr) return folders;
  std::vector<std::string> environments = Environments();
  // Those of the system's Python.
  environments.insert(environments.end(), {"/usr/local", "/usr"});
  for (const std::string& environment : environments)
    for (const std::string& wheel : WheelsOf(environment, "")) folders.push_back(In(wheel, "lib"));
  return folders;
}

Result<std::string> Assemble(llvm::StringRef ptx, llvm::StringRef arch) {
  HLO_TRY(const std::string program, FindToolkitProgram("ptxas"));
  HLO_TRY(const TemporaryFile input, TemporaryFile::Make("hlo", "ptx"));
  HLO_TRY(const TemporaryFile output, TemporaryFile::Make("hlo", "cubin"));
  HLO_CHECK_OK(input.Write(ptx));
  HLO_TRY([[maybe_unused]] const std::string said,
          Run({program, ("-arch=" + arch).str(), "-o", output.path(), input.path()}, "the PTX"));
  return output.Read();
}

Result<std::string> Disassemble(llvm::StringRef cubin) {
  HLO_TRY(const std::string program, FindToolkitProgram("nvdisasm"));
  HLO_TRY(const TemporaryFile input, TemporaryFile::Make("hlo", "cubin"));
  HLO_CHECK_OK(input.Write(cubin));
  return Run({program, "-c", input.path()}, "the machine code");
}

}  // namespace hlo::gpu
