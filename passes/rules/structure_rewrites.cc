#include "passes/rules/structure_rewrites.h"

#include <complex>

#include "ir/infer/groups.h"
#include "ir/numeric/narrow_float.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fold.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

using namespace pattern;

/// The literal of a constant array with more than one element; null for others.
const Literal* ArrayConstant(const Instruction& inst) {
  const Literal* literal = inst.attr<ConstantAttrs>().literal.get();
  const bool many = literal && inst.shape().IsArray() && inst.shape().ElementCount() > 1;
  return many && !inst.shape().HasDynamicDimension() ? literal : nullptr;
}

/// Element `linear` as a scalar literal.
Literal ScalarOf(const Literal& array, int64_t linear) {
  const ElementType type = array.shape().element_type();
  Literal scalar = Literal::Zeros(Shape::ArrayWithDefaultLayout(type, {}));
  if (IsComplex(type)) {
    const auto bytes = static_cast<size_t>(Info(type).host_bytes());
    std::memcpy(scalar.MutableData(), array.data() + static_cast<size_t>(linear) * bytes, bytes);
  } else {
    const uint64_t bits = array.Bits(linear);
    const int unused = 64 - Info(type).bits;
    scalar.SetBits(
        0, IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused) : bits);
  }
  return scalar;
}

/// Rank 1 with elements 0, step, 2·step, …; neither pred nor complex nor rounded.
bool IsArithmeticSequence(const Literal& literal, double step) {
  const ElementType type = literal.shape().element_type();
  if (literal.shape().rank() != 1 || !(IsIntegral(type) || IsFloat(type)) || type == ElementType::F8E8M0FNU)
    return false;
  const int64_t count = literal.shape().ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    const double value = LiteralValue(literal, i);
    if (value != static_cast<double>(i) * step || (i == 0 && std::signbit(value))) return false;
  }
  return true;
}

/// The body's parameter number, if `inst` is a parameter.
std::optional<int64_t> ParameterNumber(const Instruction& inst) {
  if (inst.kind() != OpKind::Parameter) return std::nullopt;
  return inst.attr<ParameterAttrs>().number;
}

/// The body is one op on its two parameters.
bool CombinesParameters(const Computation& by) {
  return by.instruction_count() == 3 && by.parameters().size() == 2 &&
         by.root()->operand(0) != by.root()->operand(1);
}

bool TargetIs(const Instruction& inst, llvm::StringRef target) {
  return inst.kind() == OpKind::CustomCall && inst.attr<CustomCallAttrs>().custom_call_target == target;
}

}  // namespace

Instruction* TupleOfConstants(Match& m) {
  const LiteralPtr literal = m.root->attr<ConstantAttrs>().literal;
  if (!literal) return nullptr;
  llvm::SmallVector<Instruction*, 4> elements;
  for (int64_t i = 0; i < m.shape().tuple_size(); ++i) {
    const Shape& shape = m.shape().tuple_shape(i);
    if (!shape.IsArray() && !shape.IsTuple()) return nullptr;
    const Literal& element = literal->element(i);
    elements.push_back(m.make.Constant(shape.IsArray() ? element.WithShape(shape) : element));
  }
  return m.make.Tuple(elements);
}

Instruction* ConstantToSplat(Match& m) {
  const Literal* literal = ArrayConstant(*m.root);
  if (!literal || SplatConstant(*m.root) != m.root) return nullptr;
  return m.make.Splat(m.shape(), m.make.Constant(ScalarOf(*literal, 0).Pack()));
}

Instruction* ConstantToIota(Match& m) {
  const Literal* literal = ArrayConstant(*m.root);
  return literal && IsArithmeticSequence(*literal, 1) ? m.make.Iota(m.shape(), 0) : nullptr;
}

Instruction* ConstantToScaledIota(Match& m) {
  const Literal* literal = Integral(m) ? ArrayConstant(*m.root) : nullptr;
  if (!literal || literal->shape().rank() != 1) return nullptr;
  const double step = LiteralValue(*literal, 1);
  if (step == 0 || step == 1 || !IsArithmeticSequence(*literal, step)) return nullptr;
  Instruction* factor = m.make.Constant(ScalarOf(*literal, 1).Pack());
  return m.make.Binary(OpKind::Multiply, m.make.Iota(m.shape(), 0), m.make.Splat(m.shape(), factor));
}

Instruction* ElementOfTuple(Match& m) {
  return IsSharedStart(*m.root) ? nullptr : m[A]->operand(m.root->attr<GetTupleElementAttrs>().index);
}

Instruction* IotaToZero(Match& m) {
  const bool trivial = m.shape().dim(m.root->attr<IotaAttrs>().iota_dimension) <= 1;
  if (!trivial || m.shape().HasDynamicDimension() || m.type() == ElementType::F8E8M0FNU) return nullptr;
  return m.make.Full(m.shape(), 0);
}

Instruction* MapToOperand(Match& m) {
  const auto number = ParameterNumber(*m.root->callee()->root());
  if (!number) return nullptr;
  Instruction* operand = m.root->operand(*number);
  if (operand->shape().rank() != m.shape().rank() && m.shape().HasDynamicDimension()) return nullptr;
  return m.make.MapOperand(m.shape(), operand);
}

Instruction* MapToConstant(Match& m) {
  const Instruction* root = m.root->callee()->root();
  if (root->kind() != OpKind::Constant || !IsConstant(*root) || m.shape().HasDynamicDimension())
    return nullptr;
  return m.make.Splat(m.shape(), m.make.Constant(*root->attr<ConstantAttrs>().literal));
}

Instruction* MapToOp(Match& m) {
  const Instruction* root = m.root->callee()->root();
  if (!root->info().Is(kElementwise) || root->operand_count() == 0 || !root->callees().empty())
    return nullptr;
  llvm::SmallVector<Instruction*, 3> operands;
  for (const Instruction* operand : root->operands()) {
    const auto number = ParameterNumber(*operand);
    if (!number) return nullptr;
    operands.push_back(m.root->operand(*number));
    if (operands.back()->shape().rank() != m.shape().rank() && m.shape().HasDynamicDimension())
      return nullptr;
  }
  for (Instruction*& operand : operands) operand = m.make.MapOperand(m.shape(), operand);
  return m.make.AddWithShape(root->kind(), m.shape(), operands, root->attrs());
}

Instruction* DropBarredElements(Match& m) {
  const Instruction* tuple = m[A];
  if (m.root->IsRoot() || !HasOneUse(*tuple)) return nullptr;
  llvm::SmallVector<bool, 8> used(static_cast<size_t>(tuple->operand_count()), false);
  for (const Instruction* user : m.root->users()) {
    if (user->kind() != OpKind::GetTupleElement) return nullptr;
    used[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)] = true;
  }
  auto droppable = [&](int64_t i) {
    const Instruction* element = tuple->operand(i);
    return !used[static_cast<size_t>(i)] && element->users().size() == 1 && !HasSideEffect(*element) &&
           element->shape().IsArray() && !element->shape().HasDynamicDimension();
  };
  llvm::SmallVector<Instruction*, 8> kept, result;
  llvm::SmallVector<bool, 8> dropped;  // before new users come
  for (int64_t i = 0; i < tuple->operand_count(); ++i) {
    dropped.push_back(droppable(i));
    if (!dropped.back()) kept.push_back(tuple->operand(i));
  }
  if (kept.size() == used.size()) return nullptr;
  Instruction* barrier = m.make.Add(OpKind::OptimizationBarrier, {m.make.Tuple(kept)});
  int64_t next = 0;
  for (int64_t i = 0; i < tuple->operand_count(); ++i)
    result.push_back(dropped[static_cast<size_t>(i)] ? m.make.Full(tuple->operand(i)->shape(), 0)
                                                     : m.make.Gte(barrier, next++));
  return m.make.Tuple(result);
}

Instruction* ConditionalOnPred(Match& m) {
  if (m.root->callees().size() != 2) return nullptr;
  return m.make.AddWithShape(OpKind::Conditional, m.shape(), {m[A], m.root->operand(2), m.root->operand(1)},
                             m.root->attrs(), {m.root->callee(1), m.root->callee(0)});
}

Instruction* UndoPadding(Match& m) {
  if (!TargetIs(*m.root, "SliceToDynamic") || m.root->operand_count() < 1) return nullptr;
  Instruction* source = nullptr;
  for (int64_t i = 0; i < m.root->operand_count(); ++i) {
    const Instruction* gte = m.root->operand(i);
    if (gte->kind() != OpKind::GetTupleElement || gte->attr<GetTupleElementAttrs>().index != i)
      return nullptr;
    if (source && gte->operand(0) != source) return nullptr;
    source = gte->operand(0);
  }
  return TargetIs(*source, "PadToStatic") && source->operand_count() == 1 ? source->operand(0) : nullptr;
}

Instruction* ConstrainLayout(Match& m) {
  if (!TargetIs(*m.root, "LayoutConstraint") || m.root->operand_count() != 1) return nullptr;
  Instruction* x = m.root->operand(0);
  return x->shape() == m.shape() ? x : m.make.AddWithShape(OpKind::Copy, m.shape(), {x});
}

Instruction* SplatOfShape(Match& m) {
  if (!m.shape().IsArray() || m.root->operand_count() != 1) return nullptr;
  Instruction* scalar = ScalarOrSplat(*m[A]);  // the result may be declared in another type
  return scalar->shape().element_type() == m.type() ? m.make.Splat(m.shape(), scalar) : nullptr;
}

Instruction* ExtremeOfSplat(Match& m) {
  const OpKind kind = m.root->callee()->root()->kind();
  const bool extreme = kind == OpKind::Minimum || kind == OpKind::Maximum;
  return extreme && CombinesParameters(*m.root->callee()) ? SplatOfShape(m) : nullptr;
}

Instruction* SumOfSplat(Match& m) {
  const bool sums = m.root->callee()->root()->kind() == OpKind::Add && CombinesParameters(*m.root->callee());
  if (!sums || !m.shape().IsArray() || m.root->operand_count() != 1 || IsPred(m.type())) return nullptr;
  const auto size = GroupSize(*m.root);
  Instruction* scalar = ScalarOrSplat(*m[A]);
  if (!size || !*size || scalar->shape().element_type() != m.type()) return nullptr;
  Instruction* members = IsIntegral(m.type()) ? m.make.ScalarInt(m.type(), **size)
                                              : m.make.Scalar(m.type(), static_cast<double>(**size));
  Instruction* sum = m.make.Binary(OpKind::Multiply, scalar, members);
  if (auto value = Folder().Evaluate(*sum)) sum = m.make.Constant(std::move(*value));
  return m.make.Splat(m.shape(), sum);
}

bool NoSideEffect(const Match& m) { return !HasSideEffect(*m.root); }

bool RootIsTuple(const Match& m) { return m.shape().IsTuple(); }

}  // namespace hlo
