// fold-in-order: only with --strict-fp: sums, products and whatever else rounds by the order of its elements
// are marked, and neither kernels nor loops of libraries take what is marked: the evaluator folds it, as it
// does everywhere.
//
// Requires nothing. Preserves everything. Code that calls nothing folds it in the order of its elements, on
// machines of blocks and threads sums in F64, which are rounded once, as the evaluator's are.
#include "backends/compile/kernel_config.h"
#include "backends/compile/machine.h"
#include "ir/eval/elementwise.h"
#include "ir/eval/fold_kernels.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

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

/// The type in which the evaluator makes a sum of floats; nothing where that is its own.
std::optional<ElementType> WideSumOf(const Instruction& inst) {
  if ((inst.kind() != OpKind::Reduce && inst.kind() != OpKind::ReduceWindow) || inst.operand_count() != 2 ||
      inst.shape().HasDynamicDimension() || inst.operand(0)->shape().HasDynamicDimension() ||
      ReducerOp(*inst.callee()) != OpKind::Add)
    return std::nullopt;
  const ElementType type = inst.shape().element_type();
  if ((!IsFloat(type) && !IsComplex(type)) ||
      llvm::any_of(inst.operands(), [&](const Instruction* x) { return x->shape().element_type() != type; }))
    return std::nullopt;
  const FoldKernels* const kernels = FindFoldKernels(OpKind::Add, RealPartType(type));
  if (kernels == nullptr || kernels->accumulator == RealPartType(type)) return std::nullopt;
  return IsComplex(type) ? ComplexType(kernels->accumulator) : kernels->accumulator;
}

/// The sum in the other type, which takes its place; what is behind it rounds.
Instruction* Widen(Instruction* sum, ElementType wide) {
  Maker make(sum);
  Instruction* x = make.Convert(sum->operand(0), wide);
  Instruction* init = sum->operand(1);
  init = init->kind() == OpKind::Constant
             ? make.Constant(ConvertLiteral(*init->attr<ConstantAttrs>().literal, wide))
             : make.Convert(init, wide);
  Instruction* widened = make.AddWithShape(sum->kind(), sum->shape().WithElementType(wide), {x, init},
                                           sum->attrs(), {make.ScalarComputation(OpKind::Add, wide)});
  ReplaceAndRemove(sum, make.Convert(widened, sum->shape().element_type()));
  return widened;
}

Result<bool> RunFoldInOrder(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  if (!context.policy().strict_fp) return changed;
  const bool widens = MachineOf(context).gpu.warp > 0;
  for (Computation* computation : context.Computations(module))
    for (const OpKind kind :
         {OpKind::Reduce, OpKind::ReduceWindow, OpKind::Scatter, OpKind::SelectAndScatter})
      for (Instruction* inst : computation->InstructionsOf(kind)) {
        if (FoldsInOrder(*inst) || !Rounds(*inst->callees().back())) continue;
        if (!context.TakeRewrite()) return changed;
        if (const auto wide = widens ? WideSumOf(*inst) : std::nullopt) inst = Widen(inst, *wide);
        inst->MutableExtras().backend_config = kernel::kInOrder;
        changed = true;
      }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(FoldInOrder, NoPassOptions);

}  // namespace hlo::compile
