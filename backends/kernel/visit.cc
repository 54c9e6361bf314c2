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

void ForEachMatrixPlace(Stmt& stmt, llvm::function_ref<void(BufferId, Address&)> f) {
  if (auto* x = std::get_if<LoadMatrixStmt>(&stmt)) f(x->into, x->at), f(x->from, x->address);
  if (auto* x = std::get_if<CopyStmt>(&stmt)) f(x->into, x->at), f(x->from, x->address);
  if (auto* x = std::get_if<MultiplyMatrixStmt>(&stmt))
    for (MultiplyMatrixStmt::Words* words : {&x->sums, &x->left, &x->right}) f(words->buffer, words->address);
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
  if (const auto* x = std::get_if<AtomicStmt>(&stmt)) {
    of_address(x->address);
    f(x->value);
    for (const ValueId value : {x->expected, x->mask, x->otherwise}) optional(value);
  }
  if (const auto* x = std::get_if<ShuffleStmt>(&stmt)) {
    f(x->value);
    of_address(x->by);
  }
  if (const auto* x = std::get_if<LaneReduceStmt>(&stmt)) f(x->value);
  ForEachMatrixPlace(const_cast<Stmt&>(stmt), [&](BufferId, Address& place) { of_address(place); });
  if (const auto* x = std::get_if<CopyStmt>(&stmt)) optional(x->mask);
  if (const auto* x = std::get_if<LoopStmt>(&stmt)) {
    optional(x->loop.when);
    optional(x->loop.before);
    all(x->body->yields);
  }
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
    if (auto* atomic = std::get_if<AtomicStmt>(&stmt)) f(atomic->address);
    if (auto* shuffle = std::get_if<ShuffleStmt>(&stmt)) f(shuffle->by);
    ForEachMatrixPlace(stmt, [&](BufferId, Address& place) { f(place); });
  });
}

BufferId BufferOf(const Stmt& stmt) {
  if (const auto* x = std::get_if<LoadStmt>(&stmt)) return x->buffer;
  if (const auto* x = std::get_if<StoreStmt>(&stmt)) return x->buffer;
  if (const auto* x = std::get_if<AtomicStmt>(&stmt)) return x->buffer;
  return -1;
}

Address* PlaceOf(Stmt& stmt) {
  if (auto* x = std::get_if<LoadStmt>(&stmt)) return &x->address;
  if (auto* x = std::get_if<StoreStmt>(&stmt)) return &x->address;
  if (auto* x = std::get_if<AtomicStmt>(&stmt)) return &x->address;
  return nullptr;
}
const Address* PlaceOf(const Stmt& stmt) { return PlaceOf(const_cast<Stmt&>(stmt)); }

namespace {

/// How many neighbours from its offset on the address takes in loops, if it takes nothing else; else 0.
int64_t NeighboursOf(const Address& address, llvm::ArrayRef<Dimension> loops) {
  if (!address.values.empty()) return 0;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 3> steps;  // factor, extent
  for (const auto& term : address.loops) {
    const auto* loop = llvm::find_if(loops, [&](const Dimension& d) { return d.id == term.id; });
    if (loop == loops.end() || loop->limit != 0 || loop->before >= 0) return 0;
    steps.emplace_back(term.factor, loop->extent);
  }
  llvm::sort(steps);
  int64_t covered = 1;
  for (const auto& [factor, extent] : steps) {
    if (factor != covered) return 0;
    covered *= extent;
  }
  return covered;
}

/// Adds offsets and lengths of what stores write without condition.
void FindStored(BufferId buffer, const Region& region, llvm::SmallVectorImpl<Dimension>& loops,
                llvm::SmallVectorImpl<std::pair<int64_t, int64_t>>& stored) {
  for (const Stmt& stmt : region.stmts) {
    if (const auto* store = std::get_if<StoreStmt>(&stmt); store != nullptr && store->buffer == buffer) {
      if (store->mask < 0) stored.emplace_back(store->address.offset, NeighboursOf(store->address, loops));
    } else if (const auto* loop = std::get_if<LoopStmt>(&stmt)) {
      loops.push_back(loop->loop);
      FindStored(buffer, *loop->body, loops, stored);
      loops.pop_back();
    }
  }
}

}  // namespace

bool Defines(const Kernel& kernel, BufferId buffer) {
  bool read = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    read |= BufferOf(stmt) == buffer && !std::holds_alternative<StoreStmt>(stmt);
  });
  if (read) return false;
  llvm::SmallVector<Dimension, 4> loops;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> stored;
  FindStored(buffer, kernel.body, loops, stored);
  llvm::sort(stored);
  int64_t end = 0;
  for (const auto& [offset, length] : stored)
    if (offset <= end) end = std::max(end, offset + length);
  return end >= kernel.buffers[static_cast<size_t>(buffer)].count;
}

}  // namespace hlo::kernel
