#include "backends/kernel/atomic_updates.h"

#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

std::optional<AtomicOp> AtomicOpFor(OpKind kind, ElementType type) {
  if (!IsIntegral(type) || IsPred(type)) return {};
  for (const AtomicOp op :
       {AtomicOp::Add, AtomicOp::Maximum, AtomicOp::Minimum, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor})
    if (OperationOf(op) == kind && MayBeAtomic(op, type)) return op;
  return {};
}

/// %a = load b[x] if %m; %c = op %a, %u; store b[x], %c if %m
struct Update {
  size_t load, op, store;  // places in their region
  AtomicOp kind;
  ValueId value;
};

/// How often a value is read in the region, and below.
int64_t UsesOf(const Region& region, ValueId value) {
  int64_t uses = 0;
  ForEachStmt(region, [&](const Stmt& stmt) {
    ForEachUse(stmt, [&](ValueId used) { uses += used == value ? 1 : 0; });
    if (const Address* place = PlaceOf(stmt))
      for (const auto& term : place->values) uses += term.id == value ? 1 : 0;
  });
  return uses;
}

std::optional<Update> UpdateAt(const Region& region, size_t at) {
  const auto* load = std::get_if<LoadStmt>(&region.stmts[at]);
  if (load == nullptr) return {};
  Update update{.load = at, .op = 0, .store = 0, .kind = AtomicOp::Add, .value = -1};
  ValueId changed = -1;
  for (size_t i = at + 1; i < region.stmts.size(); ++i) {
    const auto* op = std::get_if<OpStmt>(&region.stmts[i]);
    const auto* store = std::get_if<StoreStmt>(&region.stmts[i]);
    if (op != nullptr && changed < 0 && llvm::is_contained(op->operands, load->result)) {
      const auto kind = op->operands.size() == 2 ? AtomicOpFor(op->kind, op->type) : std::nullopt;
      update.value = op->operands.size() == 2 ? op->operands[op->operands[0] == load->result ? 1 : 0] : -1;
      if (!kind || update.value == load->result) return {};
      changed = op->result, update.op = i, update.kind = *kind;
    } else if (store != nullptr && changed >= 0 && store->value == changed) {
      if (store->buffer != load->buffer || !(store->address == load->address) || store->mask != load->mask)
        return {};
      update.store = i;
      if (UsesOf(region, load->result) != 1 || UsesOf(region, changed) != 1) return {};
      return update;
    }
  }
  return {};
}

bool IsWritten(const Kernel& kernel, BufferId buffer) {
  return kernel.buffers[static_cast<size_t>(buffer)].written;
}

/// Whether each read of what is written in the region is an update.
bool AllAreUpdates(const Kernel& kernel, const Region& region) {
  for (size_t i = 0; i < region.stmts.size(); ++i) {
    const Stmt& stmt = region.stmts[i];
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      if (IsWritten(kernel, load->buffer) && !UpdateAt(region, i)) return false;
    if (const auto* loop = std::get_if<LoopStmt>(&stmt))
      if (!AllAreUpdates(kernel, *loop->body)) return false;
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt))
      if (!AllAreUpdates(kernel, *reduce->body)) return false;
  }
  return true;
}

/// Whether all that is stored is the store of an update.
bool AllStoresAreUpdates(const Kernel& kernel, const Region& region) {
  int64_t loads = 0, stores = 0;
  ForEachStmt(region, [&](const Stmt& stmt) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    loads += load != nullptr && IsWritten(kernel, load->buffer) ? 1 : 0;
    stores += std::holds_alternative<StoreStmt>(stmt) ? 1 : 0;
  });
  return loads == stores && loads > 0;
}

void Rewrite(const Kernel& kernel, Region& region) {
  std::vector<Stmt> stmts;
  std::vector<Update> updates;
  for (size_t i = 0; i < region.stmts.size(); ++i)
    if (const auto* load = std::get_if<LoadStmt>(&region.stmts[i]))
      if (IsWritten(kernel, load->buffer)) updates.push_back(*UpdateAt(region, i));
  for (size_t i = 0; i < region.stmts.size(); ++i) {
    Stmt& stmt = region.stmts[i];
    const auto has = [&](size_t Update::* place) {
      return llvm::find_if(updates, [&](const Update& update) { return update.*place == i; });
    };
    if (has(&Update::load) != updates.end() || has(&Update::op) != updates.end()) continue;
    if (const auto update = has(&Update::store); update != updates.end()) {
      const auto& store = std::get<StoreStmt>(stmt);
      stmts.emplace_back(AtomicStmt{.op = update->kind,
                                    .buffer = store.buffer,
                                    .address = store.address,
                                    .value = update->value,
                                    .mask = store.mask});
      continue;
    }
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
      loop->loop.ordered = false;
      Rewrite(kernel, *loop->body);
    }
    stmts.push_back(std::move(stmt));
  }
  region.stmts = std::move(stmts);
}

}  // namespace

std::optional<OpKind> AtomicCombiner(const Computation& combiner) {
  const Instruction& root = *combiner.root();
  if (combiner.parameters().size() != 2 || root.operand_count() != 2 || root.operand(0) == root.operand(1))
    return {};
  for (const Instruction* operand : root.operands())
    if (operand->kind() != OpKind::Parameter) return {};
  if (!AtomicOpFor(root.kind(), root.shape().element_type())) return {};
  return root.kind();
}

bool MayBeAtomic(const Kernel& kernel, const LoopStmt& loop) {
  return AllAreUpdates(kernel, *loop.body) && AllStoresAreUpdates(kernel, *loop.body);
}

Status MakeAtomic(Kernel& kernel, LoopStmt& loop) {
  if (!MayBeAtomic(kernel, loop))
    return ScheduleError("i{0} does more than operations on integers that may be atomic", loop.loop.id);
  loop.loop.ordered = false;
  Rewrite(kernel, *loop.body);
  return {};
}

}  // namespace hlo::kernel
