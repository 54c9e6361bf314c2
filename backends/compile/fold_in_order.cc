// fold-in-order: only with --strict-fp: sums, products and whatever else rounds by the order of its elements
// are marked, and neither kernels nor loops of libraries take what is marked: the evaluator folds it, as it
// does everywhere.
//
// Requires nothing. Preserves everything. Code that calls nothing folds it in the order of its elements.
#include "backends/compile/kernel_config.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/pass.h"

namespace hlo::compile {
namespace {

/// Taken in another order it could give other values.
bool Rounds(const Computation& reducer) {
  const ElementType type = reducer.parameter(0)->shape().element_type();
  if (const std::optional<OpKind> op = ReducerOp(reducer)) return RoundsByOrder(*op, type);
  return llvm::any_of(reducer.instructions(), [](const Instruction* inst) {
    const ElementType result = inst->shape().IsArray() ? inst->shape().element_type() : ElementType::Pred;
    return (IsFloat(result) || IsComplex(result)) && inst->info().rounding != OpRounding::Moves;
  });
}

Result<bool> RunFoldInOrder(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  if (!context.policy().strict_fp) return changed;
  for (Computation* computation : context.Computations(module))
    for (const OpKind kind :
         {OpKind::Reduce, OpKind::ReduceWindow, OpKind::Scatter, OpKind::SelectAndScatter})
      for (Instruction* inst : computation->InstructionsOf(kind)) {
        if (FoldsInOrder(*inst) || !Rounds(*inst->callees().back())) continue;
        if (!context.TakeRewrite()) return changed;
        inst->MutableExtras().backend_config = kernel::kInOrder;
        changed = true;
      }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(FoldInOrder, NoPassOptions);

}  // namespace hlo::compile
