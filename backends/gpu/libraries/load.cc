#include "backends/gpu/libraries/load.h"

#include <dlfcn.h>

#include <cstring>

#include "backends/gpu/toolkit/toolkit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace hlo::gpu {
namespace {

constexpr const char* kLend = "SetDriver";

/// Its own symbols stay its own.
void* Open(const std::string& path) { return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

}  // namespace

Result<void*> OpenLibrary(llvm::ArrayRef<llvm::StringLiteral> names, const LibraryOptions& options) {
  std::optional<std::vector<std::string>> folders = std::vector<std::string>{options.folder};
  if (options.folder.empty()) {
    folders = LibraryFolders();
    if (!folders) return Decline({}, "{0} is not to be used", names.front());
    for (const llvm::StringRef name : names)
      if (void* library = Open(name.str())) return library;
  }
  std::string why;
  for (const std::string& folder : *folders)
    for (const llvm::StringRef name : names) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, name);
      if (!llvm::sys::fs::exists(path)) continue;
      if (void* library = Open(path.str().str())) return library;
      if (const char* said = ::dlerror(); said != nullptr && why.empty()) why = said;
    }
  Diagnostic error = MakeError("unavailable-library", {}, "no {0} that can be loaded{1}{2}", names.front(),
                               options.folder.empty() ? "" : " in ", options.folder);
  if (why.empty()) return Decline({}, "{0}", error.message);
  error.Note(why);
  return Error(std::move(error));
}

Status ReadFunctions(void* library, llvm::StringRef name, llvm::ArrayRef<LibraryFunction> functions,
                     void* table) {
  for (const LibraryFunction& row : functions) {
    void* const function = ::dlsym(library, row.symbol);
    if (function == nullptr)
      return Error("unavailable-library", {}, "{0} has no {1}: it is older than this program", name,
                   row.symbol);
    std::memcpy(static_cast<char*>(table) + row.offset, static_cast<const void*>(&function), sizeof function);
  }
  return {};
}

Status CheckStatus(llvm::ArrayRef<LibraryStatus> known, int code, bool lacks, const char* function,
                   int family) {
  if (code == 0) return {};
  const auto row_of = [&](int wanted) {
    return llvm::find_if(known, [&](const LibraryStatus& row) { return row.code == wanted; });
  };
  const auto* row = row_of(code) != known.end() || family == 0 ? row_of(code) : row_of(family);
  const std::string text =
      row == known.end() ? llvm::formatv("{0}: error {1}", function, code).str()
                         : llvm::formatv("{0}: {1} ({2}), {3}", function, row->name, code, row->text).str();
  if (lacks) return Decline({}, "{0}", text);
  return Error("runtime-gpu", {}, "{0}", text);
}

Status LendDriver(void* library, llvm::StringRef name, const LibraryOptions& options,
                  const LentDriver* lent) {
  auto* set = reinterpret_cast<void (*)(const LentDriver*)>(::dlsym(library, kLend));
  if ((set != nullptr) != (lent != nullptr))
    return Error("unavailable-library", {}, "{0} in {1} is {2} for the emulated GPU", name, options.folder,
                 lent != nullptr ? "not" : "only");
  if (set != nullptr) set(lent);
  return {};
}

}  // namespace hlo::gpu
