#include "tools/common/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "ir/support/temporary_files.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace hlo {
namespace {

tl::unexpected<Diagnostic> FileError(DiagnosticId id, llvm::StringRef path, llvm::StringRef what,
                                     std::error_code code) {
  if (code == std::errc::file_too_large) id = "output-size";
  Diagnostic error = MakeError(id, {}, "{0}: {1}", what, code.message());
  error.file = path == "-" ? "<stdout>" : path.str();
  return Error(std::move(error));
}

std::error_code Errno() { return {errno, std::generic_category()}; }

/// A name beside `path` that does not exist, and its open descriptor; -1 with errno set.
int OpenTemporary(llvm::StringRef path, std::string& name) {
  llvm::SmallString<128> pattern(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(pattern, ("." + llvm::sys::path::filename(path) + ".XXXXXX").str());
  name = pattern.str().str();
  return mkstemp(name.data());
}

}  // namespace

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      file_(std::move(other.file_)),
      stream_(std::exchange(other.stream_, nullptr)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  Discard();
  path_ = std::move(other.path_);
  temporary_ = std::exchange(other.temporary_, "");
  file_ = std::move(other.file_);
  stream_ = std::exchange(other.stream_, nullptr);
  return *this;
}

OutputFile::~OutputFile() { Discard(); }

void OutputFile::Discard() {
  if (file_) {
    file_->close();
    file_->clear_error();
    file_.reset();
  }
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  UnregisterTemporaryFile(temporary_);
  temporary_.clear();
}

Status CheckNoInput(llvm::StringRef path, llvm::ArrayRef<std::string> inputs) {
  for (const std::string& input : inputs)
    if (input != "-" && (input == path || llvm::sys::fs::equivalent(input, path)))
      return Error("output-overwrite", {}, "output '{0}' is an input of the same run", path);
  return {};
}

Result<OutputFile> OutputFile::Open(llvm::StringRef path, llvm::raw_ostream& standard_output,
                                    llvm::ArrayRef<std::string> inputs) {
  OutputFile output;
  output.path_ = path.str();
  if (path == "-") {
    output.stream_ = &standard_output;
    return output;
  }
  HLO_CHECK_OK(CheckNoInput(path, inputs));
  const llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty())
    if (const std::error_code error = llvm::sys::fs::create_directories(folder, true, llvm::sys::fs::all_all))
      return FileError("output-open", path, "cannot create folder", error);
  struct stat status = {};
  const bool exists = stat(output.path_.c_str(), &status) == 0;
  int descriptor = -1;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor = open(output.path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    descriptor = OpenTemporary(path, output.temporary_);
    if (descriptor >= 0) {
      RegisterTemporaryFile(output.temporary_);
      // mkstemp's files are private; give this one what open() would have.
      const mode_t mask = umask(0);
      umask(mask);
      fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
    } else {
      output.temporary_.clear();
    }
  }
  if (descriptor < 0) return FileError("output-open", path, "cannot write", Errno());
  output.file_ = std::make_unique<llvm::raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  output.stream_ = output.file_.get();
  return output;
}

Status OutputFile::Check() {
  if (!file_ || !file_->has_error()) return {};
  const std::error_code error = file_->error();
  file_->clear_error();
  return FileError("output-write", path_, "cannot write", error);
}

Status OutputFile::Close() {
  if (!file_) {
    if (stream_) stream_->flush();
    return {};
  }
  file_->flush();
  HLO_CHECK_OK(Check());
  file_->close();
  HLO_CHECK_OK(Check());
  file_.reset();
  stream_ = nullptr;
  return {};
}

Status OutputFile::Commit() {
  HLO_CHECK_OK(Close());
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    const std::error_code error = Errno();
    Discard();
    return FileError("output-write", path_, "cannot rename", error);
  }
  UnregisterTemporaryFile(temporary_);
  temporary_.clear();
  return {};
}

Status WriteFile(llvm::StringRef path, llvm::StringRef text, llvm::raw_ostream& standard_output,
                 llvm::ArrayRef<std::string> inputs) {
  HLO_TRY(OutputFile file, OutputFile::Open(path, standard_output, inputs));
  file.stream() << text;
  return file.Commit();
}

}  // namespace hlo
