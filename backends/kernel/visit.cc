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

namespace {

/// The address takes each value below `count`, once for each round of the loops that it does not name.
bool IsDense(const Address& address, llvm::ArrayRef<Dimension> loops, int64_t count) {
  if (address.offset != 0 || !address.values.empty()) return false;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 3> steps;  // factor, extent
  for (const auto& term : address.loops) {
    const auto* loop = llvm::find_if(loops, [&](const Dimension& d) { return d.id == term.id; });
    if (loop == loops.end() || loop->limit != 0) return false;
    steps.emplace_back(term.factor, loop->extent);
  }
  llvm::sort(steps);
  int64_t covered = 1;
  for (const auto& [factor, extent] : steps) {
    if (factor != covered) return false;
    covered *= extent;
  }
  return covered == count;
}

bool HasDenseStore(const Kernel& kernel, BufferId buffer, const Region& region,
                   llvm::SmallVectorImpl<Dimension>& loops) {
  for (const Stmt& stmt : region.stmts) {
    if (const auto* store = std::get_if<StoreStmt>(&stmt)) {
      const int64_t count = kernel.buffers[static_cast<size_t>(buffer)].count;
      if (store->buffer == buffer && store->mask < 0 && IsDense(store->address, loops, count)) return true;
    } else if (const auto* loop = std::get_if<LoopStmt>(&stmt)) {
      loops.push_back(loop->loop);
      if (HasDenseStore(kernel, buffer, *loop->body, loops)) return true;
      loops.pop_back();
    }
  }
  return false;
}

}  // namespace

bool Defines(const Kernel& kernel, BufferId buffer) {
  bool read = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    read |= load != nullptr && load->buffer == buffer;
  });
  llvm::SmallVector<Dimension, 4> loops;
  return !read && HasDenseStore(kernel, buffer, kernel.body, loops);
}

}  // namespace hlo::kernel
