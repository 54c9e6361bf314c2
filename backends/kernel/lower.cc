#include "backends/kernel/lower.h"

#include "backends/kernel/lowering.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// More rounds than reshapes can ask for: each one splits a loop.
constexpr int kMaxAttempts = 64;

/// Statements beyond which cut loops must not make a kernel longer.
constexpr int64_t kLong = 2048;

int64_t CountStatements(const Kernel& kernel) {
  int64_t count = 0;
  ForEachStmt(kernel.body, [&](const Stmt&) { ++count; });
  return count;
}

}  // namespace

bool HasLoops(OpKind kind) { return Lowering::Has(kind); }

Result<LoweredKernel> Lower(const Computation& fused, llvm::StringRef name, const Target& target) {
  LoopPlan plan;
  std::optional<Result<LoweredKernel>> whole;  // without cuts
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Lowering lowering(fused, plan, target, /*divide=*/attempt + 1 == kMaxAttempts);
    Result<LoweredKernel> lowered = lowering.Run(name);
    if (!lowered && !whole && !lowering.too_long()) return lowered;
    if (lowering.wants_split()) continue;
    if (whole) {
      const bool better =
          lowered && !lowering.divides_cut() &&
          (!*whole || CountStatements(lowered->kernel) <= std::max(kLong, CountStatements((*whole)->kernel)));
      return better ? std::move(lowered) : std::move(*whole);
    }
    plan.cuts = lowering.WorthyCuts();
    plan.written_out = lowering.WantedWrittenOut();
    if ((plan.cuts.empty() && plan.written_out.empty()) || attempt + 1 == kMaxAttempts) return lowered;
    whole = std::move(lowered);
  }
  llvm_unreachable("the last attempt asks for no split");
}

}  // namespace hlo::kernel
