// Evaluation of elementwise ops on arrays.
#include "ir/eval/elementwise.h"

#include <algorithm>
#include <cassert>

#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

/// Work per piece of a parallel loop: tens of microseconds.
int64_t Grain(const Kernel& kernel) { return kernel.is_expensive() ? 4096 : 65536; }

/// Storage for the result: that of an operand if its elements have the type and nobody else reads it.
Literal MakeResult(const Shape& shape, llvm::MutableArrayRef<Literal> operands) {
  for (Literal& operand : operands) {
    if (operand.shape().element_type() != shape.element_type() ||
        operand.shape().ElementCount() != shape.ElementCount() || !operand.IsUnique())
      continue;
    Literal result = std::move(operand);
    result = result.WithShape(shape);
    return result;
  }
  return Literal::Make(shape);
}

Result<Literal> EvalElementwise(const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const std::optional<Kernel> kernel = FindKernel(inst);
  if (!kernel)
    return Error("unsupported-element-type", inst.loc(), "'{0}' is not defined for element type '{1}'",
                 ToString(inst.kind()), ToString(operands[0].shape().element_type()));
  return ApplyElementwise(*kernel, inst.shape(), operands);
}

}  // namespace

void TakeDynamicSizes(Literal& result, llvm::ArrayRef<Literal> operands) {
  const Shape& shape = result.shape();
  for (const Literal& operand : operands) {
    if (!operand.HasDynamicSizes() || operand.shape().rank() != shape.rank()) continue;
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (shape.is_dynamic(d))
        result.SetDynamicSize(d, std::min(operand.DynamicSize(d), result.DynamicSize(d)));
  }
}

Literal ApplyElementwise(const Kernel& kernel, const Shape& shape, llvm::MutableArrayRef<Literal> operands) {
  const int64_t n = shape.ElementCount();
  std::array<const uint8_t*, Kernel::kMaxOperands> in{};
  std::array<int64_t, Kernel::kMaxOperands> width{};
  std::array<llvm::SmallVector<uint8_t, 0>, Kernel::kMaxOperands> uniform;
  llvm::SmallVector<Literal, 3> sized;
  bool any_uniform = false;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int element = Info(operands[k].shape().element_type()).host_bytes();
    in[k] = operands[k].data();
    width[k] = element;
    if (operands[k].HasDynamicSizes()) sized.push_back(operands[k]);
    if (operands[k].shape().ElementCount() != 1 || n == 1) continue;
    any_uniform = true;
    uniform[k].resize_for_overwrite(static_cast<size_t>(element * Kernel::kBlock));
    FillElements(uniform[k].data(), in[k], element, Kernel::kBlock);
    in[k] = uniform[k].data();
    width[k] = 0;
  }
  Literal result = MakeResult(shape, operands);
  uint8_t* out = result.MutableData();
  const int64_t out_width = Info(shape.element_type()).host_bytes();
  ParallelFor(0, n, Grain(kernel), [&](int64_t begin, int64_t end) {
    const int64_t step = any_uniform ? Kernel::kBlock : end - begin;
    for (int64_t at = begin; at < end; at += step) {
      std::array<const void*, Kernel::kMaxOperands> source{};
      for (size_t k = 0; k < operands.size(); ++k) source[k] = in[k] + at * width[k];
      kernel.Run(out + at * out_width, source.data(), std::min(step, end - at));
    }
  });
  TakeDynamicSizes(result, sized);
  return result;
}

Literal ConvertLiteral(Literal value, ElementType type) {
  const ElementType from = value.shape().element_type();
  if (from == type) return value;
  const std::optional<Kernel> kernel = FindKernel(OpKind::Convert, from, type);
  assert(kernel && "types without conversion");
  const Shape shape = value.shape().WithElementType(type);
  return ApplyElementwise(*kernel, shape, value);
}

Literal ToIndices(const Literal& value) {
  if (value.shape().element_type() != ElementType::U64) return ConvertLiteral(value, ElementType::S64);
  Literal indices = Literal::Make(value.shape().WithElementType(ElementType::S64));
  const auto to = indices.MutableSpan<int64_t>();
  const auto from = value.Data<uint64_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int64_t>(std::min<uint64_t>(from[i], INT64_MAX));
  TakeDynamicSizes(indices, value);
  return indices;
}

int64_t ScalarIndex(const Literal& value) { return ToIndices(value).Data<int64_t>()[0]; }

Result<Literal> EvalUnary(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalBinary(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalConvert(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  if (operands[0].shape().element_type() == inst.shape().element_type())
    return operands[0].WithShape(inst.shape());
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalReducePrecision(EvalContext&, const Instruction& inst,
                                    llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalStochasticConvert(EvalContext&, const Instruction& inst,
                                      llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalCompare(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}
Result<Literal> EvalClamp(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  return EvalElementwise(inst, operands);
}

Result<Literal> EvalSelect(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const Shape& predicate = operands[0].shape();
  if (predicate.IsScalar()) {
    Literal& chosen = operands[operands[0].data()[0] != 0 ? 1 : 2];
    if (chosen.shape().element_type() == inst.shape().element_type())
      return std::move(chosen).WithShape(inst.shape());
  }
  return EvalElementwise(inst, operands);
}

}  // namespace hlo
