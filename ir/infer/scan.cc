// Shape rule of scan (ops-structured §4.5).
#include "ir/computation.h"
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// The array without dimension d, or with a static one of `size` put in there.
Shape WithoutDim(const Shape& x, int64_t d) {
  Dims dims(x.dims());
  dims.erase(dims.begin() + d);
  llvm::SmallVector<bool, 8> dynamic(x.dynamic_flags());
  if (!dynamic.empty()) dynamic.erase(dynamic.begin() + d);
  return Shape::Array(x.element_type(), dims, dynamic);
}
Shape WithDim(const Shape& x, int64_t d, int64_t size) {
  Dims dims(x.dims());
  dims.insert(dims.begin() + d, size);
  llvm::SmallVector<bool, 8> dynamic(x.dynamic_flags());
  dynamic.resize(static_cast<size_t>(x.rank()));
  dynamic.insert(dynamic.begin() + d, size == kUnboundedSize);
  return Shape::ArrayWithDefaultLayout(x.element_type(), dims, dynamic);
}

/// What one step takes: slices of the inputs, then the carries.
Status CheckStepParameters(const Instruction& inst, const Computation& step, int64_t inputs, int64_t d) {
  if (static_cast<int64_t>(step.parameters().size()) != inst.operand_count())
    return RuleError("verify-callee", inst, "{0} has {1} operands, but its step {2} has {3} parameters",
                     Name(inst), inst.operand_count(), Name(step), step.parameters().size());
  const Shape& first = inst.operand(0)->shape();
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    const Shape& operand = inst.operand(i)->shape();
    const Shape& parameter = step.parameter(i)->shape();
    Shape expected = operand;
    if (i < inputs) {
      HLO_CHECK_OK(CheckArray(inst, i));
      HLO_CHECK_OK(CheckInRange(inst, "dimensions", d, operand.rank(), "the rank of an input"));
      if (!SizesAgree(first.dim(d), operand.dim(d)))
        return OperandError("verify-operand-shape", inst, i,
                            "{0} scans dimension {1} of {2} and {3}, which differ in size", Name(inst), d,
                            first, operand);
      expected = WithoutDim(operand, d);
    }
    if (!Compatible(expected, parameter))
      return OperandError("verify-callee", inst, i, "parameter {0} of step {1} is {2}, but {3} passes it {4}",
                          i, Name(step), parameter, Name(inst), expected);
  }
  return {};
}

/// Number of steps: the size of the inputs' dimension, or of the written outputs' if there is no input.
std::optional<int64_t> ScanLength(const Instruction& inst, int64_t inputs, int64_t d) {
  const Shape* from = inputs > 0 ? &inst.operand(0)->shape() : &inst.shape();
  if (!from->valid()) return std::nullopt;
  if (inputs == 0 && from->IsTuple() && from->tuple_size() > 0) from = &from->tuple_shape(0);
  if (!from->IsArray() || d >= from->rank()) return std::nullopt;
  return from->dim(d);
}

}  // namespace

Result<Shape> InferScan(const Instruction& inst, const InferOptions&) {
  const auto& a = inst.attr<ScanAttrs>();
  if (a.dimensions.size() != 1 || a.dimensions[0] < 0)
    return RuleError("verify-attribute", inst,
                     "'dimensions' of {0} is {1}, but scan needs exactly one dimension", Name(inst),
                     List(a.dimensions));
  const int64_t d = a.dimensions[0];
  if (a.num_carries < 0 || a.num_carries > inst.operand_count())
    return RuleError("verify-attribute", inst, "'num_carries' of {0} is {1}, but it has {2} operands",
                     Name(inst), a.num_carries, inst.operand_count());
  const int64_t inputs = inst.operand_count() - a.num_carries;
  HLO_TRY(const Computation* step, Callee(inst));
  HLO_CHECK_OK(CheckStepParameters(inst, *step, inputs, d));

  const Shape& root = step->root()->shape();
  const llvm::ArrayRef<Shape> results = root.IsTuple() ? root.tuple_shapes() : llvm::ArrayRef(root);
  const int64_t outputs = static_cast<int64_t>(results.size()) - a.num_carries;
  if (outputs < 0 || (outputs == 0 && inputs == 0))
    return RuleError("verify-callee", inst, "step {0} returns {1}, but {2} has {3} carries and {4} inputs",
                     Name(*step), root, Name(inst), a.num_carries, inputs);
  const std::optional<int64_t> length = ScanLength(inst, inputs, d);
  if (!length && outputs > 0)
    return RuleError(
        "verify-shape", inst,
        "{0} has no input and is declared {1}, which does not tell the number of steps in dimension {2}",
        Name(inst), inst.shape(), d);
  llvm::SmallVector<Shape, 4> shapes;
  for (int64_t i = 0; i < static_cast<int64_t>(results.size()); ++i) {
    const Shape& result = results[static_cast<size_t>(i)];
    if (i >= outputs) {
      const Shape& carry = step->parameter(inputs + i - outputs)->shape();
      if (!Compatible(result, carry))
        return RuleError("verify-callee", inst, "step {0} takes carry {1} as {2}, but returns it as {3}",
                         Name(*step), i - outputs, carry, result);
      shapes.push_back(result);
      continue;
    }
    if (!result.IsArray() || d > result.rank())
      return RuleError("verify-callee", inst,
                       "output {0} of step {1} is {2}, but {3} stacks it along dimension {4}", i, Name(*step),
                       result, Name(inst), d);
    shapes.push_back(WithDim(result, d, *length));
  }
  if (shapes.size() > 1) return TupleResult(inst, shapes);
  // A single result may be declared with or without its tuple, whatever the step returns (errata-2 14).
  const bool tuple = inst.shape().valid() ? inst.shape().IsTuple() : root.IsTuple();
  return tuple ? TupleResult(inst, shapes) : shapes[0];
}

}  // namespace hlo
