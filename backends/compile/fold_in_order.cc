// Only with --strict-fp: sums, products and whatever else rounds by the order of its elements are marked, and
// neither kernels nor loops of libraries take what is marked: the evaluator folds it, as it does everywhere.
// Code that calls nothing folds it in the order of its elements.
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
  static constexpr OpKind kExact[] = {
      OpKind::Parameter, OpKind::Constant, OpKind::Tuple,   OpKind::GetTupleElement,
      OpKind::Compare,   OpKind::Select,   OpKind::And,     OpKind::Or,
      OpKind::Not,       OpKind::Maximum,  OpKind::Minimum, OpKind::Copy};
  return llvm::any_of(reducer.instructions(), [](const Instruction* inst) {
    const bool of_floats = inst->shape().IsArray() && !IsIntegral(inst->shape().element_type());
    return of_floats && !llvm::is_contained(kExact, inst->kind());
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
