#include "backends/llvm/deferred.h"

namespace hlo::codegen {
namespace {

using Initializer = void (*)();
extern "C" {
// Both null where the linker knows nothing of it: then it was done before main.
[[gnu::weak, gnu::visibility("hidden")]] extern const Initializer hlo_deferred_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const Initializer hlo_deferred_end[];
}

}  // namespace

void RunDeferredInitializers() {
  static const bool done = [] {
    const Initializer* end = hlo_deferred_end;
    for (const Initializer* run = hlo_deferred_begin; run != end; ++run) (*run)();
    return true;
  }();
  (void)done;
}

}  // namespace hlo::codegen
