// Libraries of NVIDIA's, where they are installed.
#pragma once
#include <string>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo::gpu {

/// Which libraries are used, and of which folder.
struct LibraryOptions {
  enum class Use : uint8_t {
    Off,
    Auto,  // where the loader or the toolkit has them; of the emulated GPU none
    Named  // those of `folder`; it is an error if there are none
  };
  Use use = Use::Auto;
  std::string folder = {};
  std::string why_off = {};  // for who wonders why there is none
};

/// Whether programs are run with libraries, where there are any.
inline bool UsesLibraries(const LibraryOptions& options, bool emulated) {
  using Use = LibraryOptions::Use;
  return options.use == Use::Named || (options.use == Use::Auto && !emulated);
}

/// The library of the first of `names` that is there. It is never closed. Errors: unavailable-library.
Result<void*> OpenLibrary(llvm::ArrayRef<llvm::StringLiteral> names, const LibraryOptions& options);

}  // namespace hlo::gpu
