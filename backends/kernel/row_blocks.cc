#include "backends/kernel/row_blocks.h"

#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
namespace {

class RowFolder {
 public:
  RowFolder(Kernel& kernel, const Target& target) : kernel_(kernel), target_(target) {}

  int64_t Run() {
    Visit(kernel_.body, 1);
    return changed_;
  }

 private:
  struct Plan {
    int64_t rows = 0;     // of a block
    int64_t columns = 0;  // of a block
  };

  void Visit(Region& region, int64_t around) {
    for (Stmt& stmt : region.stmts) {
      auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop == nullptr || loop->loop.ordered || loop->loop.binding != Binding::None) continue;
      const Plan plan = PlanOf(*loop);
      if (plan.rows == 0)
        Visit(*loop->body, around * loop->loop.extent);
      else if (around * (loop->loop.extent / plan.columns) >= target_.threads.pieces)
        stmt = Stmt(Blocks(std::move(*loop), plan));
    }
  }

  /// Without rows where the loop stays as it is: it must hold values, reductions of as many rows each, then
  /// values and stores.
  [[nodiscard]] Plan PlanOf(const LoopStmt& loop) const {
    llvm::DenseSet<ValueId> before, folded;
    int64_t rows = 0, bytes = 0, read = 0;
    for (const Stmt& stmt : loop.body->stmts) {
      if (std::holds_alternative<LoopStmt>(stmt)) return {};
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      bool late = false, early = false;
      const auto use = [&](ValueId value) {
        late |= folded.contains(value);
        early |= before.contains(value);
      };
      ForEachUse(stmt, use);
      if (reduce != nullptr) {
        ForEachStmt(std::as_const(*reduce->body), [&](const Stmt& inner) { ForEachUse(inner, use); });
        // Values of the loop would have to be computed for each block of rows.
        if (late || early || !Suits(*reduce, loop.loop, rows, read)) return {};
        bytes += Info(kernel_.TypeOf(reduce->results[0])).host_bytes();
        folded.insert(reduce->results[0]);
      } else if (const ValueId value = ResultOf(stmt); value >= 0) {
        before.insert(value);
      }
    }
    if (rows == 0 || loop.loop.extent * bytes < target_.caches.least_row) return {};
    int64_t blocks = (loop.loop.extent * bytes + target_.caches.row_sums - 1) / target_.caches.row_sums;
    const int64_t most = 4 * blocks;
    while (blocks <= most && loop.loop.extent % blocks != 0) ++blocks;
    if (blocks > most || read < (blocks > 1 ? target_.caches.cut_rows : target_.caches.rows)) return {};
    int64_t at_once = target_.code.most_rows;
    while (at_once >= target_.code.fewest_rows && rows % at_once != 0) --at_once;
    if (at_once < target_.code.fewest_rows || rows / at_once < 2) return {};
    return {at_once, loop.loop.extent / blocks};
  }

  [[nodiscard]] bool Suits(const ReduceStmt& reduce, const Dimension& columns, int64_t& rows,
                           int64_t& read) const {
    const auto op = ReductionOp(reduce);
    const ElementType type = kernel_.TypeOf(reduce.inits[0]);
    const bool added = op == OpKind::Add && (type == ElementType::F32 || type == ElementType::F64);
    if (!added || reduce.loops.size() != 1 ||
        static_cast<int64_t>(reduce.body->stmts.size()) > target_.code.row_stmts)
      return false;
    const Dimension& d = reduce.loops[0];
    if (HasEnd(d) || (rows != 0 && rows != d.extent)) return false;
    rows = d.extent;
    bool along = true;
    for (const Stmt& stmt : reduce.body->stmts) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      if (load == nullptr && !std::holds_alternative<OpStmt>(stmt)) return false;
      if (load == nullptr) {
        along &= !target_.IsExpensive(std::get<OpStmt>(stmt).kind);
        continue;
      }
      const Buffer& buffer = kernel_.buffers[static_cast<size_t>(load->buffer)];
      const int64_t column = load->address.FactorOf(columns.id), row = load->address.FactorOf(d.id);
      along &= load->mask < 0 && load->address.values.empty() && !buffer.written && column >= 0 &&
               column <= 1 && (column == 0 || row == 0 || row >= columns.extent) && (column == 1 || row <= 1);
      if (column == 1 && row != 0) read = std::max(read, buffer.count * Info(buffer.type).host_bytes());
    }
    return along;
  }

  Dimension NewLoop(int64_t extent) { return {kernel_.loop_count++, extent}; }

  /// A loop over blocks of columns, or its body where there is one: sums set to what they begin with, added
  /// to block by block of rows, and used.
  LoopStmt Blocks(LoopStmt loop, const Plan& plan) {
    const Dimension all = NewLoop(loop.loop.extent / plan.columns);
    auto inside = std::make_unique<Region>();
    LoopStmt init{NewLoop(plan.columns), std::make_unique<Region>()};
    LoopStmt add{NewLoop(plan.columns), std::make_unique<Region>()};
    LoopStmt use{NewLoop(plan.columns), std::make_unique<Region>()};
    Dimension steps = NewLoop(0);
    steps.ordered = true;
    for (Stmt& stmt : loop.body->stmts) {
      auto* reduce = std::get_if<ReduceStmt>(&stmt);
      if (reduce == nullptr) {
        use.body->stmts.push_back(std::move(stmt));
        continue;
      }
      const ElementType type = kernel_.TypeOf(reduce->results[0]);
      const auto sums = static_cast<BufferId>(kernel_.buffers.size());
      kernel_.buffers.push_back({type, plan.columns, /*written=*/true, Space::Local});
      const auto at = [&](const LoopStmt& l) {
        Address address;
        address.AddLoop(l.loop.id, 1);
        return address;
      };
      init.body->stmts.emplace_back(StoreStmt{sums, at(init), reduce->inits[0]});
      use.body->stmts.emplace_back(LoadStmt{reduce->results[0], sums, at(use)});
      Dimension& rows = reduce->loops[0];
      reduce->parts = rows.extent / plan.rows;
      steps.extent = rows.extent / plan.rows;
      rows.extent = plan.rows;
      ForEachAddress(*reduce->body, [&](Address& address) {
        address.AddLoop(steps.id, address.FactorOf(rows.id) * plan.rows);
        Move(address, loop.loop.id, all, add.loop);
      });
      reduce->inits[0] = kernel_.NewValue(type);
      reduce->results[0] = kernel_.NewValue(type);
      const ValueId sum = reduce->results[0];
      add.body->stmts.emplace_back(LoadStmt{reduce->inits[0], sums, at(add)});
      add.body->stmts.push_back(std::move(stmt));
      add.body->stmts.emplace_back(StoreStmt{sums, at(add), sum});
    }
    ForEachAddress(*use.body, [&](Address& address) { Move(address, loop.loop.id, all, use.loop); });
    auto block = std::make_unique<Region>();
    block->stmts.emplace_back(std::move(add));
    inside->stmts.emplace_back(std::move(init));
    inside->stmts.emplace_back(LoopStmt{steps, std::move(block)});
    inside->stmts.emplace_back(std::move(use));
    ++changed_;
    return {all, std::move(inside)};
  }

  /// column = block * columns + i
  static void Move(Address& address, LoopId column, const Dimension& block, const Dimension& i) {
    const int64_t factor = address.FactorOf(column);
    address.AddLoop(column, -factor);
    address.AddLoop(block.id, factor * i.extent);
    address.AddLoop(i.id, factor);
  }

  Kernel& kernel_;
  const Target& target_;
  int64_t changed_ = 0;
};

}  // namespace

int64_t FoldByRows(Kernel& kernel, const Target& target) { return RowFolder(kernel, target).Run(); }

bool FoldsRowBlock(const ReduceStmt& reduce, const Region& around) {
  return llvm::any_of(around.stmts, [&](const Stmt& stmt) {
    return std::holds_alternative<LoadStmt>(stmt) && llvm::is_contained(reduce.inits, ResultOf(stmt));
  });
}

}  // namespace hlo::kernel
