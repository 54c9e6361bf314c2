// Libraries of NVIDIA's, where they are installed.
#pragma once
#include <cstddef>
#include <mutex>
#include <string>

#include "backends/gpu/libraries/lent_driver.h"
#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::gpu {

/// Which libraries are used, and of which folder.
struct LibraryOptions {
  enum class Use : uint8_t {
    Off,
    Auto,  // where the loader or the toolkit has them, or those of `folder`; of the emulated GPU only these
    Named  // those of `folder`; it is an error if there are none, or if they fail
  };
  Use use = Use::Auto;
  std::string folder = {};
  std::string why_off = {};  // for who wonders why there is none
};

/// Whether programs are run with libraries, where there are any.
inline bool UsesLibraries(const LibraryOptions& options, bool emulated) {
  using Use = LibraryOptions::Use;
  return options.use == Use::Named || (options.use == Use::Auto && !(emulated && options.folder.empty()));
}

/// The library of the first of `names` that is there. It is never closed. Declines where there is none.
/// Errors: unavailable-library, where those that there are cannot be loaded.
Result<void*> OpenLibrary(llvm::ArrayRef<llvm::StringLiteral> names, const LibraryOptions& options);

/// A function of a library, and where its address goes in a table of functions.
struct LibraryFunction {
  const char* symbol;
  size_t offset;
};
/// Fills in such a table. Errors: unavailable-library, naming a function that the library lacks.
Status ReadFunctions(void* library, llvm::StringRef name, llvm::ArrayRef<LibraryFunction> functions,
                     void* table);
/// What a function of a library may answer; 0 is success everywhere.
struct LibraryStatus {
  int code;
  const char *name, *text;
};
/// The diagnostic of an answer, with its row of `known`, or that of its family where it has none itself:
/// runtime-gpu, or declined where the library `lacks` what it was asked for.
Status CheckStatus(llvm::ArrayRef<LibraryStatus> known, int code, bool lacks, const char* function,
                   int family = 0);
/// Gives a library for the emulated GPU its driver; null: it is for GPUs. Errors: unavailable-library, if it
/// is for the other kind.
Status LendDriver(void* library, llvm::StringRef name, const LibraryOptions& options, const LentDriver* lent);

/// A library and its functions, which are looked up the first time that it is asked for in a folder.
template <class Api>
class KeptLibrary {
 public:
  using Loaded = std::pair<void*, Api>;
  KeptLibrary(llvm::ArrayRef<llvm::StringLiteral> names, llvm::ArrayRef<LibraryFunction> functions)
      : names_(names), functions_(functions) {}

  [[nodiscard]] Result<Loaded> Load(const LibraryOptions& options) {
    const std::lock_guard lock(mutex_);
    if (const auto it = loaded_.find(options.folder); it != loaded_.end()) return it->second;
    HLO_TRY(void* const library, OpenLibrary(names_, options));
    HLO_TRY(const Api api, Read(library));
    return loaded_[options.folder] = {library, api};
  }
  /// With a driver that is lent; null: that of a GPU.
  [[nodiscard]] Result<Api> Load(const LibraryOptions& options, const LentDriver* lent) {
    HLO_TRY(const Loaded loaded, Load(options));
    HLO_CHECK_OK(LendDriver(loaded.first, names_.front(), options, lent));
    return loaded.second;
  }
  [[nodiscard]] Result<Api> Read(void* library) const {
    Api api;
    HLO_CHECK_OK(ReadFunctions(library, names_.front(), functions_, &api));
    return api;
  }

 private:
  llvm::ArrayRef<llvm::StringLiteral> names_;
  llvm::ArrayRef<LibraryFunction> functions_;
  std::mutex mutex_;
  llvm::StringMap<Loaded> loaded_;  // by folder
};

}  // namespace hlo::gpu
