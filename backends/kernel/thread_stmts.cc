#include "backends/kernel/thread_stmts.h"

#include <cstring>

#include "backends/kernel/interpret.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {

ValueId ThreadStmts::Constant(ElementType type, uint64_t bits, uint64_t high) {
  const ValueId value = kernel_.NewValue(type);
  out_->emplace_back(ConstantStmt{value, type, {bits, high}});
  return value;
}

ValueId ThreadStmts::Neutral(OpKind op, ElementType type) {
  const std::optional<std::array<uint8_t, 16>> bytes = NeutralElement(op, type);
  uint64_t bits[2] = {};
  std::memcpy(bits, bytes->data(), sizeof bits);
  return Constant(type, bits[0], bits[1]);
}

ValueId ThreadStmts::Index(const Address& address) {
  const ValueId value = kernel_.NewValue(ElementType::S64);
  out_->emplace_back(IndexStmt{value, address});
  return value;
}

ValueId ThreadStmts::Op(OpKind kind, ElementType type, llvm::ArrayRef<ValueId> operands, Attrs attrs) {
  const ValueId value = kernel_.NewValue(type);
  out_->emplace_back(OpStmt{value, kind, type, llvm::SmallVector<ValueId, 3>(operands), std::move(attrs)});
  return value;
}

ValueId ThreadStmts::Compare(Direction direction, ValueId x, ValueId y) {
  return Op(OpKind::Compare, ElementType::Pred, {x, y}, CompareAttrs{direction, {}});
}

ValueId ThreadStmts::Both(ValueId x, ValueId y) {
  if (x < 0 || y < 0) return std::max(x, y);
  return Op(OpKind::And, ElementType::Pred, {x, y});
}

ValueId ThreadStmts::Load(BufferId buffer, const Address& address, ValueId mask, ValueId otherwise) {
  const ValueId value = kernel_.NewValue(kernel_.buffers[static_cast<size_t>(buffer)].type);
  out_->emplace_back(LoadStmt{value, buffer, address, mask, otherwise});
  return value;
}

BufferId ThreadStmts::Shared(ElementType type, int64_t count) {
  kernel_.buffers.push_back({.type = type, .count = count, .written = true, .space = Space::Shared});
  return static_cast<BufferId>(kernel_.buffers.size()) - 1;
}

Stmt ThreadStmts::Loop(const Dimension& d, Region body) {
  return LoopStmt{d, std::make_unique<Region>(std::move(body))};
}

Stmt ThreadStmts::Bound(LoopId id, int64_t extent, Binding binding, Region body) {
  return Loop({.id = id, .extent = extent, .binding = binding}, std::move(body));
}

Address ThreadStmts::Counting(LoopId loop, int64_t factor) {
  Address address;
  address.AddLoop(loop, factor);
  return address;
}

void ThreadStmts::Substitute(Region& region, LoopId loop, const Address& by) {
  ForEachAddress(region, [&](Address& address) {
    const int64_t factor = address.FactorOf(loop);
    address.AddLoop(loop, -factor);
    address.Add(by, factor);
  });
}

void ThreadStmts::Mask(Region& region, ValueId exists) {
  std::vector<Stmt> stmts = std::exchange(region.stmts, {});
  const Into into(*this, region.stmts);
  for (Stmt& stmt : stmts) {
    if (auto* load = std::get_if<LoadStmt>(&stmt)) {
      if (load->otherwise < 0) load->otherwise = Constant(kernel_.TypeOf(load->result), 0);
      load->mask = Both(load->mask, exists);
    } else if (auto* store = std::get_if<StoreStmt>(&stmt)) {
      store->mask = Both(store->mask, exists);
    } else if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
      Mask(*loop->body, exists);
    } else if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      Mask(*reduce->body, exists);
    }
    region.stmts.push_back(std::move(stmt));
  }
}

}  // namespace hlo::kernel
