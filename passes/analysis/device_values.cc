#include "passes/analysis/device_values.h"

#include "ir/eval/eval.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {
namespace {

constexpr size_t kMaxInstructions = 256;
constexpr int64_t kMaxElements = 1 << 16;

/// What is evaluated here neither calls nor asks for its device.
class NoContext final : public EvalContext {
 public:
  Result<Literal> Call(const Computation&, std::vector<Literal>) override {
    llvm_unreachable("values of devices call nothing");
  }
  Device& device() override { llvm_unreachable("values of devices know their ids"); }
  Status CheckInterrupt() override { return {}; }
};

bool IsId(const Instruction& inst) {
  return inst.kind() == OpKind::ReplicaId || inst.kind() == OpKind::PartitionId;
}

bool MayEvaluate(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.shape().HasDynamicDimension() || !inst.callees().empty() ||
      inst.shape().ElementCount() > kMaxElements)
    return false;
  if (inst.kind() == OpKind::Constant) return inst.attr<ConstantAttrs>().literal != nullptr;
  const bool moves = inst.info().category == OpCategory::Movement && inst.kind() != OpKind::Bitcast;
  return IsId(inst) || inst.kind() == OpKind::Iota ||
         ((inst.info().Is(kElementwise) || moves) && !inst.operands().empty());
}

Literal IdLiteral(int64_t id) {
  Literal literal = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::U32, {}));
  literal.SetBits(0, static_cast<uint64_t>(id));
  return literal;
}

}  // namespace

std::optional<DeviceValue> DeviceValue::Of(const Instruction& scalar) {
  if (!scalar.shape().IsScalar() || !IsIntegral(scalar.shape().element_type())) return std::nullopt;
  DeviceValue value;
  llvm::SmallDenseSet<const Instruction*, 16> entered, left;
  llvm::SmallVector<const Instruction*, 16> stack = {&scalar};
  while (!stack.empty()) {
    const Instruction* at = stack.back();
    if (entered.contains(at)) {  // its operands are done
      stack.pop_back();
      if (left.insert(at).second) value.order_.push_back(at);
      continue;
    }
    entered.insert(at);
    if (entered.size() > kMaxInstructions || !MayEvaluate(*at)) return std::nullopt;
    for (const Instruction* operand : at->operands())
      if (!entered.contains(operand)) stack.push_back(operand);
  }
  return value;
}

std::optional<int64_t> DeviceValue::At(int64_t replica, int64_t partition) const {
  NoContext context;
  llvm::DenseMap<const Instruction*, Literal> known;
  for (const Instruction* inst : order_) {
    if (IsId(*inst)) {
      known[inst] = IdLiteral(inst->kind() == OpKind::ReplicaId ? replica : partition);
      continue;
    }
    if (inst->kind() == OpKind::Constant) {
      known[inst] = inst->attr<ConstantAttrs>().literal->Unpack();
      continue;
    }
    llvm::SmallVector<Literal, 3> operands;
    for (const Instruction* operand : inst->operands()) operands.push_back(known.find(operand)->second);
    auto value = EvalRule(inst->kind())(context, *inst, operands);
    if (!value) return std::nullopt;
    known[inst] = std::move(*value);
  }
  const Literal& value = known[order_.back()];
  const int unused = 64 - Info(value.shape().element_type()).bits;
  const uint64_t shifted = value.Bits(0) << unused;
  return IsSigned(value.shape().element_type()) ? static_cast<int64_t>(shifted) >> unused
                                                : static_cast<int64_t>(shifted >> unused);
}

}  // namespace hlo
