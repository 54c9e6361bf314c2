// scan_expander: scan as a loop (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: scan becomes a counted while loop that cuts a slice of each input, applies the body and stores a
// slice of each output. Exact. Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

using Values = llvm::SmallVector<Expr, 6>;

/// A scan: operands are inputs, then carries; results are outputs, then carries.
struct Scan {
  explicit Scan(const Instruction& inst)
      : attrs(inst.attr<ScanAttrs>()), body(*inst.callee()), dimension(attrs.dimensions[0]) {
    carries = attrs.num_carries;
    inputs = inst.operand_count() - carries;
    if (inst.shape().IsTuple())
      shapes.append(inst.shape().tuple_shapes().begin(), inst.shape().tuple_shapes().end());
    else
      shapes.push_back(inst.shape());
    outputs = static_cast<int64_t>(shapes.size()) - carries;
    length = inputs > 0 ? inst.operand(0)->shape().dim(dimension) : shapes[0].dim(dimension);
  }
  ScanAttrs attrs;
  const Computation& body;
  int64_t dimension, carries, inputs, outputs, length;
  llvm::SmallVector<Shape, 4> shapes;
};

/// The start indices of slice t of an array.
Values StartOf(int64_t rank, int64_t dimension, const Expr& t) {
  Values starts(static_cast<size_t>(rank), Expr(0));
  starts[static_cast<size_t>(dimension)] = t;
  return starts;
}

Expr SliceAt(const Expr& x, int64_t dimension, const Expr& t) {
  Dims sizes(x.shape().dims()), rest(x.shape().dims());
  sizes[static_cast<size_t>(dimension)] = 1;
  rest.erase(rest.begin() + dimension);
  return DynamicSliceOf(x, StartOf(x.shape().rank(), dimension, t), sizes).Reshape(rest);
}

Expr StoreAt(const Expr& x, const Expr& slice, int64_t dimension, const Expr& t) {
  Dims sizes(x.shape().dims());
  sizes[static_cast<size_t>(dimension)] = 1;
  return DynamicUpdateOf(x, slice.Reshape(sizes), StartOf(x.shape().rank(), dimension, t));
}

/// One step; the state is inputs, outputs, carries.
Values Step(Maker& make, const Scan& scan, const Expr& i, llvm::ArrayRef<Expr> state) {
  const Expr t = scan.attrs.is_reverse ? (scan.length - 1) - i : i;
  const auto inputs = state.take_front(static_cast<size_t>(scan.inputs));
  const auto outputs = state.slice(inputs.size(), static_cast<size_t>(scan.outputs));
  const auto carries = state.take_back(static_cast<size_t>(scan.carries));
  llvm::SmallVector<Instruction*, 6> arguments;
  for (const Expr& x : inputs) arguments.push_back(SliceAt(x, scan.dimension, t));
  for (const Expr& c : carries) arguments.push_back(c);
  const Expr root(make, InlineBody(i.inst(), scan.body, arguments));
  const bool single = scan.shapes.size() == 1 && !root.shape().IsTuple();
  Values next(inputs.begin(), inputs.end());
  for (size_t k = 0; k < outputs.size(); ++k)
    next.push_back(StoreAt(outputs[k], single ? root : root.Gte(static_cast<int64_t>(k)), scan.dimension, t));
  for (int64_t k = 0; k < scan.carries; ++k) next.push_back(single ? root : root.Gte(scan.outputs + k));
  return next;
}

Instruction* MakeExpansion(Instruction* inst) {
  Maker make(inst);
  const Scan scan(*inst);
  Values state;
  for (int64_t k = 0; k < scan.inputs; ++k) state.emplace_back(make, inst->operand(k));
  for (int64_t k = 0; k < scan.outputs; ++k) {
    const Shape& shape = scan.shapes[static_cast<size_t>(k)];
    state.push_back(FullOf(make, shape.element_type(), shape.dims(), 0));
  }
  for (int64_t k = 0; k < scan.carries; ++k) state.emplace_back(make, inst->operand(scan.inputs + k));
  if (scan.length > 0)
    state = CountedLoop(
        make, "scan", scan.length, state,
        [&](Maker& inside, const Expr& i, llvm::ArrayRef<Expr> s) { return Step(inside, scan, i, s); });
  for (const Expr& input : llvm::ArrayRef(state).take_front(static_cast<size_t>(scan.inputs)))
    RemoveIfDead(input);
  llvm::SmallVector<Instruction*, 6> results(state.begin() + scan.inputs, state.end());
  return inst->shape().IsTuple() ? make.Tuple(results) : results[0];
}

bool Matches(const Instruction& inst) {
  return inst.kind() == OpKind::Scan && HasStaticShapes(inst) && inst.callees().size() == 1;
}

Result<bool> RunScanExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return MakeExpansion(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ScanExpander, NoPassOptions);

}  // namespace hlo
