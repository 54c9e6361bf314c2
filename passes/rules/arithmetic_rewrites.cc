#include "passes/rules/arithmetic_rewrites.h"

#include <cmath>

#include "ir/numeric/narrow_float.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/fold.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

using namespace pattern;

/// A splat of the shape with this integer.
Instruction* FullInt(Match& m, const Shape& shape, int64_t value) {
  return m.make.Splat(shape, m.make.ScalarInt(shape.element_type(), value));
}

constexpr int64_t kMaxInverted = 1 << 20;  // elements of constants that are divided at compile time

int64_t Elements(const Instruction& inst) { return inst.shape().ElementCount(); }

/// select(A < 0, -f(-A), f(A)), or just f(A) for unsigned types.
template <class F>
Instruction* OfMagnitude(Match& m, F f) {
  Instruction* a = m[A];
  if (IsUnsigned(m.type())) return f(a);
  Instruction* negative = m.make.Compare(Direction::LT, a, FullInt(m, a->shape(), 0));
  Instruction* below = m.make.Unary(OpKind::Negate, f(m.make.Unary(OpKind::Negate, a)));
  return m.make.Select(negative, below, f(a));
}

}  // namespace

Instruction* OfConstants(Match& m, OpKind kind, Instruction* x, Instruction* y) {
  if (IsSplat(*x) && IsSplat(*y))
    return m.make.Splat(x->shape(), m.make.Binary(kind, ScalarOrSplat(*x), ScalarOrSplat(*y)));
  if (x->kind() == OpKind::Constant && y->kind() == OpKind::Constant) return m.make.Binary(kind, x, y);
  return nullptr;
}

Instruction* OfConstant(Match& m, OpKind kind, Instruction* x) {
  llvm::SmallVector<const Instruction*, 4> broadcasts;
  for (; x->kind() == OpKind::Broadcast; x = x->operand(0)) broadcasts.push_back(x);
  Instruction* made = m.make.Unary(kind, x);
  for (const Instruction* broadcast : llvm::reverse(broadcasts))
    made = m.make.Broadcast(made, broadcast->shape(), broadcast->attr<DimensionsAttrs>().dimensions);
  return made;
}

Instruction* ConstantToRight(Match& m) {
  const bool swapped = m.root->operand(0) == m[A] && IsConstant(*m[A]) && !IsConstant(*m[B]);
  return swapped ? m.make.Binary(OpKind::Add, m[B], m[A]) : nullptr;
}

Instruction* SumOfConstants(Match& m) {
  Instruction* sum = OfConstants(m, OpKind::Add, m[B], m[C]);
  return sum ? m.make.Binary(OpKind::Add, m[A], sum) : nullptr;
}

Instruction* ConstantMinus(Match& m) {
  Instruction* sum = OfConstants(m, OpKind::Add, m[B], m[C]);
  return sum ? m.make.Binary(OpKind::Subtract, sum, m[A]) : nullptr;
}

Instruction* AddIntoUpdate(Match& m) {
  Instruction* dus = m[B];
  if (!IsAll(*dus->operand(0), 0) || !BoundsFitIndices(*dus)) return nullptr;
  Instruction* update = dus->operand(1);
  const llvm::SmallVector<Instruction*, 4> indices(llvm::drop_begin(dus->operands(), 2));
  Instruction* old = m.make.DynamicSlice(m[A], indices, update->shape().dims());
  return m.make.DynamicUpdateSlice(m[A], m.make.Binary(OpKind::Add, old, update), indices);
}

Instruction* PlusNegated(Match& m) {
  return m.make.Binary(OpKind::Add, m[A], OfConstant(m, OpKind::Negate, m[B]));
}

Instruction* ProductOfConstants(Match& m) {
  Instruction* product = OfConstants(m, OpKind::Multiply, m[B], m[C]);
  return product ? m.make.Binary(OpKind::Multiply, m[A], product) : nullptr;
}

Instruction* ProductsOfConstants(Match& m) {
  Instruction* constants = OfConstants(m, OpKind::Multiply, m[C], m[D]);
  if (!constants) return nullptr;
  return m.make.Binary(OpKind::Multiply, m.make.Binary(OpKind::Multiply, m[A], m[B]), constants);
}

Instruction* ScaleSmaller(Match& m) {
  if (Elements(*m[B]) >= Elements(*m.root)) return nullptr;
  Instruction* factor = m.make.Splat(m[B]->shape(), ScalarOrSplat(*m[C]));
  Instruction* scaled = m.make.Binary(OpKind::Multiply, m[B], factor);
  Instruction* spread = m.make.Broadcast(scaled, m[D]->shape(), m[D]->attr<DimensionsAttrs>().dimensions);
  return m.make.Binary(OpKind::Multiply, m[A], spread);
}

Instruction* TimesReciprocal(Match& m) {
  Instruction* c = m[B];
  Instruction* x = c->kind() == OpKind::Broadcast ? c->operand(0) : c;
  Instruction* inverse = m.make.Binary(OpKind::Divide, m.make.Full(x->shape(), 1), x);
  if (ConstnessOf(*x) == Constness::Data && Elements(*x) <= kMaxInverted)
    if (auto value = Folder().Evaluate(*inverse)) inverse = m.make.Constant(std::move(*value));
  if (x != c) inverse = m.make.Broadcast(inverse, c->shape(), c->attr<DimensionsAttrs>().dimensions);
  return m.make.Binary(OpKind::Multiply, m[A], inverse);
}

Instruction* TimesExactReciprocal(Match& m) {
  const Instruction* constant = SplatConstant(*m[B]);
  if (!constant) return nullptr;
  const double value = LiteralValue(*constant->attr<ConstantAttrs>().literal, 0);
  int exponent = 0;
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return nullptr;
  const double inverse = 1 / value;
  if (!std::isfinite(inverse) || ToDouble(m.type(), FromDouble(m.type(), inverse)) != inverse) return nullptr;
  return m.make.Binary(OpKind::Multiply, m[A], m.make.Full(m[B]->shape(), inverse));
}

Instruction* TimesSmallReciprocal(Match& m) {
  if (!Options(m).executing_on_cpu || !Options(m).enable_sink_broadcast) return nullptr;
  if (Elements(*m[B]) >= Elements(*m.root)) return nullptr;
  Instruction* inverse = m.make.Binary(OpKind::Divide, m.make.Full(m[B]->shape(), 1), m[B]);
  return m.make.Binary(OpKind::Multiply, m[A],
                       m.make.Broadcast(inverse, m[C]->shape(), m[C]->attr<DimensionsAttrs>().dimensions));
}

Instruction* PredByScalar(Match& m) {
  Instruction* scalar = ScalarOrSplat(*m[B]);
  if (!scalar || Elements(*m.root) == 1) return nullptr;
  Instruction* inverse = m.make.Binary(OpKind::Divide, m.make.Scalar(m.type(), 1), scalar);
  return m.make.Binary(OpKind::Multiply, m.make.Splat(m.shape(), inverse), m[A]);
}

Instruction* DivideByShift(Match& m) {
  const auto log = LogOfPowerOfTwo(*m[B]);
  if (!log) return nullptr;
  Instruction* count = FullInt(m, m[A]->shape(), *log);
  return OfMagnitude(m, [&](Instruction* x) { return m.make.Binary(OpKind::ShiftRightLogical, x, count); });
}

Instruction* RemainderByMask(Match& m) {
  const auto log = LogOfPowerOfTwo(*m[B]);
  if (!log) return nullptr;
  const auto mask = static_cast<int64_t>((uint64_t{1} << *log) - 1);
  Instruction* bits = FullInt(m, m[A]->shape(), mask);
  return OfMagnitude(m, [&](Instruction* x) { return m.make.Binary(OpKind::And, x, bits); });
}

Instruction* PowerOfLog(Match& m) {
  Instruction* zero = m.make.Full(m.shape(), 0);
  Instruction* log = m.make.Unary(OpKind::Log, m.make.Unary(OpKind::Abs, m[A]));
  return m.make.Select(m.make.Compare(Direction::EQ, m[B], zero), zero,
                       m.make.Binary(OpKind::Multiply, m[B], log));
}

Instruction* ScaleKernel(Match& m) {
  Instruction *conv = m[A], *bias = m[B], *factor = m[C], *spread = m[D];
  const auto& attrs = conv->attr<ConvolutionAttrs>();
  if (!Options(m).enable_conv_add_multiply_reorder || !attrs.dim_labels || factor->shape().rank() != 1)
    return nullptr;
  const auto& labels = *attrs.dim_labels;
  if (spread->attr<DimensionsAttrs>().dimensions[0] != labels.output_feature) return nullptr;
  Instruction* kernel = conv->operand(1);
  if (kernel->shape().element_type() != m.type()) return nullptr;
  const int64_t out = labels.kernel_output_feature;
  Instruction* scale = m.make.Broadcast(factor, kernel->shape(), {out});
  Instruction* scaled =
      m.make.AddWithShape(OpKind::Convolution, conv->shape(),
                          {conv->operand(0), m.make.Binary(OpKind::Multiply, kernel, scale)}, conv->attrs());
  return m.make.Binary(OpKind::Add, scaled, m.make.Binary(OpKind::Multiply, bias, spread));
}

bool IsExactFactor(const Match& m) {
  if (Integral(m)) return true;
  if (!Floating(m)) return false;
  if (Options(m).enable_floats_are_real) return true;
  const Instruction* constant = SplatConstant(*m[C]);
  if (!constant) return false;
  int exponent = 0;
  const double value = LiteralValue(*constant->attr<ConstantAttrs>().literal, 0);
  return std::isfinite(value) && std::fabs(std::frexp(value, &exponent)) == 0.5;
}

namespace {

int64_t IotaSize(const Instruction& iota) { return iota.shape().dim(iota.attr<IotaAttrs>().iota_dimension); }

std::optional<int64_t> SplatInt(Instruction& inst) {
  const Instruction* scalar = ScalarOrSplat(inst);
  return scalar ? ScalarIntValue(*scalar) : std::nullopt;
}

}  // namespace

bool FitsRemainder(const Match& m) {
  const auto value = Integral(m) ? SplatInt(*m[B]) : std::nullopt;
  return value && *value > 0 && *value >= IotaSize(*m[A]);
}

bool FitsRemainderOfSum(const Match& m) {
  const auto value = Integral(m) ? SplatInt(*m[B]) : std::nullopt;
  if (!value || *value <= 0) return false;
  const TypeInfo& info = Info(m.type());
  const int value_bits = std::min(info.bits - (IsSigned(m.type()) ? 1 : 0), 62);
  return *value < int64_t{1} << value_bits && IotaSize(*m[A]) <= (int64_t{1} << value_bits) - *value;
}

bool NotIntegral(const Match& m) { return m.shape().IsArray() && (IsFloat(m.type()) || IsComplex(m.type())); }

bool RealNumbers(const Match& m) {
  return !IsComplex(m.type()) && llvm::none_of(m.root->operands(), [](const Instruction* o) {
    return IsComplex(o->shape().element_type());
  });
}

bool ComplexNumbers(const Match& m) { return IsComplex(m.type()); }

}  // namespace hlo
