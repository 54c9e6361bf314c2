#include "backends/kernel/visit.h"

namespace hlo::kernel {

void ForEachStmt(Region& region, llvm::function_ref<void(Stmt&)> f) {
  for (Stmt& stmt : region.stmts) {
    f(stmt);
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) ForEachStmt(*loop->body, f);
    if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      ForEachStmt(*reduce->body, f);
      ForEachStmt(*reduce->combiner, f);
    }
  }
}

void ForEachStmt(const Region& region, llvm::function_ref<void(const Stmt&)> f) {
  ForEachStmt(const_cast<Region&>(region), [&](Stmt& stmt) { f(stmt); });
}

ValueId ResultOf(const Stmt& stmt) {
  if (const auto* s = std::get_if<ConstantStmt>(&stmt)) return s->result;
  if (const auto* s = std::get_if<IndexStmt>(&stmt)) return s->result;
  if (const auto* s = std::get_if<OpStmt>(&stmt)) return s->result;
  if (const auto* s = std::get_if<LoadStmt>(&stmt)) return s->result;
  return -1;
}

void ForEachUse(const Stmt& stmt, llvm::function_ref<void(ValueId)> f) {
  const auto all = [&](const auto& values) {
    for (const ValueId value : values) f(value);
  };
  const auto of_address = [&](const Address& address) {
    for (const auto& term : address.values) f(term.id);
  };
  const auto optional = [&](ValueId value) {
    if (value >= 0) f(value);
  };
  if (const auto* x = std::get_if<IndexStmt>(&stmt)) of_address(x->address);
  if (const auto* x = std::get_if<OpStmt>(&stmt)) all(x->operands);
  if (const auto* x = std::get_if<LoadStmt>(&stmt)) {
    of_address(x->address);
    optional(x->mask);
    optional(x->otherwise);
  }
  if (const auto* x = std::get_if<StoreStmt>(&stmt)) {
    of_address(x->address);
    optional(x->mask);
    f(x->value);
  }
  if (const auto* x = std::get_if<LoopStmt>(&stmt)) all(x->body->yields);
  if (const auto* x = std::get_if<ReduceStmt>(&stmt)) {
    all(x->inits);
    all(x->body->yields);
    all(x->combiner->yields);
  }
}

void ForEachAddress(Region& region, llvm::function_ref<void(Address&)> f) {
  ForEachStmt(region, [&](Stmt& stmt) {
    if (auto* index = std::get_if<IndexStmt>(&stmt)) f(index->address);
    if (auto* load = std::get_if<LoadStmt>(&stmt)) f(load->address);
    if (auto* store = std::get_if<StoreStmt>(&stmt)) f(store->address);
  });
}

}  // namespace hlo::kernel
