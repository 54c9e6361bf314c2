#include "ir/prefix_reduction.h"

#include "ir/computation.h"
#include "ir/numeric/narrow_float.h"

namespace hlo {
namespace {

/// Elements that windows are as good for.
constexpr int64_t kShort = 16;

/// A number in the type's code; its sign does not matter.
bool IsConstant(const Instruction& inst, double number) {
  if (inst.kind() != OpKind::Constant || !inst.shape().IsScalar()) return false;
  const LiteralPtr& literal = inst.attr<ConstantAttrs>().literal;
  if (!literal) return false;
  const ElementType type = inst.shape().element_type();
  const uint64_t bits = literal->Bits(0);
  return IsFloat(type) ? ToDouble(type, bits) == number : bits == static_cast<uint64_t>(number);
}

/// What operations are grouped at will, and the number that as an init changes nothing; NaN: any does, once
/// or more often.
struct Scanned {
  OpKind op;
  double neutral;
};
constexpr double kAny = std::numeric_limits<double>::quiet_NaN();
constexpr Scanned kScanned[] = {{OpKind::Add, 0},        {OpKind::Multiply, 1}, {OpKind::Maximum, kAny},
                                {OpKind::Minimum, kAny}, {OpKind::And, kAny},   {OpKind::Or, kAny}};

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
  const Instruction& root = *inst.callee()->root();
  const auto is_parameter = [&](const Instruction* x) {
    return x->kind() == OpKind::Parameter && x->shape().element_type() == type;
  };
  if (root.operand_count() != 2 || root.operand(0) == root.operand(1) ||
      !llvm::all_of(root.operands(), is_parameter))
    return false;
  const auto* scanned =
      llvm::find_if(kScanned, [&](const Scanned& candidate) { return candidate.op == root.kind(); });
  return scanned != std::end(kScanned) &&
         (std::isnan(scanned->neutral) || IsConstant(*inst.operand(1), scanned->neutral));
}

}  // namespace hlo
