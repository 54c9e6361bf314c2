#include "backends/kernel/value_bounds.h"

#include "ir/computation.h"

namespace hlo::kernel {
namespace {

/// Levels of operands that are compared.
constexpr int kDepth = 4;

/// Whether two instructions are the same function of the same values.
bool AreSame(const Instruction& x, const Instruction& y, int depth = kDepth) {
  if (&x == &y) return true;
  if (depth == 0 || x.kind() != y.kind() || x.operand_count() == 0 ||
      x.operand_count() != y.operand_count() || !x.info().Is(kElementwise) || !x.callees().empty() ||
      !(x.attrs() == y.attrs()) || x.shape() != y.shape())
    return false;
  for (int64_t i = 0; i < x.operand_count(); ++i)
    if (!AreSame(*x.operand(i), *y.operand(i), depth - 1)) return false;
  return true;
}

/// Whether the computation is the larger of its two parameters, which is NaN if one is.
bool IsMaximum(const Computation& combiner) {
  const Instruction& root = *combiner.root();
  return root.kind() == OpKind::Maximum && root.operand(0)->kind() == OpKind::Parameter &&
         root.operand(1)->kind() == OpKind::Parameter && root.operand(0) != root.operand(1);
}

/// Whether `spread` has, beside each element of x, the largest of its row or something larger.
bool IsLargestOfRows(const Instruction& spread, const Instruction& x) {
  if (spread.kind() != OpKind::Broadcast || !SameDims(spread.shape(), x.shape())) return false;
  const Instruction* largest = spread.operand(0);
  for (int depth = 0; largest->kind() == OpKind::Maximum && depth < kDepth; ++depth)
    largest = largest->operand(largest->operand(0)->kind() == OpKind::Reduce ? 0 : 1);
  if (largest->kind() != OpKind::Reduce || largest->operand_count() != 2 ||
      !AreSame(*largest->operand(0), x) || !IsMaximum(*largest->callee()))
    return false;
  Dims kept;
  for (int64_t d = 0; d < x.shape().rank(); ++d)
    if (!llvm::is_contained(largest->attr<ReduceAttrs>().dimensions, d)) kept.push_back(d);
  return spread.attr<DimensionsAttrs>().dimensions == kept;
}

bool IsOfBelowLargest(const Instruction& exponential) {
  const Instruction& difference = *exponential.operand(0);
  return difference.kind() == OpKind::Subtract && IsFloat(difference.shape().element_type()) &&
         IsLargestOfRows(*difference.operand(1), *difference.operand(0));
}

bool IsOfExponential(const Instruction& quotient) {
  const Instruction& dividend = *quotient.operand(0);
  return dividend.kind() == OpKind::Exp && IsOfBelowLargest(dividend);
}

struct Row {
  OpKind kind;
  bool (*is_bounded)(const Instruction& inst);
};
constexpr Row kRows[] = {{OpKind::Exp, IsOfBelowLargest}, {OpKind::Divide, IsOfExponential}};

}  // namespace

bool MayBeBounded(OpKind kind) {
  return llvm::any_of(kRows, [&](const Row& row) { return row.kind == kind; });
}

bool HasBoundedOperand(const Instruction& inst) {
  return llvm::any_of(kRows, [&](const Row& row) { return row.kind == inst.kind() && row.is_bounded(inst); });
}

}  // namespace hlo::kernel
