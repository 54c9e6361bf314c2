#include "backends/llvm/deferred.h"

namespace hlo::codegen {
namespace {

using Initializer = void (*)();
extern "C" {
// Both null where the linker knows nothing of it: then it was done before main.
[[gnu::weak, gnu::visibility("hidden")]] extern const Initializer kDeferredBegin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const Initializer kDeferredEnd[];
}

}  // namespace

void RunDeferredInitializers() {
  static const bool done = [] {
    const Initializer* end = kDeferredEnd;
    for (const Initializer* run = kDeferredBegin; run != end; ++run) (*run)();
    return true;
  }();
  (void)done;
}

}  // namespace hlo::codegen
