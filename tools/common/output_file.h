// Files the tools write: complete or not there at all (tools.md §1.3).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// A file under a temporary name that Commit() renames. Without Commit() nothing stays behind, however
/// the process ends (ir/support/temporary_files.h). Devices, pipes and `-` are written directly.
class OutputFile {
 public:
  /// `path` may be `-` for `standard_output`. Missing folders are created. Errors: output-open;
  /// output-overwrite (exit 2) if the file is one of `inputs`.
  static Result<OutputFile> Open(llvm::StringRef path, llvm::raw_ostream& standard_output,
                                 llvm::ArrayRef<std::string> inputs = {});
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  llvm::raw_ostream& stream() { return *stream_; }
  /// Error output-write (output-size) if the file cannot take more; for writers of large files.
  Status Check();
  /// Flushes and closes but keeps the temporary name, for many files that appear together. Error
  /// output-write.
  Status Close();
  /// Flushes, closes and renames. Error output-write.
  Status Commit();

 private:
  OutputFile() = default;
  void Discard();

  std::string path_, temporary_;  // temporary_ empty: written directly
  std::unique_ptr<llvm::raw_fd_ostream> file_;
  llvm::raw_ostream* stream_ = nullptr;
};

/// Error output-overwrite (exit 2) if `path` is one of `inputs`.
Status CheckNoInput(llvm::StringRef path, llvm::ArrayRef<std::string> inputs);
/// Writes one text as a whole file.
Status WriteFile(llvm::StringRef path, llvm::StringRef text, llvm::raw_ostream& standard_output,
                 llvm::ArrayRef<std::string> inputs = {});

}  // namespace hlo
