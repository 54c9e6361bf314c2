#include "passes/analysis/inlined_size.h"

namespace hlo {

Status CheckInlinedSize(const Module& module, llvm::function_ref<bool(const Instruction&)> is_inlined,
                        Loc loc) {
  llvm::DenseMap<const Computation*, double> sizes;
  double total = 0;
  for (const Computation* c : module.PostOrder()) {
    double size = 0;
    for (const Instruction* inst : c->instructions())
      size += is_inlined(*inst) ? sizes.lookup(inst->callee()) : 1;
    sizes[c] = size;
    const bool goes = !c->callers().empty() && llvm::all_of(c->callers(), [&](const Instruction* caller) {
      return is_inlined(*caller);
    });
    if (!goes || c->IsEntry()) total += size;
  }
  if (total <= static_cast<double>(kMostInlined)) return {};
  return Error("limit-inline", loc,
               "inlining the calls of module {0} would make {1:E2} instructions, more than {2}",
               module.name(), total, kMostInlined);
}

}  // namespace hlo
