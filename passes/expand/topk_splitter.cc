// topk-splitter: the largest of many are the largest of the largest of parts (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, fusions, layouts.
// Changes: custom-call "TopK" of one row of more than `split_threshold` elements, of which that is a divisor,
// becomes one of as many rows, a stable sort of what these give and a slice of its first k. Left alone: k so
// large that the parts would have to be nearly sorted (its square exceeds the threshold), several rows, calls
// that need not be stable, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

struct TopkSplitterOptions {
  int64_t split_threshold = 1 << 20;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TopkSplitterOptions::split_threshold>("split_threshold", "elements of a part"),
};

/// Elements of the one row, 0 if it is no such call.
int64_t RowSize(const Instruction& inst) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  if (!call || call->custom_call_target != "TopK" || inst.operand_count() != 1 || !HasStaticShapes(inst))
    return 0;
  const Shape& x = inst.operand(0)->shape();
  const bool one_row = x.IsArray() && x.rank() == 2 && x.dim(0) == 1 && !IsComplex(x.element_type());
  return one_row && !inst.extras().backend_config.contains("is_stable = false") ? x.dim(1) : 0;
}

bool IsWorthParts(const Instruction& inst, int64_t part) {
  const int64_t size = RowSize(inst);
  if (size <= part || size % part != 0) return false;
  const int64_t k = inst.shape().tuple_shape(0).dim(1);
  return k > 0 && k <= part / k;
}

/// Compares values as the call does, and ignores positions.
Computation* Comparator(const Instruction& call, ElementType type) {
  Computation* made = NewComputation(*call.module(), "topk_comparator");
  made->set_execution_thread(call.parent()->execution_thread());
  Maker make(*made);
  const Shape value = Shape::ArrayWithDefaultLayout(type, {});
  const Shape position = Shape::ArrayWithDefaultLayout(ElementType::S32, {});
  Instruction* x = make.Parameter(0, value, "x");
  Instruction* y = make.Parameter(1, value, "y");
  make.Parameter(2, position, "x_position");
  make.Parameter(3, position, "y_position");
  if (!call.callees().empty())
    made->set_root(InlineBody(x, *call.callee(), {x, y}));
  else
    made->set_root(make.Compare(Direction::GT, x, y,
                                IsFloat(type) ? std::optional(CompareType::TotalOrder) : std::nullopt));
  return made;
}

Instruction* TopOfParts(Instruction* call, int64_t part) {
  Maker make(call);
  const Expr x(make, call->operand(0));
  const int64_t parts = x.dim(1) / part, k = call->shape().tuple_shape(0).dim(1);
  const Shape tops = Shape::MakeTuple({Shape::ArrayWithDefaultLayout(x.type(), {parts, k}),
                                       Shape::ArrayWithDefaultLayout(ElementType::S32, {parts, k})});
  Instruction* top =
      make.AddWithShape(OpKind::CustomCall, tops, {x.Reshape({parts, part})}, call->attrs(), call->callees());
  if (!call->extras().backend_config.empty())
    top->MutableExtras().backend_config = call->extras().backend_config;
  // Equal values stand in the order of their positions, by parts and within them.
  const Expr first = IotaOf(make, ElementType::S32, {parts, k}, 0) * part;
  const Expr values = Expr(make, top).Gte(0).Reshape({1, parts * k});
  const Expr positions = (Expr(make, top).Gte(1) + first).Reshape({1, parts * k});
  SortAttrs attrs;
  attrs.dimensions = {1};
  attrs.is_stable = true;
  const Expr sorted(
      make, make.Add(OpKind::Sort, {values, positions}, std::move(attrs), {Comparator(*call, x.type())}));
  return make.Tuple({sorted.Gte(0).Slice(1, 0, k), sorted.Gte(1).Slice(1, 0, k)});
}

llvm::ArrayRef<PassOptionRow> TopkSplitterOptions::Rows() { return kRows; }

Result<bool> RunTopkSplitter(Module& module, const TopkSplitterOptions& options, PassContext& context) {
  if (options.split_threshold < 1)
    return Error("usage-pass-option", Loc(), "topk-splitter: found split_threshold {0}, expected 1 or more",
                 options.split_threshold);
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return IsWorthParts(inst, options.split_threshold); },
      [&](Instruction* inst) -> Result<Instruction*> { return TopOfParts(inst, options.split_threshold); });
}

}  // namespace

HLO_DEFINE_PASS(TopkSplitter, TopkSplitterOptions);

}  // namespace hlo
