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

/// Of two (value, position) pairs the one that stands, whatever the order in which pairs are combined: some
/// element rather than none (position -1); of two elements the earlier, if `select` prefers it to the later.
Computation* SelectPosition(Maker& at, const Computation& select, ElementType position) {
  Computation* made = NewComputation(at.module(), select.name());
  made->set_execution_thread(at.computation().execution_thread());
  Maker make(*made, select.root());
  const Shape value = select.parameter(0)->shape(), index = Shape::ArrayWithDefaultLayout(position, {});
  const Expr x(make, make.Parameter(0, value, "value")), at_x(make, make.Parameter(1, index, "position"));
  const Expr y(make, make.Parameter(2, value, "value")), at_y(make, make.Parameter(3, index, "position"));
  const Expr in_order = Lt(at_x, at_y);
  const Expr earlier = Select(in_order, x, y), later = Select(in_order, y, x);
  const Expr preferred(make, InlineBody(earlier, select, {earlier, later}));
  const Expr keep = Ne(at_x, -1) & (Eq(at_y, -1) | Eq(preferred, in_order));
  made->set_root(make.Tuple({Select(keep, x, y), Select(keep, at_x, at_y)}));
  return made;
}

Instruction* MakeExpansion(Instruction* inst) {
  Maker make(inst);
  const Expr operand(make, inst->operand(0)), source(make, inst->operand(1));
  const int64_t count = operand.shape().ElementCount(), updates = source.shape().ElementCount();
  const ElementType position = count > INT32_MAX ? ElementType::S64 : ElementType::S32;
  // What each window selects, and its row-major number in the operand.
  const Expr numbers = Expr(make, IotaOf(make, position, {count}, 0)).Reshape(operand.shape().dims());
  ReduceWindowAttrs window;
  window.window = inst->attr<SelectAndScatterAttrs>().window;
  const Expr selected(
      make, make.Add(OpKind::ReduceWindow,
                     {operand, numbers, make.Scalar(operand.type(), 0), make.ScalarInt(position, -1)}, window,
                     {SelectPosition(make, *inst->callee(0), position)}));
  // A window without elements has position -1, where scatter drops its source.
  ScatterAttrs attrs;
  attrs.inserted_window_dims = attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  const Expr init = Expr(make, inst->operand(2)).Broadcast({count}, {});
  const Expr sums(make, make.Add(OpKind::Scatter,
                                 {init, selected.Gte(1).Reshape({updates, 1}), source.Reshape({updates})},
                                 attrs, {inst->callee(1)}));
  return sums.Reshape(operand.shape().dims()).inst();
}

}  // namespace

Result<bool> RunSelectAndScatterExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeExpansion(inst); });
}

HLO_DEFINE_PASS(SelectAndScatterExpander, NoPassOptions);

}  // namespace hlo
