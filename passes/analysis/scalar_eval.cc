#include "passes/analysis/scalar_eval.h"

#include "ir/eval/eval.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {
namespace {

constexpr size_t kMaxExpression = 256;

/// What neither calls nor asks for its device needs no context.
class NoContext final : public EvalContext {
 public:
  Result<Literal> Call(const Computation&, std::vector<Literal>) override {
    llvm_unreachable("expressions call nothing");
  }
  Device& device() override { llvm_unreachable("expressions know no device"); }
  Status CheckInterrupt() override { return {}; }
};

bool IsScalarOp(const Instruction& inst) {
  if (!inst.shape().IsScalar() || !inst.callees().empty()) return false;
  if (inst.kind() == OpKind::Constant) return inst.attr<ConstantAttrs>().literal != nullptr;
  const bool moves = inst.kind() == OpKind::Reshape || inst.kind() == OpKind::Broadcast ||
                     inst.kind() == OpKind::BitcastConvert;
  return (inst.info().Is(kElementwise) || moves) && !inst.operands().empty();
}

}  // namespace

std::optional<std::vector<const Instruction*>> Expression(
    const Instruction& value, llvm::function_ref<bool(const Instruction&)> is_leaf,
    llvm::function_ref<bool(const Instruction&)> may_take_part) {
  std::vector<const Instruction*> order;
  llvm::SmallDenseSet<const Instruction*, 16> entered, left;
  llvm::SmallVector<const Instruction*, 16> stack = {&value};
  while (!stack.empty()) {
    const Instruction* at = stack.back();
    if (entered.contains(at)) {  // its operands are done
      stack.pop_back();
      if (left.insert(at).second) order.push_back(at);
      continue;
    }
    entered.insert(at);
    if (entered.size() > kMaxExpression) return std::nullopt;
    if (is_leaf(*at)) continue;
    if (!may_take_part(*at)) return std::nullopt;
    for (const Instruction* operand : at->operands())
      if (!entered.contains(operand)) stack.push_back(operand);
  }
  return order;
}

std::optional<std::vector<const Instruction*>> ScalarExpression(
    const Instruction& scalar, llvm::function_ref<bool(const Instruction&)> is_leaf) {
  return Expression(scalar, is_leaf, IsScalarOp);
}

std::optional<Literal> EvaluateScalar(llvm::ArrayRef<const Instruction*> expression, KnownScalars known) {
  NoContext context;
  for (const Instruction* inst : expression) {
    if (known.contains(inst)) continue;
    if (inst->kind() == OpKind::Constant) {
      known[inst] = inst->attr<ConstantAttrs>().literal->Unpack();
      continue;
    }
    llvm::SmallVector<Literal, 3> operands;
    for (const Instruction* operand : inst->operands()) {
      const auto value = known.find(operand);
      if (value == known.end()) return std::nullopt;
      operands.push_back(value->second);
    }
    if (operands.empty() && inst->kind() != OpKind::Iota) return std::nullopt;  // a leaf
    auto value = EvalRule(inst->kind())(context, *inst, operands);
    if (!value) return std::nullopt;
    known[inst] = std::move(*value);
  }
  return known[expression.back()];
}

std::optional<Literal> ScalarConstantValue(const Instruction& scalar) {
  if (scalar.kind() == OpKind::Constant && scalar.shape().IsScalar())
    return scalar.attr<ConstantAttrs>().literal
               ? std::optional(scalar.attr<ConstantAttrs>().literal->Unpack())
               : std::nullopt;
  const auto expression = ScalarExpression(scalar, [](const Instruction&) { return false; });
  if (!expression) return std::nullopt;
  return EvaluateScalar(*expression);
}

}  // namespace hlo
