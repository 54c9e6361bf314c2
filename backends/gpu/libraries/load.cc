#include "backends/gpu/libraries/load.h"

#include <dlfcn.h>

#include "backends/gpu/toolkit/toolkit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace hlo::gpu {
namespace {

/// Its own symbols stay its own.
void* Open(const std::string& path) { return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

}  // namespace

Result<void*> OpenLibrary(llvm::ArrayRef<llvm::StringLiteral> names, const LibraryOptions& options) {
  std::optional<std::vector<std::string>> folders = std::vector<std::string>{options.folder};
  if (options.use != LibraryOptions::Use::Named) {
    folders = LibraryFolders();
    if (!folders) return Error("unavailable-library", {}, "{0} is not to be used", names.front());
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
  if (!why.empty()) error.Note(why);
  return Error(std::move(error));
}

}  // namespace hlo::gpu
