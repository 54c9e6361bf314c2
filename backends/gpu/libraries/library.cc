#include "backends/gpu/libraries/library.h"

namespace hlo::gpu {

namespace {

constexpr LibraryInfo kLibraries[] = {
#define LIBRARY(Id, name) {name, Concerns##Id, Describe##Id, Is##Id##There, Open##Id},
#include "backends/gpu/libraries/libraries.def"
};

}  // namespace

llvm::ArrayRef<LibraryInfo> Libraries() { return kLibraries; }

}  // namespace hlo::gpu
