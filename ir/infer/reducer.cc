#include "ir/infer/reducer.h"

#include "ir/computation.h"

namespace hlo {
namespace {

/// Scalar i of a reducer's result.
const Shape& ResultElement(const Shape& result, size_t i) {
  return result.IsTuple() ? result.tuple_shape(static_cast<int64_t>(i)) : result;
}

bool TypesFit(ElementType a, ElementType b, bool ignore_precision) {
  return a == b || (ignore_precision && IsFloat(a) && IsFloat(b));
}

Diagnostic AtCallee(Diagnostic d, const Computation& computation) {
  d.Note(computation.loc(), "the computation is defined here");
  return d;
}

}  // namespace

Status CheckScalarParameter(const Instruction& inst, const Computation& computation, int64_t number,
                            const Shape& value, bool ignore_precision) {
  const Shape& shape = computation.parameter(number)->shape();
  if (shape.IsScalar() && TypesFit(shape.element_type(), value.element_type(), ignore_precision)) return {};
  return Error(AtCallee(
      MakeError("verify-callee", inst.loc(), "parameter {0} of {1} is {2}, but {3} passes it elements of {4}",
                number, Name(computation), shape, Name(inst), value),
      computation));
}

Result<Shape> CheckReducer(const Instruction& inst, int64_t callee, llvm::ArrayRef<Instruction*> inputs,
                           llvm::ArrayRef<Instruction*> inits, bool ignore_precision) {
  HLO_TRY(const Computation* computation, Callee(inst, callee));
  const size_t n = inputs.size();
  if (computation->parameters().size() != 2 * n)
    return Error(
        AtCallee(MakeError("verify-callee", inst.loc(),
                           "{0} reduces {1} arrays, but {2} has {3} parameters instead of {4}", Name(inst), n,
                           Name(*computation), computation->parameters().size(), 2 * n),
                 *computation));
  const Shape& result = computation->root()->shape();
  if (result.IsTuple() ? result.tuple_shapes().size() != n : n != 1)
    return Error(
        AtCallee(MakeError("verify-callee", inst.loc(), "{0} reduces {1} arrays, but {2} returns {3}",
                           Name(inst), n, Name(*computation), result),
                 *computation));
  for (size_t i = 0; i < n; ++i) {
    const Shape& element = ResultElement(result, i);
    const Shape& accumulator = computation->parameter(static_cast<int64_t>(i))->shape();
    if (!element.IsScalar() || !Compatible(element, accumulator))
      return Error(AtCallee(
          MakeError("verify-callee", inst.loc(),
                    "result {0} of {1} is {2}, but its parameter {0} is {3}; both must be one scalar type", i,
                    Name(*computation), element, accumulator),
          *computation));
    const Shape& init = inits[i]->shape();
    if (!TypesFit(init.element_type(), element.element_type(), true))
      return Error(AtCallee(
          MakeError("verify-callee", inst.loc(), "initial value {0} of {1} is {2}, but {3} accumulates {4}",
                    i, Name(inst), init, Name(*computation), element),
          *computation));
    HLO_CHECK_OK(CheckScalarParameter(inst, *computation, static_cast<int64_t>(n + i), inputs[i]->shape(),
                                      ignore_precision));
    if (!ignore_precision)
      HLO_CHECK_OK(
          CheckScalarParameter(inst, *computation, static_cast<int64_t>(i), inits[i]->shape(), false));
  }
  return result;
}

Shape ReducedShape(const Instruction& inst, const Shape& reduced, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<bool> dynamic) {
  if (!reduced.IsTuple()) return ArrayResult(inst, reduced.element_type(), dims, dynamic);
  llvm::SmallVector<Shape, 4> elements;
  for (const Shape& element : reduced.tuple_shapes())
    elements.push_back(Shape::ArrayWithDefaultLayout(element.element_type(), dims, dynamic));
  return Shape::MakeTuple(elements);
}

}  // namespace hlo
