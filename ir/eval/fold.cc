#include "ir/eval/fold.h"

#include "ir/eval/scalar_function.h"
#include "ir/numeric/narrow_float.h"

namespace hlo {
namespace {

/// Sum or product of bf16/f8 values, accumulated in f32.
Literal FoldWide(OpKind op, const Shape& shape, llvm::ArrayRef<Literal> values) {
  const auto count = static_cast<size_t>(shape.ElementCount());
  std::vector<float> sum(count), next(count);
  WidenToFloat(shape.element_type(), values[0].data(), sum.data(), count);
  for (const Literal& v : values.drop_front()) {
    WidenToFloat(shape.element_type(), v.data(), next.data(), count);
    for (size_t i = 0; i < count; ++i) sum[i] = op == OpKind::Add ? sum[i] + next[i] : sum[i] * next[i];
  }
  Literal out = Literal::Make(shape);
  NarrowFromFloat(shape.element_type(), sum.data(), out.MutableData(), count);
  return out;
}

Result<Literal> FoldByCalls(EvalContext& context, const Computation& reducer,
                            llvm::ArrayRef<Literal> values) {
  Literal out = values[0];
  const Shape scalar = Shape::ArrayWithDefaultLayout(out.shape().element_type(), {});
  const auto width = static_cast<size_t>(Info(out.shape().element_type()).host_bytes());
  for (const Literal& v : values.drop_front())
    for (int64_t i = 0; i < out.shape().ElementCount(); ++i) {
      const size_t offset = static_cast<size_t>(i) * width;
      Literal a = Literal::Make(scalar), b = Literal::Make(scalar);
      std::memcpy(a.MutableData(), out.data() + offset, width);
      std::memcpy(b.MutableData(), v.data() + offset, width);
      HLO_TRY(Literal c, context.Call(reducer, {std::move(a), std::move(b)}));
      std::memcpy(out.MutableData() + offset, (c.shape().IsTuple() ? c.element(0) : c).data(), width);
    }
  return out;
}

Result<Literal> FoldValues(EvalContext& context, const Computation& reducer, const ScalarFunction* function,
                           llvm::ArrayRef<Literal> values) {
  if (!function) return FoldByCalls(context, reducer, values);
  const Shape& shape = values[0].shape();
  const auto op = function->AsBinaryOp();
  const int bits = Info(shape.element_type()).bits;
  if (op && (op->kind == OpKind::Add || op->kind == OpKind::Multiply) && IsFloat(shape.element_type()) &&
      bits < 32)
    return FoldWide(op->kind, shape, values);
  Literal out = values[0];
  uint8_t* target = out.MutableData();
  ScalarRunner runner(*function);
  for (const Literal& v : values.drop_front()) {
    const void* arguments[] = {target, v.data()};
    void* results[] = {target};
    runner.Run(arguments, results, shape.ElementCount());
  }
  return out;
}

}  // namespace

Result<std::vector<Literal>> FoldMembers(EvalContext& context, const Computation& reducer,
                                         const std::vector<std::vector<Literal>>& members) {
  const auto function = ScalarFunction::Compile(reducer);
  std::vector<Literal> folded;
  size_t count = 0;
  for (const auto& member : members) count = std::max(count, member.size());
  for (size_t i = 0; i < count; ++i) {
    std::vector<Literal> values;
    for (const auto& member : members)
      if (!member.empty()) values.push_back(member[i]);
    HLO_TRY(Literal sum, FoldValues(context, reducer, function.get(), values));
    folded.push_back(std::move(sum));
  }
  return folded;
}

}  // namespace hlo
