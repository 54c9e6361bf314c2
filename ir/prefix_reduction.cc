#include "ir/prefix_reduction.h"

#include "ir/computation.h"

namespace hlo {
namespace {

/// Elements that windows are as good for.
constexpr int64_t kShort = 16;

/// The operand of an instruction of this kind; null for others, and of null.
const Instruction* Inside(OpKind kind, const Instruction* inst) {
  return inst != nullptr && inst->kind() == kind ? inst->operand(0) : nullptr;
}

/// Whether the instruction is that operation of the two parameters.
bool IsOfParameters(const Instruction* inst, OpKind kind) {
  return inst != nullptr && inst->kind() == kind && inst->operand_count() == 2 &&
         inst->operand(0)->kind() == OpKind::Parameter && inst->operand(1)->kind() == OpKind::Parameter &&
         inst->operand(0) != inst->operand(1);
}

/// The logarithm of the sum of the exponentials of both, as it does not overflow: max + log1p(exp(-|a - b|)),
/// and a + b where that is NaN, of equal infinities.
bool IsSumOfExponentials(const Computation& combiner) {
  const Instruction* sum = combiner.root();
  if (sum->kind() == OpKind::Select) {
    const Instruction* differs = Inside(OpKind::Compare, sum->operand(0));
    if (!IsOfParameters(differs, OpKind::Subtract) || sum->operand(0)->operand(1) != differs ||
        sum->operand(0)->attr<CompareAttrs>().direction != Direction::NE ||
        !IsOfParameters(sum->operand(1), OpKind::Add))
      return false;
    sum = sum->operand(2);
  }
  if (sum->kind() != OpKind::Add) return false;
  const bool swapped = sum->operand(0)->kind() == OpKind::Log1p;
  const Instruction* exponential = Inside(OpKind::Log1p, sum->operand(swapped ? 0 : 1));
  const Instruction* difference =
      Inside(OpKind::Abs, Inside(OpKind::Negate, Inside(OpKind::Exp, exponential)));
  return IsOfParameters(sum->operand(swapped ? 1 : 0), OpKind::Maximum) &&
         IsOfParameters(difference, OpKind::Subtract);
}

bool IsOfPlainNumbers(ElementType type) {
  const TypeInfo& info = Info(type);
  if (info.bits < CHAR_BIT || IsComplex(type) || IsPred(type)) return false;
  return IsIntegral(type) || (IsFloat(type) && info.special == FloatSpecial::Ieee);
}

}  // namespace

WindowDim WindowOf(const Prefix& prefix, int64_t n) {
  WindowDim w;
  w.size = n;
  w.pad_low = prefix.exclusive ? n : n - 1;
  w.pad_high = prefix.exclusive ? -1 : 0;
  if (prefix.reverse) std::swap(w.pad_low, w.pad_high);
  return w;
}

std::optional<Prefix> MatchPrefix(const Instruction& reduce_window) {
  const Window& window = reduce_window.attr<ReduceWindowAttrs>().window;
  const Shape& shape = reduce_window.operand(0)->shape();
  std::optional<Prefix> found;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (window.dims[d] == WindowDim()) continue;
    if (found) return std::nullopt;
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true}) {
        const Prefix prefix = {static_cast<int64_t>(d), reverse, exclusive};
        if (!found && window.dims[d] == WindowOf(prefix, shape.dim(prefix.dimension))) found = prefix;
      }
    if (!found) return std::nullopt;
  }
  return found;
}

bool IsRowScan(const Instruction& inst) {
  if (inst.kind() != OpKind::ReduceWindow || inst.operand_count() != 2 || !inst.shape().IsArray())
    return false;
  const Shape& shape = inst.operand(0)->shape();
  const ElementType type = shape.element_type();
  if (!IsOfPlainNumbers(type) || inst.shape().element_type() != type || inst.shape().ElementCount() == 0 ||
      shape.rank() == 0 || shape.dims().back() <= kShort)
    return false;
  const auto prefix = MatchPrefix(inst);
  if (!prefix || prefix->dimension != shape.rank() - 1) return false;
  const Computation& combiner = *inst.callee();
  return llvm::all_of(combiner.parameters(),
                      [&](const Instruction* x) { return x->shape().element_type() == type; }) &&
         inst.operand(1)->shape().element_type() == type &&
         (IsSumOfExponentials(combiner) ||
          (combiner.root()->info().Is(kMonoid) && IsOfParameters(combiner.root(), combiner.root()->kind())));
}

}  // namespace hlo
