#include "passes/select_and_scatter_expander.h"

#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

bool Matches(const Instruction& inst) {
  if (inst.kind() != OpKind::SelectAndScatter || !HasStaticShapes(inst)) return false;
  const Shape& operand = inst.operand(0)->shape();
  return operand.rank() > 0 && inst.callee(0)->parameter(0)->shape().IsScalarOf(operand.element_type()) &&
         inst.operand(1)->shape().element_type() == inst.operand(2)->shape().element_type();
}

/// (value, position…) of the element that stands: the first, unless it is none (position -1) or `select`
/// prefers the second, which is some.
Computation* SelectPosition(Maker& at, const Computation& select, ElementType position, int64_t rank) {
  Computation* made = NewComputation(at.module(), select.name());
  made->set_execution_thread(at.computation().execution_thread());
  Maker make(*made, select.root());
  const Shape value = select.parameter(0)->shape(), index = Shape::ArrayWithDefaultLayout(position, {});
  llvm::SmallVector<Expr, 8> sides[2];
  for (int64_t i = 0; i < 2 * (rank + 1); ++i) {
    const bool is_value = i % (rank + 1) == 0;
    sides[i / (rank + 1)].push_back(
        Expr(make, make.Parameter(i, is_value ? value : index, is_value ? "value" : "position")));
  }
  const Expr preferred(make, InlineBody(sides[0][0], select, {sides[0][0], sides[1][0]}));
  const Expr keep = Ne(sides[0][1], -1) & (Eq(sides[1][1], -1) | preferred);
  llvm::SmallVector<Instruction*, 8> results;
  for (size_t i = 0; i < sides[0].size(); ++i) results.push_back(Select(keep, sides[0][i], sides[1][i]));
  made->set_root(make.Tuple(results));
  return made;
}

Instruction* MakeExpansion(Instruction* inst) {
  Maker make(inst);
  const Expr operand(make, inst->operand(0)), source(make, inst->operand(1));
  const int64_t rank = operand.shape().rank();
  bool large = false;
  for (const int64_t d : operand.shape().dims()) large |= d > INT32_MAX;
  const ElementType position = large ? ElementType::S64 : ElementType::S32;
  // Places in the operand of what the windows select.
  llvm::SmallVector<Instruction*, 10> inputs = {operand};
  for (int64_t d = 0; d < rank; ++d) inputs.push_back(IotaOf(make, position, operand.shape().dims(), d));
  inputs.push_back(make.Scalar(operand.type(), 0));
  Instruction* none = make.ScalarInt(position, -1);
  for (int64_t d = 0; d < rank; ++d) inputs.push_back(none);
  ReduceWindowAttrs window;
  window.window = inst->attr<SelectAndScatterAttrs>().window;
  const Expr selected(make, make.Add(OpKind::ReduceWindow, inputs, window,
                                     {SelectPosition(make, *inst->callee(0), position, rank)}));
  // A window without elements has position -1, where scatter drops its source.
  Dims column(source.shape().dims());
  column.push_back(1);
  llvm::SmallVector<Expr, 6> columns;
  for (int64_t d = 0; d < rank; ++d) columns.push_back(selected.Gte(d + 1).Reshape(column));
  ScatterAttrs attrs;
  for (int64_t d = 0; d < rank; ++d) {
    attrs.inserted_window_dims.push_back(d);
    attrs.scatter_dims_to_operand_dims.push_back(d);
  }
  attrs.index_vector_dim = rank;
  const Expr init = Expr(make, inst->operand(2)).Broadcast(operand.shape().dims(), {});
  return make.Add(OpKind::Scatter, {init, Concat(columns, rank), source}, attrs, {inst->callee(1)});
}

}  // namespace

Result<bool> RunSelectAndScatterExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeExpansion(inst); });
}

HLO_DEFINE_PASS(SelectAndScatterExpander, NoPassOptions);

}  // namespace hlo
