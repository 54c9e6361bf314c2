#include "passes/analysis/device_values.h"

#include "passes/analysis/scalar_eval.h"

namespace hlo {
namespace {

constexpr int64_t kMaxElements = 1 << 16;

bool IsId(const Instruction& inst) {
  return inst.kind() == OpKind::ReplicaId || inst.kind() == OpKind::PartitionId;
}

bool MayEvaluate(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.shape().HasDynamicDimension() || !inst.callees().empty() ||
      inst.shape().ElementCount() > kMaxElements)
    return false;
  if (inst.kind() == OpKind::Constant) return inst.attr<ConstantAttrs>().literal != nullptr;
  const bool moves = inst.info().category == OpCategory::Movement && inst.kind() != OpKind::Bitcast;
  return inst.kind() == OpKind::Iota || ((inst.info().Is(kElementwise) || moves) && !inst.operands().empty());
}

Literal IdLiteral(int64_t id) {
  Literal literal = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::U32, {}));
  literal.SetBits(0, static_cast<uint64_t>(id));
  return literal;
}

}  // namespace

std::optional<DeviceValue> DeviceValue::Of(const Instruction& scalar) {
  if (!scalar.shape().IsScalar() || !IsIntegral(scalar.shape().element_type())) return std::nullopt;
  auto order = Expression(scalar, IsId, MayEvaluate);
  if (!order) return std::nullopt;
  DeviceValue value;
  value.order_ = std::move(*order);
  return value;
}

std::optional<int64_t> DeviceValue::At(int64_t replica, int64_t partition) const {
  KnownScalars known;
  for (const Instruction* inst : order_)
    if (IsId(*inst)) known[inst] = IdLiteral(inst->kind() == OpKind::ReplicaId ? replica : partition);
  const std::optional<Literal> value = EvaluateScalar(order_, std::move(known));
  if (!value) return std::nullopt;
  const int unused = 64 - Info(value->shape().element_type()).bits;
  const uint64_t shifted = value->Bits(0) << unused;
  return IsSigned(value->shape().element_type()) ? static_cast<int64_t>(shifted) >> unused
                                                 : static_cast<int64_t>(shifted >> unused);
}

}  // namespace hlo
