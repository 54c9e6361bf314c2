// Shape rules of map, reduce, reduce-window, select-and-scatter, sort and topk (ops-structured §4, §5).
#include "ir/computation.h"
#include "ir/infer/reducer.h"
#include "ir/infer/window_shape.h"

namespace hlo {
namespace {

/// Splits N inputs and N inits; all arrays, inputs of equal sizes.
struct Halves {
  llvm::ArrayRef<Instruction*> inputs, inits;
};
Result<Halves> SplitOperands(const Instruction& inst) {
  const auto operands = inst.operands();
  if (operands.empty() || operands.size() % 2 != 0)
    return RuleError("verify-operand-count", inst,
                     "{0} has {1} operands, but {2} takes as many initial values as arrays", Name(inst),
                     operands.size(), ToString(inst.kind()));
  HLO_CHECK_OK(CheckArrays(inst));
  const size_t n = operands.size() / 2;
  for (size_t i = 1; i < n; ++i) HLO_CHECK_OK(CheckSameDims(inst, 0, static_cast<int64_t>(i)));
  for (size_t i = n; i < 2 * n; ++i) HLO_CHECK_OK(CheckScalar(inst, static_cast<int64_t>(i)));
  return Halves{operands.take_front(n), operands.drop_front(n)};
}

}  // namespace

// §4.4: a scalar beside arrays is tolerated; dimensions are always all of them.
Result<Shape> InferMap(const Instruction& inst, const InferOptions& options) {
  if (inst.operand_count() == 0)
    return RuleError("verify-operand-count", inst, "{0} has 0 operands, but map takes at least 1",
                     Name(inst));
  HLO_CHECK_OK(CheckArrays(inst));
  int64_t array = 0;
  for (int64_t i = 1; i < inst.operand_count(); ++i) {
    if (inst.operand(i)->shape().rank() == 0) continue;
    if (inst.operand(array)->shape().rank() == 0) array = i;
    HLO_CHECK_OK(CheckSameDims(inst, array, i));
  }
  HLO_TRY(const Computation* computation, Callee(inst));
  if (static_cast<int64_t>(computation->parameters().size()) != inst.operand_count())
    return RuleError("verify-callee", inst, "{0} maps {1} operands, but {2} has {3} parameters", Name(inst),
                     inst.operand_count(), Name(*computation), computation->parameters().size());
  for (int64_t i = 0; i < inst.operand_count(); ++i)
    HLO_CHECK_OK(
        CheckScalarParameter(inst, *computation, i, inst.operand(i)->shape(), options.allow_mixed_precision));
  const Shape& result = computation->root()->shape();
  if (!result.IsScalar())
    return RuleError("verify-callee", inst, "{0} maps with {1}, which returns {2} instead of a scalar",
                     Name(inst), Name(*computation), result);
  const Shape& x = inst.operand(array)->shape();
  return ArrayResult(inst, result.element_type(), x.dims(), x.dynamic_flags());
}

// §4.1
Result<Shape> InferReduce(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Halves halves, SplitOperands(inst));
  const Shape& x = halves.inputs[0]->shape();
  const Dims& reduced = inst.attr<ReduceAttrs>().dimensions;
  HLO_CHECK_OK(CheckDimList(inst, "dimensions", reduced, x.rank(), "the rank of operand 0"));
  HLO_TRY(const Shape result,
          CheckReducer(inst, 0, halves.inputs, halves.inits, options.allow_mixed_precision));
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
  uint64_t dropped = 0;
  for (int64_t d : reduced)
    if (d < 64) dropped |= uint64_t{1} << d;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d < 64 ? (dropped >> d & 1) != 0 : llvm::is_contained(reduced, d)) continue;
    dims.push_back(x.dim(d));
    dynamic.push_back(x.is_dynamic(d));
  }
  return ReducedShape(inst, result, dims, dynamic);
}

// §4.2
Result<Shape> InferReduceWindow(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Halves halves, SplitOperands(inst));
  HLO_TRY(const Shape result,
          CheckReducer(inst, 0, halves.inputs, halves.inits, options.allow_mixed_precision));
  HLO_TRY(const WindowedDims windowed,
          InferWindow(inst, inst.attr<ReduceWindowAttrs>().window, halves.inputs[0]->shape()));
  // errata-2 9: the element types are those of the initial values.
  if (!result.IsTuple()) return ReducedShape(inst, halves.inits[0]->shape(), windowed.dims, windowed.dynamic);
  llvm::SmallVector<Shape, 4> types;
  for (const Instruction* init : halves.inits) types.push_back(init->shape());
  return ReducedShape(inst, Shape::MakeTuple(types), windowed.dims, windowed.dynamic);
}

// §4.3
Result<Shape> InferSelectAndScatter(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  HLO_CHECK_OK(CheckScalar(inst, 2));
  const Shape& x = inst.operand(0)->shape();
  const Shape& source = inst.operand(1)->shape();
  HLO_TRY(const Computation* select, Callee(inst, 0));
  if (select->parameters().size() != 2 || !select->root()->shape().IsScalarOf(ElementType::Pred))
    return RuleError("verify-callee", inst,
                     "{0} selects with {1}, which has {2} parameters and returns {3} instead of 2 and pred[]",
                     Name(inst), Name(*select), select->parameters().size(), select->root()->shape());
  for (int64_t i = 0; i < 2; ++i) HLO_CHECK_OK(CheckScalarParameter(inst, *select, i, x, true));
  HLO_TRY([[maybe_unused]] const Shape reduced,
          CheckReducer(inst, 1, inst.operands().slice(1, 1), inst.operands().slice(2, 1),
                       /*ignore_precision=*/true));
  HLO_TRY(const WindowedDims windowed, InferWindow(inst, inst.attr<SelectAndScatterAttrs>().window, x));
  const bool type_fits = source.element_type() == x.element_type() ||
                         (IsFloat(source.element_type()) && IsFloat(x.element_type()));
  if (!type_fits || source.rank() != x.rank() || !llvm::equal(source.dims(), windowed.dims, SizesAgree))
    return OperandError("verify-operand-shape", inst, 1,
                        "source of {0} is {1}, but the window over {2} has shape {3}", Name(inst), source, x,
                        Shape::Array(x.element_type(), windowed.dims, windowed.dynamic));
  return x;
}

// §5.1
Result<Shape> InferSort(const Instruction& inst, const InferOptions&) {
  if (inst.operand_count() == 0)
    return RuleError("verify-operand-count", inst, "{0} has 0 operands, but sort takes at least 1",
                     Name(inst));
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& x = inst.operand(0)->shape();
  const Dims& dims = inst.attr<SortAttrs>().dimensions;
  if (dims.size() != 1)
    return RuleError("verify-attribute", inst,
                     "'dimensions' of {0} is {1}, but sort needs exactly one dimension", Name(inst),
                     List(dims));
  HLO_CHECK_OK(CheckInRange(inst, "dimensions", dims[0], x.rank(), "the rank of operand 0"));
  HLO_TRY(const Computation* computation, Callee(inst));
  if (static_cast<int64_t>(computation->parameters().size()) != 2 * inst.operand_count() ||
      !computation->root()->shape().IsScalarOf(ElementType::Pred))
    return RuleError(
        "verify-callee", inst,
        "{0} compares with {1}, which has {2} parameters and returns {3} instead of {4} and pred[]",
        Name(inst), Name(*computation), computation->parameters().size(), computation->root()->shape(),
        2 * inst.operand_count());
  llvm::SmallVector<Shape, 4> shapes;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    HLO_CHECK_OK(CheckSameDims(inst, 0, i));
    for (int64_t p = 2 * i; p < 2 * i + 2; ++p)
      HLO_CHECK_OK(CheckScalarParameter(inst, *computation, p, inst.operand(i)->shape(), true));
    shapes.push_back(inst.operand(i)->shape());
  }
  return shapes.size() == 1 ? shapes[0] : TupleResult(inst, shapes);
}

// §5.2
Result<Shape> InferTopK(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArray(inst, 0));
  const Shape& x = inst.operand(0)->shape();
  const int64_t k = inst.attr<TopKAttrs>().k;
  if (x.rank() == 0 || k < 0 || (!x.is_unbounded(x.rank() - 1) && k > x.dim(x.rank() - 1)))
    return OperandError("verify-attribute", inst, 0,
                        "'k' of {0} is {1}, which does not fit the last dimension of {2}", Name(inst), k, x);
  Dims dims(x.dims());
  llvm::SmallVector<bool, 8> dynamic(x.dynamic_flags());
  dims.back() = k;
  if (!dynamic.empty()) dynamic.back() = false;
  return Shape::MakeTuple({Shape::ArrayWithDefaultLayout(x.element_type(), dims, dynamic),
                           Shape::ArrayWithDefaultLayout(ElementType::S32, dims, dynamic)});
}

}  // namespace hlo
