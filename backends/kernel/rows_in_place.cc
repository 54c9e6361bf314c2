#include "backends/kernel/rows_in_place.h"

#include "backends/kernel/team.h"
#include "backends/kernel/visit.h"
#include "ir/op.h"
#include "llvm/ADT/DenseMap.h"

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
  for (const Access::Level& level : llvm::ArrayRef(store.around).take_front(shared)) {
    const Dimension& loop = level.dims[0];
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

/// Which loops around the store are divided among blocks and threads.
struct Division {
  bool known = true;
  bool team = false;  // shares the iterations of the last one
  size_t levels = 0;  // loops, outermost first, up to the last one that is divided
};

Division DivisionOf(const Schedule& schedule, const Access& store) {
  using Kind = ScheduleStep::Kind;
  // Of loops and what they became: twice their number from 1 on, one less for the outer half of a cut.
  llvm::DenseMap<LoopId, size_t> level;
  for (const Access::Level& around : store.around) {
    const size_t at = size_t{2} * (level.size() + 1);
    level[around.dims[0].id] = at;
  }
  Division division;
  size_t team = 0, last_divided = 0;
  for (const ScheduleStep& step : schedule) {
    switch (step.kind) {
      case Kind::Split:
        if (const size_t at = level.lookup(step.loops[0]); at != 0) {
          level[step.loops[1]] = at - 1;
          level[step.loops[2]] = at;
        }
        break;
      case Kind::Fuse: {
        size_t last = 0;
        bool all = true;
        for (const LoopId loop : llvm::ArrayRef(step.loops).drop_back()) {
          all &= level.contains(loop);
          last = std::max(last, level.lookup(loop));
        }
        if (all) level[step.loops.back()] = last;
        break;
      }
      case Kind::Vector:
      case Kind::Unroll: break;
      case Kind::Team: team = level.lookup(step.loops[0]); [[fallthrough]];
      case Kind::Bind:
        division.known &= level.contains(step.loops[0]);
        division.team |= step.kind == Kind::Team;
        last_divided = std::max(last_divided, level.lookup(step.loops[0]));
        break;
      default: return {.known = false};
    }
  }
  division.levels = (last_divided + 1) / 2;
  division.known &= division.levels > 0 && (!division.team || team == 2 * division.levels);
  return division;
}

/// Whether the load is done before the store of its row, and by other threads only in folds that are waited
/// for. What stands beside these in a row that a team shares all of its threads load, and one of them stores.
bool IsBefore(const Kernel& kernel, const Access& load, const Access& store, size_t shared,
              const Division& division) {
  if (shared == store.around.size())
    return load.around.size() == shared && load.at < store.at && (!division.team || shared > division.levels);
  if (division.team ? shared != division.levels : shared < division.levels) return false;
  if (load.around.size() == shared || load.around[shared].at >= store.around[shared].at) return false;
  const auto* reduce = std::get_if<ReduceStmt>(load.around[shared].stmt);
  return reduce != nullptr && MayBeShared(*reduce, kernel);
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
  const Division division = DivisionOf(schedule, store);
  if (!division.known || !WritesInOrder(store, to.count)) return false;
  return llvm::all_of(found.loads, [&](const Access& load) {
    const size_t shared = Shared(load, store);
    return KeepsToRow(load, store, shared) && IsBefore(kernel, load, store, shared, division);
  });
}

}  // namespace hlo::kernel
