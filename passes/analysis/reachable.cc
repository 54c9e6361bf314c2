#include "passes/analysis/reachable.h"

#include "llvm/ADT/DenseSet.h"

namespace hlo {

bool AnyInstruction(const Computation& computation, llvm::function_ref<bool(const Instruction&)> test) {
  llvm::SmallVector<const Computation*, 4> stack = {&computation};
  llvm::SmallDenseSet<const Computation*, 4> seen = {&computation};
  while (!stack.empty())
    for (const Instruction* inst : stack.pop_back_val()->instructions()) {
      if (test(*inst)) return true;
      for (const Computation* callee : inst->callees())
        if (seen.insert(callee).second) stack.push_back(callee);
    }
  return false;
}

}  // namespace hlo
