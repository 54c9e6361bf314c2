// scan (ops-structured §4.5): a computation applied to the slices along one dimension in turn.
#include "ir/eval/eval.h"
#include "ir/eval/scalar_callee.h"

namespace hlo {
namespace {

/// An array cut along one dimension: rows of `inner` bytes, one per slice, for each outer position.
struct Cut {
  int64_t outer = 1, size, inner;
  Cut(const Shape& shape, int64_t dim)
      : size(shape.dim(dim)), inner(Info(shape.element_type()).host_bytes()) {
    for (int64_t d = 0; d < dim; ++d) outer *= shape.dim(d);
    for (int64_t d = dim + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
  }
};

Literal TakeSlice(const Literal& array, int64_t dim, int64_t t, const Shape& shape) {
  const Cut cut(array.shape(), dim);
  Literal slice = Literal::Make(shape);
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.is_dynamic(d)) slice.SetDynamicSize(d, array.DynamicSize(d < dim ? d : d + 1));
  uint8_t* out = slice.MutableData();
  for (int64_t o = 0; o < cut.outer; ++o)
    std::memcpy(out + o * cut.inner, array.data() + (o * cut.size + t) * cut.inner,
                static_cast<size_t>(cut.inner));
  return slice;
}

void PutSlice(const Literal& slice, int64_t dim, int64_t t, Literal& array) {
  const Cut cut(array.shape(), dim);
  uint8_t* out = array.MutableData();
  for (int64_t d = 0; d < array.shape().rank(); ++d)
    if (d != dim && array.shape().is_dynamic(d))
      array.SetDynamicSize(d, slice.DynamicSize(d < dim ? d : d - 1));
  for (int64_t o = 0; o < cut.outer; ++o)
    std::memcpy(out + (o * cut.size + t) * cut.inner, slice.data() + o * cut.inner,
                static_cast<size_t>(cut.inner));
}

}  // namespace

Result<Literal> EvalScan(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<ScanAttrs>();
  const Computation& body = *inst.callee();
  const int64_t dim = attrs.dimensions[0];
  const auto carries = static_cast<size_t>(attrs.num_carries), inputs = operands.size() - carries;
  std::vector<Shape> shapes;  // of the outputs, then the carries
  if (inst.shape().IsTuple())
    shapes.assign(inst.shape().tuple_shapes().begin(), inst.shape().tuple_shapes().end());
  else
    shapes.push_back(inst.shape());
  const size_t outputs = shapes.size() - carries;
  // With inputs of dynamic size, what no step writes is zero.
  const int64_t length = inputs > 0 ? operands[0].DynamicSize(dim) : shapes[0].dim(dim);

  std::vector<Literal> results, state(operands.begin() + static_cast<ptrdiff_t>(inputs), operands.end());
  for (size_t i = 0; i < outputs; ++i)
    results.push_back(length == shapes[i].dim(dim) ? Literal::Make(shapes[i]) : Literal::Zeros(shapes[i]));
  for (Literal& operand : operands.drop_front(inputs)) operand = Literal();
  for (int64_t step = 0; step < length; ++step) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const int64_t t = attrs.is_reverse ? length - 1 - step : step;
    std::vector<Literal> arguments;
    for (size_t i = 0; i < inputs; ++i)
      arguments.push_back(TakeSlice(operands[i], dim, t, body.parameter(static_cast<int64_t>(i))->shape()));
    for (Literal& carry : state) arguments.push_back(std::move(carry));
    HLO_TRY(Literal value, context.Call(body, std::move(arguments)));
    const bool tuple = value.shape().IsTuple();
    const auto part = [&](size_t i) {
      return tuple ? value.TakeElement(static_cast<int64_t>(i)) : std::move(value);
    };
    for (size_t i = 0; i < outputs; ++i) PutSlice(part(i).Unpack(), dim, t, results[i]);
    for (size_t i = 0; i < carries; ++i) state[i] = part(outputs + i).Unpack();
  }
  for (size_t i = 0; i < carries; ++i) results.push_back(state[i].WithShape(shapes[outputs + i]));
  return inst.shape().IsTuple() ? Literal::MakeTuple(std::move(results)) : results[0];
}

}  // namespace hlo
