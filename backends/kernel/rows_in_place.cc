#include "backends/kernel/rows_in_place.h"

#include "backends/kernel/team.h"
#include "backends/kernel/visit.h"
#include "ir/op.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {
namespace {

/// A statement that touches one of the two arrays, and where it stands.
struct Access {
  const Stmt* stmt = nullptr;
  struct Level {
    const Stmt* stmt;                      // a loop or reduce around it
    llvm::SmallVector<Dimension, 2> dims;  // of that
    size_t at;                             // its place in its region
  };
  llvm::SmallVector<Level, 4> around;  // outermost first
  size_t at = 0;                       // its place in the innermost region
};

/// The accesses of a kernel to two arrays. False if some are of no plain kind.
class Accesses {
 public:
  Accesses(const Kernel& kernel, BufferId in, BufferId out) : in_(in), out_(out) { Visit(kernel.body); }
  bool plain = true;
  llvm::SmallVector<Access, 4> loads, stores;

 private:
  void Visit(const Region& region) {
    for (size_t i = 0; i < region.stmts.size(); ++i) {
      const Stmt& stmt = region.stmts[i];
      if (const auto* loop = std::get_if<LoopStmt>(&stmt)) {
        Enter({&stmt, {loop->loop}, i}, *loop->body);
      } else if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
        Enter({&stmt, reduce->loops, i}, *reduce->body);
        Enter({&stmt, reduce->loops, i}, *reduce->combiner);
      } else if (const BufferId buffer = BufferOf(stmt); buffer == in_ || buffer == out_) {
        Note(stmt, buffer, i);
      } else {
        plain &= !std::holds_alternative<CopyStmt>(stmt) && !std::holds_alternative<LoadMatrixStmt>(stmt);
      }
    }
  }
  void Enter(Access::Level level, const Region& body) {
    around_.push_back(std::move(level));
    Visit(body);
    around_.pop_back();
  }
  void Note(const Stmt& stmt, BufferId buffer, size_t at) {
    const bool load = std::holds_alternative<LoadStmt>(stmt), store = std::holds_alternative<StoreStmt>(stmt);
    plain &= buffer == in_ ? load : store;
    (load ? loads : stores).push_back({&stmt, around_, at});
  }

  const BufferId in_, out_;
  llvm::SmallVector<Access::Level, 4> around_;
};

/// Each element of the array is stored once, by loops that go through it in order; their number of elements
/// is then that of the array.
bool WritesInOrder(const Access& store, int64_t count) {
  const auto& stmt = std::get<StoreStmt>(*store.stmt);
  if (stmt.mask >= 0 || stmt.address.offset != 0 || !stmt.address.values.empty()) return false;
  int64_t inner = 1;
  for (const Access::Level& level : llvm::reverse(store.around)) {
    if (!std::holds_alternative<LoopStmt>(*level.stmt)) return false;
    const Dimension& loop = level.dims[0];
    if (loop.ordered || loop.when >= 0 || HasEnd(loop)) return false;
    if (loop.extent > 1 && stmt.address.FactorOf(loop.id) != inner) return false;
    inner *= loop.extent;
  }
  return inner == count;
}

/// Loops that both have around them.
size_t Shared(const Access& a, const Access& b) {
  size_t n = 0;
  while (n < std::min(a.around.size(), b.around.size()) && a.around[n].stmt == b.around[n].stmt) ++n;
  return n;
}

/// Whether the load reads, in each iteration of the first `shared` loops, only what the store writes in it.
bool KeepsToRow(const Access& load, const Access& store, size_t shared) {
  const Address& from = std::get<LoadStmt>(*load.stmt).address;
  const Address& to = std::get<StoreStmt>(*store.stmt).address;
  if (!from.values.empty()) return false;
  int64_t row = 1;
  for (const Access::Level& level : llvm::drop_begin(store.around, shared)) row *= level.dims[0].extent;
  llvm::DenseSet<LoopId> rows;
  for (const Access::Level& level : llvm::ArrayRef(store.around).take_front(shared)) {
    const Dimension& loop = level.dims[0];
    rows.insert(loop.id);
    if (loop.extent > 1 && from.FactorOf(loop.id) != to.FactorOf(loop.id)) return false;
  }
  int64_t last = from.offset;
  for (const Access::Level& level : llvm::drop_begin(load.around, shared))
    for (const Dimension& loop : level.dims) {
      if (from.FactorOf(loop.id) < 0 || loop.extent < 1) return false;
      last += from.FactorOf(loop.id) * (loop.extent - 1);
    }
  return from.offset >= 0 && last < row;
}

/// Whether the load is done before the store of its row, and by others only in folds that are waited for.
bool IsBefore(const Kernel& kernel, const Access& load, const Access& store, size_t shared) {
  if (shared == store.around.size()) return load.around.size() == shared && load.at < store.at;
  if (load.around.size() == shared || load.around[shared].at >= store.around[shared].at) return false;
  const auto* reduce = std::get_if<ReduceStmt>(load.around[shared].stmt);
  return reduce != nullptr && MayBeShared(*reduce, kernel);
}

/// Whether what the schedule gives to blocks and threads are iterations of these loops, outermost first, and
/// teams share those of the innermost: in what lies further in they wait for no folds.
bool DividesOnly(const Schedule& schedule, llvm::ArrayRef<LoopId> loops) {
  using Kind = ScheduleStep::Kind;
  if (loops.empty()) return false;
  llvm::DenseSet<LoopId> rows(loops.begin(), loops.end());
  LoopId innermost = loops.back();
  bool bound = false;
  for (const ScheduleStep& step : schedule) {
    const auto is_row = [&](LoopId loop) { return rows.contains(loop); };
    switch (step.kind) {
      case Kind::Split:
        if (is_row(step.loops[0])) rows.insert(step.loops.begin() + 1, step.loops.end());
        if (step.loops[0] == innermost) innermost = step.loops.back();
        break;
      case Kind::Fuse: {
        const auto of = llvm::ArrayRef(step.loops).drop_back();
        if (llvm::all_of(of, is_row)) rows.insert(step.loops.back());
        if (llvm::is_contained(of, innermost)) innermost = step.loops.back();
        break;
      }
      case Kind::Vector:
      case Kind::Unroll: break;
      case Kind::Team:
        if (step.loops[0] != innermost) return false;
        [[fallthrough]];
      case Kind::Bind:
        bound = true;
        if (!is_row(step.loops[0])) return false;
        break;
      default: return false;
    }
  }
  return bound;
}

}  // namespace

bool MayWriteOver(const Kernel& kernel, const Schedule& schedule, BufferId in, BufferId out) {
  const Buffer &from = kernel.buffers[static_cast<size_t>(in)],
               &to = kernel.buffers[static_cast<size_t>(out)];
  if (from.count != to.count || from.written || Info(from.type).host_bytes() != Info(to.type).host_bytes())
    return false;
  const Accesses found(kernel, in, out);
  if (!found.plain || found.stores.size() != 1 || found.loads.empty()) return false;
  const Access& store = found.stores[0];
  if (!WritesInOrder(store, to.count)) return false;
  size_t rows = store.around.size();
  for (const Access& load : found.loads) {
    const size_t shared = Shared(load, store);
    if (!KeepsToRow(load, store, shared) || !IsBefore(kernel, load, store, shared)) return false;
    rows = std::min(rows, shared);
  }
  llvm::SmallVector<LoopId, 4> loops;
  for (const Access::Level& level : llvm::ArrayRef(store.around).take_front(rows))
    loops.push_back(level.dims[0].id);
  return DividesOnly(schedule, loops);
}

}  // namespace hlo::kernel
