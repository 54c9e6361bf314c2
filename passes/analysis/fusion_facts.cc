#include "passes/analysis/fusion_facts.h"

namespace hlo {
namespace {

bool IsMovement(OpKind kind) {
  static constexpr OpKind kKinds[] = {OpKind::Bitcast,      OpKind::Broadcast,
                                      OpKind::Concatenate,  OpKind::Copy,
                                      OpKind::DynamicSlice, OpKind::DynamicUpdateSlice,
                                      OpKind::Iota,         OpKind::Pad,
                                      OpKind::Reshape,      OpKind::Reverse,
                                      OpKind::Slice,        OpKind::Transpose,
                                      OpKind::Gather,       OpKind::Parameter,
                                      OpKind::Constant,     OpKind::GetTupleElement,
                                      OpKind::Tuple,        OpKind::BitcastConvert};
  return llvm::is_contained(kKinds, kind);
}

bool IsIntegerWithConstant(const Instruction& inst) {
  return IsIntegral(inst.shape().element_type()) && inst.operand(1)->kind() == OpKind::Constant;
}

}  // namespace

bool IsLoopFusible(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.shape().HasDynamicDimension()) return false;
  switch (inst.kind()) {
    case OpKind::Copy: return false;  // may change layout
    case OpKind::Reduce: return inst.operand_count() == 2;
    case OpKind::Parameter:
    case OpKind::Constant:
    case OpKind::GetTupleElement:
    case OpKind::Tuple: return false;
    default: return inst.info().Is(kElementwise) || IsMovement(inst.kind());
  }
}

bool IsExpensive(const Instruction& inst) {
  const OpInfo& info = inst.info();
  if (inst.kind() == OpKind::Divide || inst.kind() == OpKind::Remainder) return !IsIntegerWithConstant(inst);
  if (inst.kind() == OpKind::Convert)
    return inst.shape().element_type() == ElementType::BF16 &&
           inst.operand(0)->shape().element_type() == ElementType::F32;
  if (info.category == OpCategory::Transcendental) return true;
  const bool complex = inst.shape().IsArray() && inst.operand_count() > 0 &&
                       inst.operand(0)->shape().IsArray() &&
                       IsComplex(inst.operand(0)->shape().element_type());
  if (complex && (inst.kind() == OpKind::Abs || inst.kind() == OpKind::Sign)) return true;
  return !info.Is(kElementwise) && !IsMovement(inst.kind());
}

bool ReusesOperand(const Instruction& inst, int64_t i) {
  const Shape& operand = inst.operand(i)->shape();
  switch (inst.kind()) {
    case OpKind::Broadcast: return operand.ElementCount() < inst.shape().ElementCount();
    case OpKind::Dot:
    case OpKind::Convolution:
    case OpKind::ReduceWindow:
    case OpKind::SelectAndScatter:
    case OpKind::Gather: return true;
    case OpKind::DynamicSlice:
    case OpKind::DynamicUpdateSlice:
    case OpKind::Pad: return operand.rank() == 0;  // indices and the padding value
    default: return inst.info().Is(kElementwise) && operand.ElementCount() < inst.shape().ElementCount();
  }
}

}  // namespace hlo
