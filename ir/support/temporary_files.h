// Files that are not finished: they go when the process ends, however it ends.
#pragma once
#include <string>

#include "ir/support/result.h"

namespace hlo {

/// From here on the file goes with the process. More than 512 at once are merely not cleaned up.
void RegisterTemporaryFile(const std::string& name);
/// The file has been renamed or removed.
void UnregisterTemporaryFile(const std::string& name);
/// Unlinks all registered files of this process; for its abnormal ends. Only async-signal-safe calls.
void RemoveTemporaryFiles();

/// Writes a file that appears whole or not at all, for this user alone. Its folder is there; of what goes
/// wrong nothing is left.
std::error_code WriteWholeFile(const std::string& path, llvm::StringRef text);

/// A file of its own among those for temporary ones ($TMPDIR); removed at the end.
class TemporaryFile {
 public:
  /// Empty, under a new name `PREFIX-….SUFFIX`. Errors: input-open.
  static Result<TemporaryFile> Make(llvm::StringRef prefix, llvm::StringRef suffix);
  TemporaryFile(TemporaryFile&& o) noexcept : path_(std::move(o.path_)) { o.path_.clear(); }
  TemporaryFile& operator=(TemporaryFile&& o) noexcept {
    std::swap(path_, o.path_);
    return *this;
  }
  ~TemporaryFile();
  [[nodiscard]] const std::string& path() const { return path_; }
  /// In place of what it has. Errors: output-write, output-size.
  [[nodiscard]] Status Write(llvm::StringRef text) const;
  /// What it has. Errors: input-open.
  [[nodiscard]] Result<std::string> Read() const;

 private:
  explicit TemporaryFile(std::string path);
  std::string path_;  // empty: moved away
};

}  // namespace hlo
