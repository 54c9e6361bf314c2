// Schedules of machines of blocks and threads, and loops that become one.
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/team.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

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
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || d.outer >= 0 || d.binding != Binding::None)
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
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || d.outer >= 0 || d.binding != Binding::None)
      return ScheduleError("i{0} is run in a way of its own", d.id);
    if (loop->body->stmts.size() != 1 || !std::holds_alternative<LoopStmt>(loop->body->stmts[0]))
      return ScheduleError("i{0} holds more than a loop", d.id);
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

namespace {

/// Shorter rows are gone through by one thread each.
constexpr int64_t kShortestRow = 8;

class ThreadChooser {
 public:
  ThreadChooser(const Kernel& kernel, const Target& target)
      : kernel_(kernel), target_(target), next_loop_(kernel.loop_count) {}

  Schedule Run() {
    const bool alone = !ReadsWhatItWrites();
    if (alone)
      if (const auto row = RowOf(kernel_.body, -1)) return ShareAll(*row);
    const auto loops = OutermostLoops(kernel_);
    const bool ordered = llvm::any_of(loops, [](const LoopStmt* loop) { return loop->loop.ordered; });
    if (loops.empty() || ordered || WritesBeside()) return {};
    if (loops.size() > 1) return alone ? Joined(loops) : Schedule();
    std::vector<const LoopStmt*> nest = NestOf(*loops[0]);
    // Nests that read what they write stay as they are.
    if (!alone) nest.resize(1);
    if (alone)
      if (const auto row = RowOf(*nest.back()->body, nest.back()->loop.id)) return ShareRows(nest, *row);
    const auto [loop, iterations] = OneLoop(nest);
    const auto [block, thread] = Cut(loop, iterations);
    AddBind(block, Binding::BlockX);
    if (thread >= 0) AddBind(thread, Binding::ThreadX);
    return std::move(schedule_);
  }

 private:
  LoopId NewLoop() { return next_loop_++; }

  [[nodiscard]] bool WritesBeside() const {
    return llvm::any_of(kernel_.body.stmts, [&](const Stmt& stmt) {
      return !std::holds_alternative<LoopStmt>(stmt) && ResultOf(stmt) < 0;
    });
  }
  [[nodiscard]] bool ReadsWhatItWrites() const {
    bool reads = false;
    ForEachStmt(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* load = std::get_if<LoadStmt>(&stmt))
        reads |= kernel_.buffers[static_cast<size_t>(load->buffer)].written;
    });
    return reads;
  }

  /// Loops that hold but one loop, and values that may as well be in that.
  static std::vector<const LoopStmt*> NestOf(const LoopStmt& outermost) {
    std::vector<const LoopStmt*> nest = {&outermost};
    for (;;) {
      const LoopStmt* inner = nullptr;
      bool plain = true;
      for (const Stmt& stmt : nest.back()->body->stmts) {
        const auto* loop = std::get_if<LoopStmt>(&stmt);
        plain &= loop != nullptr ? inner == nullptr && !loop->loop.ordered && loop->loop.outer < 0
                                 : ResultOf(stmt) >= 0 && !std::holds_alternative<ReduceStmt>(stmt);
        if (loop != nullptr) inner = loop;
      }
      if (!plain || inner == nullptr) return nest;
      nest.push_back(inner);
    }
  }

  /// A row that threads go through together.
  struct Row {
    int64_t elements = 0, width = 1;
  };

  /// Of a region that folds along memory, in any order, what no iteration of `around` brings closer.
  [[nodiscard]] std::optional<Row> RowOf(const Region& region, LoopId around) const {
    Row row;
    int64_t bytes = 0;
    for (const Stmt& stmt : region.stmts) {
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      if (const auto* loop = std::get_if<LoopStmt>(&stmt); loop != nullptr && loop->loop.ordered) return {};
      if (reduce == nullptr) continue;
      const Dimension& last = reduce->loops.back();
      if (!MayBeShared(*reduce, kernel_)) return {};
      bool along = false, across = false;
      ForEachStmt(*reduce->body, [&](const Stmt& inner) {
        const auto* load = std::get_if<LoadStmt>(&inner);
        if (load == nullptr) return;
        across |= around >= 0 && load->address.FactorOf(around) == 1;
        if (load->address.FactorOf(last.id) != 1) return;
        along = true;
        const ElementType type = kernel_.buffers[static_cast<size_t>(load->buffer)].type;
        bytes = std::max(bytes, int64_t{Info(type).host_bytes()});
      });
      if (!along || across) return {};
      row.elements = std::max(row.elements, last.extent);
      row.width = std::max<int64_t>(target_.blocks.access / std::max<int64_t>(bytes, 1), 1);
    }
    if (row.elements < kShortestRow) return {};
    while (row.width > 1 && row.elements % row.width != 0) row.width /= 2;
    return row;
  }

  /// Threads for a row: each takes several accesses of it, so that not all wait at once.
  [[nodiscard]] int64_t TeamOf(const Row& row) const {
    constexpr int64_t kAccesses = 4;
    const int64_t lanes = target_.blocks.lanes;
    const auto needed = static_cast<uint64_t>((row.elements + row.width - 1) / row.width);
    if (needed <= static_cast<uint64_t>(lanes * kAccesses))
      return std::min<int64_t>(static_cast<int64_t>(llvm::PowerOf2Ceil(needed)), lanes);
    const int64_t warps = (static_cast<int64_t>(needed) + lanes * kAccesses - 1) / (lanes * kAccesses);
    return std::min(warps * lanes, target_.blocks.most_threads);
  }

  void AddBind(LoopId id, Binding to) {
    ScheduleStep step{ScheduleStep::Kind::Bind, {id}};
    step.binding = to;
    schedule_.push_back(step);
  }
  void AddTeam(LoopId id, int64_t threads, int64_t width) {
    schedule_.push_back({ScheduleStep::Kind::Team, {id}, threads, width});
  }

  /// The whole kernel is one row.
  Schedule ShareAll(const Row& row) {
    const LoopId once = NewLoop();
    schedule_.push_back({ScheduleStep::Kind::Once, {once}});
    AddBind(once, Binding::BlockX);
    AddTeam(once, TeamOf(row), row.width);
    return std::move(schedule_);
  }

  Schedule ShareRows(llvm::ArrayRef<const LoopStmt*> nest, const Row& row) {
    std::vector<LoopId> loops;
    int64_t rows = 1;
    for (const LoopStmt* loop : nest) {
      loops.push_back(loop->loop.id);
      rows *= loop->loop.extent;
    }
    const LoopId loop = Fused(loops);
    const int64_t team = TeamOf(row);
    // Several teams make a block, as long as they are warps, or less, that need no others.
    const int64_t together = team > target_.blocks.lanes ? 1 : target_.blocks.threads / team;
    if (together <= 1 || rows <= together) {
      AddBind(loop, Binding::BlockX);
      AddTeam(loop, team, row.width);
      return std::move(schedule_);
    }
    const LoopId block = NewLoop(), thread = NewLoop();
    schedule_.push_back({ScheduleStep::Kind::Split, {loop, block, thread}, together});
    AddBind(block, Binding::BlockX);
    AddBind(thread, Binding::ThreadX);
    AddTeam(thread, team, row.width);
    return std::move(schedule_);
  }

  /// Consecutive elements of a thread: what it stores lies side by side, and moves in the widest accesses.
  [[nodiscard]] int64_t WidthOf(const LoopStmt& innermost, int64_t iterations) const {
    const LoopId id = innermost.loop.id;
    int64_t least = INT64_MAX, most = 0;
    bool side_by_side = true, plain = true;
    ForEachStmt(*innermost.body, [&](const Stmt& stmt) {
      plain &= !std::holds_alternative<LoopStmt>(stmt);
      const BufferId buffer = BufferOf(stmt);
      const Address* place = PlaceOf(stmt);
      if (buffer < 0 || place == nullptr) return;
      const int64_t factor = place->FactorOf(id);
      const auto* store = std::get_if<StoreStmt>(&stmt);
      if (store != nullptr) side_by_side &= factor == 1;
      if (factor != 1) return;
      const auto bytes = int64_t{Info(kernel_.buffers[static_cast<size_t>(buffer)].type).host_bytes()};
      least = std::min(least, bytes), most = std::max(most, bytes);
    });
    if (!plain || !side_by_side || most == 0 || most > target_.blocks.access / 2) return 1;
    // Narrow elements beside wide ones take several accesses of the latter.
    constexpr int64_t kAccesses = 4;
    int64_t width = std::min(target_.blocks.access / least, kAccesses * target_.blocks.access / most);
    if (iterations < target_.blocks.full) width = 1;
    while (width > 1 && innermost.loop.extent % width != 0) width /= 2;
    // Something has to be left to bind.
    return width == iterations ? 1 : width;
  }

  LoopId Fused(llvm::ArrayRef<LoopId> loops) {
    if (loops.size() == 1) return loops[0];
    const LoopId fused = NewLoop();
    ScheduleStep step{ScheduleStep::Kind::Fuse, {}};
    step.loops.assign(loops.begin(), loops.end());
    step.loops.push_back(fused);
    schedule_.push_back(step);
    return fused;
  }

  /// One loop that goes through a nest, with lanes in it where these suit, and how often it is run.
  std::pair<LoopId, int64_t> OneLoop(llvm::ArrayRef<const LoopStmt*> nest) {
    std::vector<LoopId> loops;
    int64_t iterations = 1;
    for (const LoopStmt* loop : nest) {
      loops.push_back(loop->loop.id);
      iterations *= loop->loop.extent;
    }
    if (const int64_t width = WidthOf(*nest.back(), iterations); width > 1) {
      iterations /= width;
      LoopId lanes = loops.back();
      if (width == nest.back()->loop.extent) {
        loops.pop_back();
      } else {
        const LoopId pieces = NewLoop();
        lanes = NewLoop();
        schedule_.push_back({ScheduleStep::Kind::Split, {loops.back(), pieces, lanes}, width});
        loops.back() = pieces;
      }
      schedule_.push_back({ScheduleStep::Kind::Vector, {lanes}, width});
    }
    return {Fused(loops), iterations};
  }

  /// The loops of blocks and of their threads; -1: there is nothing to cut, and the loop is that of blocks.
  std::pair<LoopId, LoopId> Cut(LoopId loop, int64_t iterations) {
    // Less than a block are two of them: what is cut has at least two pieces.
    int64_t threads = std::min(target_.blocks.threads, (iterations + 1) / 2);
    if (threads > target_.blocks.lanes) threads -= threads % target_.blocks.lanes;
    if (threads < 2) return {loop, -1};
    const LoopId block = NewLoop(), thread = NewLoop();
    schedule_.push_back({ScheduleStep::Kind::Split, {loop, block, thread}, threads});
    return {block, thread};
  }

  /// Several nests in the same blocks, of which there are as many as the longest needs.
  Schedule Joined(llvm::ArrayRef<const LoopStmt*> loops) {
    ScheduleStep join{ScheduleStep::Kind::Join, {}};
    std::vector<LoopId> threads;
    for (const LoopStmt* outermost : loops) {
      const auto [loop, iterations] = OneLoop(NestOf(*outermost));
      const auto [block, thread] = Cut(loop, iterations);
      if (thread < 0) return {};
      join.loops.push_back(block);
      threads.push_back(thread);
    }
    const LoopId all = NewLoop();
    join.loops.push_back(all);
    schedule_.push_back(join);
    AddBind(all, Binding::BlockX);
    for (const LoopId thread : threads) AddBind(thread, Binding::ThreadX);
    return std::move(schedule_);
  }

  const Kernel& kernel_;
  const Target& target_;
  LoopId next_loop_;
  Schedule schedule_;
};

}  // namespace

Schedule ChooseThreads(const Kernel& kernel, const Target& target) {
  return ThreadChooser(kernel, target).Run();
}

}  // namespace hlo::kernel
