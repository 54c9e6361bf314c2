// Static cost of instructions: arithmetic, transcendental functions, bytes moved (passes.md §7).
#pragma once
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Counts are estimates, so they are floating; -1: unknown (custom calls).
struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes = 0;  // read and written
};

/// True for opcodes that cost nothing whatever they are applied to: parameters, bitcasts and the like run
/// nothing.
bool CostsNothing(OpKind kind);

/// The costs of a module's instructions. Computations called by others are counted through their
/// callers; a loop's body counts once, a conditional as its dearest branch.
class CostAnalysis {
 public:
  explicit CostAnalysis(const Module& module);
  [[nodiscard]] const Cost& Of(const Instruction& instruction) const {
    return instructions_.find(&instruction)->second;
  }
  /// Sum over the instructions of a computation; unknown ones count 0.
  [[nodiscard]] const Cost& Of(const Computation& computation) const {
    return computations_.find(&computation)->second;
  }

 private:
  llvm::DenseMap<const Instruction*, Cost> instructions_;
  llvm::DenseMap<const Computation*, Cost> computations_;
};

}  // namespace hlo
