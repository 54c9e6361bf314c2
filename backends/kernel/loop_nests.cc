// Loops that become one.
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {

/// Nested loops in the order of the kernel; what stands between them moves into the innermost.
Status MakePerfect(LoopStmt& top, llvm::ArrayRef<LoopId> loops, llvm::SmallVectorImpl<LoopStmt*>& nest) {
  nest.push_back(&top);
  std::vector<Stmt> moved;
  while (nest.size() < loops.size()) {
    LoopStmt* inner = nullptr;
    for (Stmt& stmt : nest.back()->body->stmts) {
      auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop != nullptr && (inner != nullptr || !llvm::is_contained(loops, loop->loop.id)))
        return ScheduleError("i{0} holds other loops too", nest.back()->loop.id);
      if (loop != nullptr)
        inner = loop;
      else if (ResultOf(stmt) < 0)
        return ScheduleError("i{0} holds statements that cannot move into an inner loop",
                             nest.back()->loop.id);
    }
    if (inner == nullptr) return ScheduleError("the loops to reorder are not nested in each other");
    nest.push_back(inner);
  }
  for (size_t i = 0; i + 1 < nest.size(); ++i) {
    auto& stmts = nest[i]->body->stmts;
    for (Stmt& stmt : stmts)
      if (!std::holds_alternative<LoopStmt>(stmt)) moved.push_back(std::move(stmt));
    if (stmts.size() == 1) continue;
    auto at = llvm::find_if(stmts, [](const Stmt& s) { return std::holds_alternative<LoopStmt>(s); });
    Stmt only = std::move(*at);
    stmts.clear();
    stmts.push_back(std::move(only));
    nest[i + 1] = &std::get<LoopStmt>(stmts[0]);
  }
  auto& innermost = nest.back()->body->stmts;
  innermost.insert(innermost.begin(), std::make_move_iterator(moved.begin()),
                   std::make_move_iterator(moved.end()));
  return {};
}

namespace {

/// Statements in front of the innermost body: the iteration of each loop of the nest, of that of all.
class Counters {
 public:
  Counters(Kernel& kernel, LoopId whole, llvm::ArrayRef<LoopStmt*> nest) : kernel_(kernel) {
    ValueId rest = kernel.NewValue(ElementType::S64);
    Address all;
    all.AddLoop(whole, 1);
    stmts_.emplace_back(IndexStmt{rest, all});
    values_.resize(nest.size());
    for (size_t i = nest.size(); i-- > 0;) {
      const ValueId extent = Constant(nest[i]->loop.extent);
      values_[i] = i == 0 ? rest : Op(OpKind::Remainder, rest, extent);
      if (i > 0) rest = Op(OpKind::Divide, rest, extent);
    }
  }
  [[nodiscard]] ValueId of(size_t loop) const { return values_[loop]; }
  std::vector<Stmt>& stmts() { return stmts_; }

 private:
  ValueId Constant(int64_t number) {
    const ValueId value = kernel_.NewValue(ElementType::S64);
    stmts_.emplace_back(ConstantStmt{value, ElementType::S64, {static_cast<uint64_t>(number), 0}});
    return value;
  }
  ValueId Op(OpKind kind, ValueId x, ValueId y) {
    const ValueId value = kernel_.NewValue(ElementType::S64);
    stmts_.emplace_back(OpStmt{value, kind, ElementType::S64, {x, y}, {}});
    return value;
  }

  Kernel& kernel_;
  std::vector<Stmt> stmts_;
  std::vector<ValueId> values_;
};

/// Whether the loops count through the address as their nest is gone through, one step of the innermost after
/// the other.
bool CountsThrough(const Address& address, llvm::ArrayRef<LoopStmt*> nest) {
  int64_t factor = address.FactorOf(nest.back()->loop.id);
  for (size_t i = nest.size() - 1; i-- > 0;) {
    factor *= nest[i + 1]->loop.extent;
    if (address.FactorOf(nest[i]->loop.id) != factor) return false;
  }
  return true;
}

}  // namespace

Status FuseNest(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, LoopId into) {
  int64_t extent = 1;
  for (const LoopStmt* loop : nest) {
    const Dimension& d = loop->loop;
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || HasEnd(d) || d.binding != Binding::None)
      return ScheduleError("i{0} is run in a way of its own", d.id);
    if (d.extent > INT64_MAX / extent) return ScheduleError("the loops have too many iterations together");
    extent *= d.extent;
  }
  bool halves = false;
  Region body = std::move(*nest.back()->body);
  ForEachStmt(body, [&](const Stmt& stmt) {
    const auto is_half = [&](const Dimension& d) {
      halves |= llvm::any_of(nest, [&](const LoopStmt* loop) { return loop->loop.id == d.outer; });
    };
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) is_half(loop->loop);
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) llvm::for_each(reduce->loops, is_half);
  });
  if (halves) return ScheduleError("a loop of these is half of a cut whose pieces are not all whole");
  kernel.loop_count = std::max(kernel.loop_count, into + 1);
  Counters counters(kernel, into, nest);
  ForEachAddress(body, [&](Address& address) {
    const bool through = CountsThrough(address, nest);
    for (size_t i = 0; i < nest.size(); ++i) {
      const LoopId id = nest[i]->loop.id;
      const int64_t factor = address.FactorOf(id);
      if (factor == 0) continue;
      address.AddLoop(id, -factor);
      if (!through)
        address.AddValue(counters.of(i), factor);
      else if (i + 1 == nest.size())
        address.AddLoop(into, factor);
    }
  });
  auto whole = std::make_unique<Region>();
  whole->stmts = std::move(counters.stmts());
  whole->stmts.insert(whole->stmts.end(), std::make_move_iterator(body.stmts.begin()),
                      std::make_move_iterator(body.stmts.end()));
  *nest[0] = LoopStmt{{.id = into, .extent = extent}, std::move(whole)};
  return {};
}

namespace {
bool HoldsALoopOnly(const LoopStmt& loop) {
  return loop.body->stmts.size() == 1 && std::holds_alternative<LoopStmt>(loop.body->stmts[0]);
}
}  // namespace

Status JoinLoops(Kernel& kernel, llvm::ArrayRef<LoopId> loops, LoopId into) {
  int64_t extent = 0;
  bool reads = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      reads |= kernel.buffers[static_cast<size_t>(load->buffer)].written;
  });
  if (reads) return ScheduleError("a loop may read what another writes");
  for (const LoopStmt* loop : OutermostLoops(kernel)) {
    const Dimension& d = loop->loop;
    if (!llvm::is_contained(loops, d.id)) return ScheduleError("i{0} is an outermost loop, too", d.id);
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || HasEnd(d) || d.binding != Binding::None)
      return ScheduleError("i{0} is run in a way of its own", d.id);
    if (!HoldsALoopOnly(*loop)) {
      extent = std::max<int64_t>(extent, 1);
      continue;
    }
    const Dimension& inner = std::get<LoopStmt>(loop->body->stmts[0]).loop;
    if (inner.width > 1 || inner.unroll > 1 || (inner.outer >= 0 && inner.outer != d.id))
      return ScheduleError("i{0} is run in a way of its own", inner.id);
    extent = std::max(extent, d.extent);
  }
  if (OutermostLoops(kernel).size() != loops.size()) return ScheduleError("expected all outermost loops");
  kernel.loop_count = std::max(kernel.loop_count, into + 1);
  auto body = std::make_unique<Region>();
  std::vector<Stmt> others;
  for (Stmt& stmt : kernel.body.stmts) {
    auto* loop = std::get_if<LoopStmt>(&stmt);
    if (loop == nullptr) {
      others.push_back(std::move(stmt));
      continue;
    }
    if (!HoldsALoopOnly(*loop)) {
      // All of it in the first iteration.
      loop->loop.outer = into, loop->loop.limit = loop->loop.extent;
      body->stmts.push_back(std::move(stmt));
      continue;
    }
    auto& inner = std::get<LoopStmt>(loop->body->stmts[0]);
    // Where another loop goes on there is nothing left of this one.
    if (inner.loop.outer < 0 && loop->loop.extent < extent)
      inner.loop.limit = loop->loop.extent * inner.loop.extent;
    if (inner.loop.limit > 0) inner.loop.outer = into;
    ForEachAddress(*loop->body, [&](Address& address) {
      const int64_t factor = address.FactorOf(loop->loop.id);
      address.AddLoop(loop->loop.id, -factor);
      address.AddLoop(into, factor);
    });
    body->stmts.push_back(std::move(loop->body->stmts[0]));
  }
  kernel.body.stmts = std::move(others);
  kernel.body.stmts.emplace_back(LoopStmt{{.id = into, .extent = extent}, std::move(body)});
  return {};
}

}  // namespace hlo::kernel
