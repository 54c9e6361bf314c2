#include "backends/kernel/builder.h"

namespace hlo::kernel {

void KernelBuilder::Open(Region& region, llvm::ArrayRef<LoopId> loops, llvm::ArrayRef<ValueId> values) {
  regions_.push_back(&region);
  for (const LoopId loop : loops) loop_levels_[static_cast<size_t>(loop)] = level();
  for (const ValueId value : values) value_levels_[static_cast<size_t>(value)] = level();
}

int32_t KernelBuilder::LevelOf(const Address& address) const {
  int32_t level = 0;
  for (const auto& term : address.loops) level = std::max(level, LevelOfLoop(term.id));
  for (const auto& term : address.values) level = std::max(level, LevelOf(term.id));
  return level;
}

ValueId KernelBuilder::Constant(ElementType type, uint64_t bits, uint64_t high) {
  const ValueId result = NewValue(type, 0);
  Put(ConstantStmt{result, type, {bits, high}}, 0);
  return result;
}

ValueId KernelBuilder::Index(const Address& address) {
  const int32_t level = LevelOf(address);
  const ValueId result = NewValue(ElementType::S64, level);
  Put(IndexStmt{result, address}, level);
  return result;
}

ValueId KernelBuilder::Op(OpKind kind, ElementType type, llvm::ArrayRef<ValueId> operands, Attrs attrs,
                          bool bounded) {
  int32_t level = 0;
  for (const ValueId operand : operands) level = std::max(level, LevelOf(operand));
  const ValueId result = NewValue(type, level);
  Put(OpStmt{result, kind, type, {operands.begin(), operands.end()}, std::move(attrs), bounded}, level);
  return result;
}

ValueId KernelBuilder::Compare(Direction direction, ValueId x, ValueId y) {
  CompareAttrs attrs;
  attrs.direction = direction;
  return Op(OpKind::Compare, ElementType::Pred, {x, y}, attrs);
}

ValueId KernelBuilder::Load(BufferId buffer, const Address& address, ValueId mask, ValueId otherwise) {
  const int32_t level = std::max({LevelOf(address), LevelOf(mask), LevelOf(otherwise)});
  const ValueId result = NewValue(kernel_.buffers[static_cast<size_t>(buffer)].type, level);
  Put(LoadStmt{result, buffer, address, mask, otherwise}, level);
  return result;
}

void KernelBuilder::Store(BufferId buffer, const Address& address, ValueId value, ValueId mask) {
  Append(StoreStmt{buffer, address, value, mask});
}

ValueId KernelBuilder::And(ValueId x, ValueId y) {
  if (x < 0 || y < 0) return std::max(x, y);
  return Op(OpKind::And, ElementType::Pred, {x, y});
}

}  // namespace hlo::kernel
