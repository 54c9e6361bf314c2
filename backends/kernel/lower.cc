#include "backends/kernel/lower.h"

#include <map>

#include "backends/kernel/lowering.h"

namespace hlo::kernel {
namespace {

/// More rounds than reshapes can ask for: each one splits a loop.
constexpr int kMaxAttempts = 64;

}  // namespace

bool HasLoops(OpKind kind) { return Lowering::Has(kind); }

Result<LoweredKernel> Lower(const Computation& fused, llvm::StringRef name) {
  LoopSplits splits;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Lowering lowering(fused, splits, /*divide=*/attempt + 1 == kMaxAttempts);
    HLO_TRY(LoweredKernel lowered, lowering.Run(name));
    if (!lowering.wants_split()) return lowered;
  }
  llvm_unreachable("the last attempt asks for no split");
}

}  // namespace hlo::kernel
