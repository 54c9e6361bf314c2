#include "ir/support/temporary_files.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace hlo {
namespace {

// Signal handlers read this: a fixed table of atomics. Who takes a name out of its slot owns it.
constexpr size_t kSlots = 512;
std::atomic<const char*> names[kSlots];
/// Held while a name in a slot is read outside of signal handlers, which never free one: without it another
/// thread could take and free the name between its reading and its comparison.
std::mutex reading;
/// Children that were forked have the table too, but not the files.
std::atomic<pid_t> owner{0};

}  // namespace

void RegisterTemporaryFile(const std::string& name) {
  owner = getpid();
  const char* copy = strdup(name.c_str());
  for (auto& slot : names) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, copy)) return;
  }
  free(const_cast<char*>(copy));
}

void UnregisterTemporaryFile(const std::string& name) {
  const std::lock_guard lock(reading);
  for (auto& slot : names) {
    const char* registered = slot.load();
    if (registered == nullptr || name != registered || !slot.compare_exchange_strong(registered, nullptr))
      continue;
    free(const_cast<char*>(registered));
    return;
  }
}

void RemoveTemporaryFiles() {
  if (owner.load() != getpid()) return;
  for (auto& slot : names)
    if (const char* name = slot.exchange(nullptr)) unlink(name);
}

std::error_code WriteWholeFile(const std::string& path, llvm::StringRef text) {
  llvm::SmallString<128> temporary = llvm::sys::path::parent_path(path);
  llvm::sys::path::append(temporary, "%%%%%%%%.tmp");
  int descriptor = -1;
  if (const std::error_code error =
          llvm::sys::fs::createUniqueFile(temporary, descriptor, temporary, llvm::sys::fs::OF_None,
                                          llvm::sys::fs::owner_read | llvm::sys::fs::owner_write))
    return error;
  const std::string name(temporary);
  RegisterTemporaryFile(name);
  const auto done = llvm::make_scope_exit([&] { UnregisterTemporaryFile(name); });
  std::error_code error;
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << text;
    os.flush();
    error = os.error();
    os.clear_error();
  }
  if (!error) error = llvm::sys::fs::rename(name, path);
  // What cannot be removed stays.
  if (error) [[maybe_unused]]
    const std::error_code ignored = llvm::sys::fs::remove(name);
  return error;
}

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) { RegisterTemporaryFile(path_); }

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  [[maybe_unused]] const std::error_code left = llvm::sys::fs::remove(path_);
  UnregisterTemporaryFile(path_);
}

Result<TemporaryFile> TemporaryFile::Make(llvm::StringRef prefix, llvm::StringRef suffix) {
  llvm::SmallString<128> path;
  if (const std::error_code error = llvm::sys::fs::createTemporaryFile(prefix, suffix, path))
    return Error("input-open", {}, "cannot create a temporary file: {0}", error.message());
  return TemporaryFile(path.str().str());
}

Status TemporaryFile::Write(llvm::StringRef text) const {
  std::error_code error;
  llvm::raw_fd_ostream os(path_, error);
  if (!error) {
    os << text;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (!error) return {};
  return Error(
      error == std::errc::file_too_large ? DiagnosticId("output-size") : DiagnosticId("output-write"), {},
      "cannot write '{0}': {1}", path_, error.message());
}

Result<std::string> TemporaryFile::Read() const {
  const auto buffer = llvm::MemoryBuffer::getFile(path_, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return Error("input-open", {}, "cannot read '{0}': {1}", path_, buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

}  // namespace hlo
