// select_and_scatter_expander: select-and-scatter as reduce-window and scatter (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: select-and-scatter becomes a reduce-window over the operand and the numbers of its elements that
// finds the selected element of each window, and a scatter of the source to these places. Exact. Left alone:
// scalars, select computations of other types than the operand's, dynamic shapes.
#include "passes/pass.h"
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

/// Of two (value, position) pairs, the first of which stands for all before the second, the one that stands:
/// some element rather than none (position -1), and of two elements the first if `select` prefers it.
Computation* SelectPosition(Maker& at, const Computation& select, ElementType position) {
  Computation* made = NewComputation(at.module(), select.name());
  made->set_execution_thread(at.computation().execution_thread());
  Maker make(*made, select.root());
  const Shape value = select.parameter(0)->shape(), index = Shape::ArrayWithDefaultLayout(position, {});
  const Expr x(make, make.Parameter(0, value, "value")), at_x(make, make.Parameter(1, index, "position"));
  const Expr y(make, make.Parameter(2, value, "value")), at_y(make, make.Parameter(3, index, "position"));
  const Expr none(make, make.ScalarInt(position, -1));
  const Expr preferred(make, InlineBody(x, select, {x, y}));
  const Expr keep = (Ne(at_x, none) & preferred) | Eq(at_y, none);
  made->set_root(make.Tuple({Select(keep, x, y), Select(keep, at_x, at_y)}));
  return made;
}

/// The position k of a window is inside the operand for every one of the outputs.
bool IsInside(const WindowDim& w, int64_t size, int64_t outputs, int64_t k) {
  if (outputs == 0) return true;
  const int64_t first = k * w.window_dilation - w.pad_low, last = first + (outputs - 1) * w.stride;
  return first >= 0 && last < size;
}

/// Windows that together make up the window, in the order in which their elements are preferred: row-major,
/// but the last position of a dimension comes after all others if either it or all before it are always
/// inside the operand but not both, the last dimension being divided first (so do XLA's loops). The last of
/// the outermost dimension comes last anyway.
std::vector<Window> InOrderOfPreference(const Window& window, const Shape& operand, const Shape& source) {
  std::vector<Window> pieces = {window};
  bool outermost = true;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (std::exchange(outermost, outermost && w.size < 2)) continue;
    const auto dim = static_cast<int64_t>(d);
    const auto inside = [&](int64_t k) { return IsInside(w, operand.dim(dim), source.dim(dim), k); };
    if (w.size < 2 || w.base_dilation != 1 || (inside(0) && inside(w.size - 2)) == inside(w.size - 1))
      continue;
    std::vector<Window> before = pieces, last = std::move(pieces);
    for (Window& piece : before) {
      --piece.dims[d].size;
      piece.dims[d].pad_high -= w.window_dilation;
    }
    for (Window& piece : last) {
      piece.dims[d].size = 1;
      piece.dims[d].pad_low -= (w.size - 1) * w.window_dilation;
    }
    pieces = std::move(before);
    pieces.insert(pieces.end(), last.begin(), last.end());
  }
  return pieces;
}

/// What the windows of the operand select: its row-major number, -1 where a window has no element.
Expr SelectedNumbers(Maker& make, const Instruction& inst, ElementType position) {
  const Expr operand(make, inst.operand(0));
  const Expr numbers =
      Expr(make, IotaOf(make, position, {operand.shape().ElementCount()}, 0)).Reshape(operand.shape().dims());
  Computation* by = SelectPosition(make, *inst.callee(0), position);
  // Any value will do: it stands for no element.
  const bool fits = inst.operand(2)->shape().IsScalarOf(operand.type());
  Instruction* value_of_none = fits ? inst.operand(2) : make.Scalar(operand.type(), 0);
  Instruction* none = make.ScalarInt(position, -1);
  Expr value, number;
  const Window& whole = inst.attr<SelectAndScatterAttrs>().window;
  for (const Window& window : InOrderOfPreference(whole, operand.shape(), inst.operand(1)->shape())) {
    ReduceWindowAttrs attrs;
    attrs.window = window;
    const Expr selected(make,
                        make.Add(OpKind::ReduceWindow, {operand, numbers, value_of_none, none}, attrs, {by}));
    const Expr rival = selected.Gte(0), rival_number = selected.Gte(1);
    if (!number.inst()) {
      value = rival;
      number = rival_number;
      continue;
    }
    MapAttrs map;
    for (int64_t d = 0; d < value.shape().rank(); ++d) map.dimensions.push_back(d);
    const Expr preferred(make, make.Add(OpKind::Map, {value, rival}, std::move(map), {inst.callee(0)}));
    const Expr keep = Ne(number, -1) & (Eq(rival_number, -1) | preferred);
    value = Select(keep, value, rival);
    number = Select(keep, number, rival_number);
  }
  return number;
}

/// No two windows have an element of the operand in common.
bool AreApart(const Window& window, const Shape& source) {
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (source.dim(static_cast<int64_t>(d)) > 1 && w.stride <= (w.size - 1) * w.window_dilation) return false;
  }
  return true;
}

Instruction* MakeExpansion(Instruction* inst) {
  Maker make(inst);
  const Shape& operand = inst->operand(0)->shape();
  const Expr source(make, inst->operand(1));
  const int64_t count = operand.ElementCount(), updates = source.shape().ElementCount();
  const ElementType position = count > INT32_MAX ? ElementType::S64 : ElementType::S32;
  const Expr selected = SelectedNumbers(make, *inst, position);
  // A window without elements has number -1, where scatter drops its source. Windows that are apart select
  // different elements, which can be written in any order.
  ScatterAttrs attrs;
  attrs.unique_indices = AreApart(inst->attr<SelectAndScatterAttrs>().window, inst->operand(1)->shape());
  attrs.inserted_window_dims = attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  const Expr init = Expr(make, inst->operand(2)).Broadcast({count}, {});
  const Expr sums(make,
                  make.Add(OpKind::Scatter, {init, selected.Reshape({updates, 1}), source.Reshape({updates})},
                           attrs, {inst->callee(1)}));
  return sums.Reshape(operand.dims()).inst();
}

Result<bool> RunSelectAndScatterExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeExpansion(inst); });
}

}  // namespace

HLO_DEFINE_PASS(SelectAndScatterExpander, NoPassOptions);

}  // namespace hlo
