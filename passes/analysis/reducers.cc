#include "passes/analysis/reducers.h"

#include <cmath>
#include <limits>

#include "ir/numeric/narrow_float.h"
#include "passes/analysis/value_facts.h"

namespace hlo {
namespace {

const Literal* ScalarConstant(const Instruction& inst) {
  if (inst.kind() != OpKind::Constant || !inst.shape().IsScalar()) return nullptr;
  return inst.attr<ConstantAttrs>().literal.get();
}

uint64_t Ones(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

/// The greatest (least) value of the type, which no other exceeds; −inf and inf for floats.
bool IsExtreme(const Literal& literal, bool greatest) {
  const TypeInfo& info = Info(literal.shape().element_type());
  if (info.type_class == TypeClass::Float)
    return LiteralValue(literal, 0) == (greatest ? 1 : -1) * std::numeric_limits<double>::infinity();
  const uint64_t bits = literal.Bits(0) & Ones(info.bits);
  switch (info.type_class) {
    case TypeClass::Signed: return bits == (greatest ? Ones(info.bits - 1) : Ones(info.bits - 1) + 1);
    case TypeClass::Unsigned:
    case TypeClass::Pred: return bits == (greatest ? Ones(info.bits) : 0);
    default: return false;
  }
}

}  // namespace

std::optional<OpKind> ReducerOp(const Computation& computation) {
  const Instruction* root = computation.root();
  if (computation.instruction_count() != 3 || computation.parameters().size() != 2 ||
      !root->info().Is(kMonoid) || !root->shape().IsScalar())
    return std::nullopt;
  const Instruction *x = computation.parameter(0), *y = computation.parameter(1);
  const bool both =
      (root->operand(0) == x && root->operand(1) == y) || (root->operand(0) == y && root->operand(1) == x);
  return both ? std::optional(root->kind()) : std::nullopt;
}

bool RoundsByOrder(OpKind op, ElementType type) {
  return (op == OpKind::Add || op == OpKind::Multiply) && (IsFloat(type) || IsComplex(type));
}

bool IsIdentityOf(OpKind op, const Instruction& init) {
  const Literal* literal = ScalarConstant(init);
  if (!literal) return false;
  const ElementType type = init.shape().element_type();
  const uint64_t ones = Ones(Info(type).bits);
  switch (op) {
    case OpKind::Add: return IsAll(init, 0) || (IsFloat(type) && LiteralValue(*literal, 0) == 0);
    case OpKind::Multiply: return IsAll(init, 1);
    case OpKind::Maximum: return IsExtreme(*literal, /*greatest=*/false);
    case OpKind::Minimum: return IsExtreme(*literal, /*greatest=*/true);
    case OpKind::And: return (literal->Bits(0) & ones) == ones;
    default: return (literal->Bits(0) & ones) == 0;  // or, xor
  }
}

bool MayRepeatInit(OpKind op, const Instruction& init) {
  return Info(op).Is(kIdempotent) || IsIdentityOf(op, init);
}

bool IsSameScalar(const Instruction& a, const Instruction& b) {
  if (&a == &b) return true;
  const Literal *x = ScalarConstant(a), *y = ScalarConstant(b);
  return x && y && a.shape().element_type() == b.shape().element_type() && *x == *y;
}

bool IsPlainReduction(const Instruction& inst) {
  if (inst.operand_count() != 2 || !inst.shape().IsArray() || inst.callees().empty()) return false;
  const Shape &x = inst.operand(0)->shape(), &init = inst.operand(1)->shape();
  const ElementType type = inst.shape().element_type();
  return x.element_type() == type && init.element_type() == type && !x.HasDynamicDimension() &&
         !inst.shape().HasDynamicDimension() && inst.callee()->parameters().size() == 2 &&
         inst.callee()->parameter(0)->shape().IsScalarOf(type) &&
         inst.callee()->parameter(1)->shape().IsScalarOf(type);
}

std::optional<OpKind> PlainReductionOp(const Instruction& inst) {
  return IsPlainReduction(inst) ? ReducerOp(*inst.callee()) : std::nullopt;
}

bool IsSum(const Instruction& inst) {
  return PlainReductionOp(inst) == OpKind::Add && !IsPred(inst.shape().element_type());
}

Dims ReducedDims(const Instruction& reduce) {
  Dims dims = reduce.attr<ReduceAttrs>().dimensions;
  llvm::sort(dims);
  return dims;
}

namespace {

/// compare(a, b) that says a > b or a >= b (less: < or <=).
bool IsOrderTest(const Instruction& test, const Instruction* a, const Instruction* b, bool less) {
  if (test.kind() != OpKind::Compare) return false;
  const auto& attrs = test.attr<CompareAttrs>();
  if (attrs.type == CompareType::TotalOrder) return false;
  const bool straight = test.operand(0) == a && test.operand(1) == b;
  const bool swapped = test.operand(0) == b && test.operand(1) == a;
  const bool says_less = attrs.direction == Direction::LT || attrs.direction == Direction::LE;
  const bool says_greater = attrs.direction == Direction::GT || attrs.direction == Direction::GE;
  return (straight && (less ? says_less : says_greater)) || (swapped && (less ? says_greater : says_less));
}

/// compare(a, a), NE: a is NaN.
bool IsNanTest(const Instruction& test, const Instruction* a) {
  return test.kind() == OpKind::Compare && test.operand(0) == a && test.operand(1) == a &&
         test.attr<CompareAttrs>().direction == Direction::NE;
}

}  // namespace

std::optional<OpKind> ArgReducerOp(const Computation& computation) {
  const Instruction* root = computation.root();
  if (root->kind() != OpKind::Tuple || root->operand_count() != 2 || computation.parameters().size() != 4)
    return std::nullopt;
  const Instruction *a = computation.parameter(0), *b = computation.parameter(2);
  const Instruction* value = root->operand(0);
  if (value->kind() != OpKind::Select || value->operand(1) != a || value->operand(2) != b)
    return std::nullopt;
  const Instruction* test = value->operand(0);
  // A NaN accumulator must stay, as maximum has it; a NaN element gets in since it compares false.
  const bool floats = !IsIntegral(a->shape().element_type());
  if (floats && test->kind() != OpKind::Or) return std::nullopt;
  for (const bool less : {false, true}) {
    const OpKind op = less ? OpKind::Minimum : OpKind::Maximum;
    if (IsOrderTest(*test, a, b, less)) return op;
    if (test->kind() != OpKind::Or) continue;
    for (const int64_t i : {0, 1})
      if (IsOrderTest(*test->operand(i), a, b, less) && IsNanTest(*test->operand(1 - i), a)) return op;
  }
  return std::nullopt;
}

}  // namespace hlo
