// while-loop-expensive-invariant-code-motion: of what is the same in all iterations of a loop, what is dear
// and takes no more memory than what it is made of is computed before it (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: dots, convolutions, reductions, transcendental functions and the like that depend on unchanged
// elements of the state only, where the result has at most as many bytes as these elements. What
// while-loop-invariant-code-motion leaves alone is left alone.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/loops/while_loop_invariant_code_motion.h"
#include "passes/pass.h"

namespace hlo {
namespace {

int64_t Bytes(const Instruction& inst) {
  return inst.shape().IsArray() ? std::max<int64_t>(ByteSize(inst.shape()), 0) : 0;
}

/// Bytes of the elements of the state and the constants that the instruction is made of, each once.
int64_t BytesOfSources(const Instruction& inst) {
  llvm::DenseSet<const Instruction*> seen;
  llvm::SmallVector<const Instruction*, 8> open = {&inst};
  int64_t bytes = 0;
  while (!open.empty()) {
    const Instruction* at = open.pop_back_val();
    const bool is_element =
        at->kind() == OpKind::GetTupleElement && at->operand(0)->kind() == OpKind::Parameter;
    if (at->operands().empty() || is_element) {
      bytes += Bytes(*at);
      continue;
    }
    for (const Instruction* o : at->operands())
      if (seen.insert(o).second) open.push_back(o);
  }
  return bytes;
}

Result<bool> RunWhileLoopExpensiveInvariantCodeMotion(Module& module, const NoPassOptions&,
                                                      PassContext& context) {
  return HoistFromLoops(module, {}, context, [](const Instruction& inst) {
    return inst.shape().IsArray() && inst.kind() != OpKind::Fusion && IsExpensive(inst) &&
           Bytes(inst) <= BytesOfSources(inst);
  });
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopExpensiveInvariantCodeMotion, NoPassOptions);

}  // namespace hlo
