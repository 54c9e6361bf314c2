#include "backends/compile/levels.h"

#include "passes/analysis/cost.h"

namespace hlo::compile {

Levels LevelsFromStart(llvm::ArrayRef<Instruction*> order) {
  Levels levels;
  for (const Instruction* inst : order) {
    int64_t level = 0;
    const auto after = [&](const Instruction* before) { level = std::max(level, levels.lookup(before)); };
    llvm::for_each(inst->operands(), after);
    llvm::for_each(inst->extras().control_predecessors, after);
    levels[inst] = level + (CostsNothing(inst->kind()) ? 0 : 1);
  }
  return levels;
}

Levels LevelsFromEnd(llvm::ArrayRef<Instruction*> order) {
  Levels levels;
  for (const Instruction* inst : llvm::reverse(order)) {
    int64_t& level = levels[inst];
    if (!CostsNothing(inst->kind())) ++level;
    const int64_t mine = level;
    const auto before = [&](const Instruction* other) {
      int64_t& its = levels[other];
      its = std::max(its, mine);
    };
    llvm::for_each(inst->operands(), before);
    llvm::for_each(inst->extras().control_predecessors, before);
  }
  return levels;
}

}  // namespace hlo::compile
