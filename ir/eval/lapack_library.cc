#include "ir/eval/lapack_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "ir/support/library_use.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace hlo::lapack {
namespace {

struct Row {
  const char* real;
  const char* complex;
  int64_t own_to;
};
constexpr Row kRows[] = {
#define LAPACK_ROUTINE(Id, real, complex, own_to, ...) {real, complex, own_to},
#include "ir/eval/lapack_routines.def"
};

/// What the process can call, found once.
struct Library {
  struct File {
    void* handle;
    std::string name;
  };
  std::vector<File> files;
  std::string why_none;  // if there are no files

  void* Find(const std::string& symbol, std::string& file) const {
    for (const File& f : files)
      if (void* function = dlsym(f.handle, symbol.c_str())) {
        file = f.name;
        return function;
      }
    return nullptr;
  }
};

void Load(Library& library, const char* file, llvm::StringRef name) {
  const LibraryScope loading({file});
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  library.files.push_back({handle, name.str()});
  // Batches and products are cut for our own threads.
  if (auto* set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads")))
    set_threads(1);
}

Library LoadLibrary() {
  Library library;
  const char* asked = std::getenv("HLO_LAPACK");
  if (asked != nullptr && llvm::StringRef(asked) == "none") {
    library.why_none = "HLO_LAPACK=none";
    return library;
  }
  // Read when OpenBLAS is loaded, which starts its threads.
  setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/1);
  if (asked != nullptr && *asked != '\0') {
    Load(library, asked, llvm::sys::path::filename(asked));
    if (library.files.empty()) library.why_none = "HLO_LAPACK: " + std::string(dlerror());
    return library;
  }
  // OpenBLAS has all of LAPACK; the reference libraries share the work.
  Load(library, "libopenblas.so.0", "openblas");
  if (library.files.empty()) {
    Load(library, "liblapack.so.3", "lapack");
    Load(library, "libblas.so.3", "blas");
  }
  library.why_none = "libopenblas not found";
  return library;
}

void* OwnRoutineOf(Routine routine, char prefix) {
  switch (prefix) {
    case 's': return OwnRoutine<float>(routine);
    case 'd': return OwnRoutine<double>(routine);
    case 'c': return OwnRoutine<std::complex<float>>(routine);
    default: return OwnRoutine<std::complex<double>>(routine);
  }
}

}  // namespace

Found FindRoutine(Routine routine, char prefix, int64_t size) {
  const Row& row = kRows[static_cast<size_t>(routine)];
  void* own = OwnRoutineOf(routine, prefix);
  if (size <= row.own_to) return {own, false, "own loops: as fast for matrices of this size"};
  static const Library library = LoadLibrary();
  const std::string name = prefix + std::string(prefix == 's' || prefix == 'd' ? row.real : row.complex);
  std::string file;
  if (void* function = library.Find(name + "_", file))
    return {function, true, "library: " + file + " " + name};
  const std::string why =
      library.files.empty() ? library.why_none : library.files[0].name + " has no " + name;
  return {own, false, "own loops: " + why};
}

}  // namespace hlo::lapack
