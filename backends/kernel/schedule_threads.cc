// Schedules of machines of blocks and threads.
#include "backends/kernel/atomic_updates.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/team.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/tile_steps.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Shorter rows are gone through by one thread each.
constexpr int64_t kShortestRow = 8;
/// A fold in one order of at most so many elements is made by each thread of a row.
constexpr int64_t kLongestOfAll = 64;

int64_t IterationsOf(const ReduceStmt& reduce) {
  int64_t iterations = 1;
  for (const Dimension& d : reduce.loops) iterations *= d.extent;
  return iterations;
}

class ThreadChooser {
 public:
  ThreadChooser(const Kernel& kernel, const Target& target)
      : kernel_(kernel), target_(target), next_loop_(kernel.loop_count) {}

  Schedule Run() {
    const bool alone = !ReadsWhatItWrites();
    if (alone)
      if (const auto row = RowOf(kernel_.body, -1)) return ShareAll(*row);
    const auto loops = OutermostLoops(kernel_);
    if (loops.empty() || WritesBeside() || (!alone && loops.size() > 1)) return {};
    if (llvm::any_of(loops, [](const LoopStmt* loop) { return loop->loop.ordered; })) {
      if (loops.size() > 1 || !MayBeAtomic(kernel_, *loops[0])) return {};
      schedule_.push_back({ScheduleStep::Kind::Atomic, {loops[0]->loop.id}});
      atomic_ = true;
    }
    if (alone && !atomic_)
      if (Schedule parted = Parted(loops); !parted.empty()) return parted;
    if (loops.size() > 1) return Joined(loops);
    const std::vector<const LoopStmt*> nest = NestOf(*loops[0]);
    if (alone && Multiply(nest)) return std::move(schedule_);
    if (alone)
      if (const auto row = RowOf(*nest.back()->body, nest.back()->loop.id)) return ShareRows(nest, *row);
    if (alone && Tile(nest)) return std::move(schedule_);
    if (alone)
      if (const auto columns = ColumnsOf(nest)) return ShareColumns(nest, *columns);
    for (const ScheduleStep& step : CutOrderedFolds(*nest.back()->body, next_loop_))
      schedule_.push_back(step);
    const auto [loop, iterations] = OneLoop(nest, /*wide=*/alone);
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
  [[nodiscard]] bool ReadsWritten(const Stmt& stmt) const {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    return load != nullptr && kernel_.buffers[static_cast<size_t>(load->buffer)].written;
  }
  [[nodiscard]] bool ReadsWhatItWrites() const {
    bool reads = false;
    ForEachStmt(kernel_.body, [&](const Stmt& stmt) { reads |= ReadsWritten(stmt); });
    return reads;
  }

  /// Loops that hold but one loop, and values that may as well be in that.
  [[nodiscard]] std::vector<const LoopStmt*> NestOf(const LoopStmt& outermost) const {
    std::vector<const LoopStmt*> nest = {&outermost};
    for (;;) {
      const LoopStmt* inner = nullptr;
      bool plain = true;
      for (const Stmt& stmt : nest.back()->body->stmts) {
        const auto* loop = std::get_if<LoopStmt>(&stmt);
        plain &=
            loop != nullptr
                ? inner == nullptr && (!loop->loop.ordered || atomic_) && loop->loop.outer < 0
                : ResultOf(stmt) >= 0 && !std::holds_alternative<ReduceStmt>(stmt) && !ReadsWritten(stmt);
        if (loop != nullptr) inner = loop;
      }
      if (!plain || inner == nullptr) return nest;
      nest.push_back(inner);
    }
  }

  /// A row that threads go through together.
  struct Row {
    int64_t elements = 0, width = 1;
    int64_t loops = 0;  // that go through it
    int64_t bytes = 0;  // of its widest elements
  };

  /// Of a region that folds along memory, in any order, what no iteration of `around` brings closer.
  [[nodiscard]] std::optional<Row> RowOf(const Region& region, LoopId around) const {
    Row row;
    int64_t bytes = 0;
    for (const Stmt& stmt : region.stmts) {
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      if (const auto* loop = std::get_if<LoopStmt>(&stmt)) {
        if (HoldsOrdered(*loop)) return {};
        ++row.loops;
        bytes = std::max(bytes, WidestAlong(*loop));
      }
      if (reduce == nullptr) continue;
      ++row.loops;
      const Dimension& last = reduce->loops.back();
      if (!MayBeShared(*reduce, kernel_)) {
        // All threads fold what is short.
        if (IterationsOf(*reduce) > kLongestOfAll) return {};
        --row.loops;
        continue;
      }
      bool along = false, across = false;
      ForEachStmt(*reduce->body, [&](const Stmt& inner) {
        const auto* load = std::get_if<LoadStmt>(&inner);
        if (load == nullptr) return;
        across |= around >= 0 && load->address.FactorOf(around) == 1;
        if (load->address.FactorOf(last.id) != 1) return;
        along = true;
        bytes = std::max(bytes, BytesOf(load->buffer));
      });
      // Where there is but one row any sharing beats one thread.
      if ((!along && around >= 0) || across) return {};
      row.elements = std::max(row.elements, last.extent);
    }
    if (row.elements < kShortestRow) return {};
    row.bytes = std::max<int64_t>(bytes, 1);
    row.width = std::max<int64_t>(target_.blocks.access / row.bytes, 1);
    while (row.width > 1 && row.elements % row.width != 0) row.width /= 2;
    return row;
  }

  /// Whether its iterations, or those of a loop in it, come one after the other.
  static bool HoldsOrdered(const LoopStmt& loop) {
    bool ordered = loop.loop.ordered;
    ForEachStmt(*loop.body, [&](const Stmt& stmt) {
      const auto* inner = std::get_if<LoopStmt>(&stmt);
      ordered |= inner != nullptr && inner->loop.ordered;
    });
    return ordered;
  }

  /// Bytes of the widest elements that a loop, or one in it, goes along.
  [[nodiscard]] int64_t WidestAlong(const LoopStmt& loop) const {
    int64_t bytes = 0;
    ForEachStmt(*loop.body, [&](const Stmt& stmt) {
      const Address* place = PlaceOf(stmt);
      if (place == nullptr || BufferOf(stmt) < 0) return;
      if (llvm::any_of(place->loops, [](const auto& term) { return term.factor == 1; }))
        bytes = std::max(bytes, BytesOf(BufferOf(stmt)));
    });
    return bytes;
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
  void AddTeam(LoopId id, int64_t threads, const Row& row) {
    ScheduleStep step{ScheduleStep::Kind::Team, {id}, threads, row.width};
    step.keep = KeepsRow(row, threads);
    schedule_.push_back(step);
  }
  /// Whether what a thread reads of a row stays in its registers for those who read it again.
  static bool KeepsRow(const Row& row, int64_t threads) {
    constexpr int64_t kAccesses = 16, kRegisters = 64, kBytes = 4;
    const int64_t rounds = (row.elements + threads * row.width - 1) / (threads * row.width);
    return row.loops > 1 && rounds <= kAccesses &&
           rounds * row.width * std::max(row.bytes, kBytes) <= kRegisters * kBytes;
  }

  /// The whole kernel is one row.
  Schedule ShareAll(const Row& row) {
    const LoopId once = NewLoop();
    schedule_.push_back({ScheduleStep::Kind::Once, {once}});
    AddBind(once, Binding::BlockX);
    AddTeam(once, TeamOf(row), row);
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
      AddTeam(loop, team, row);
      return std::move(schedule_);
    }
    const LoopId block = NewLoop(), thread = NewLoop();
    schedule_.push_back({ScheduleStep::Kind::Split, {loop, block, thread}, together});
    AddBind(block, Binding::BlockX);
    AddBind(thread, Binding::ThreadX);
    AddTeam(thread, team, row);
    return std::move(schedule_);
  }

  /// Rows that lie side by side, of which a block takes some, each with so many threads.
  struct Columns {
    int64_t together = 0, threads = 0;
  };
  /// Of a nest whose iterations are too few to keep the machine busy, and fold long enough.
  [[nodiscard]] std::optional<Columns> ColumnsOf(llvm::ArrayRef<const LoopStmt*> nest) const {
    constexpr int64_t kLeastOfThread = 4, kFewest = 8;
    int64_t iterations = 1, shortest = INT64_MAX, bytes = 0;
    for (const LoopStmt* loop : nest) iterations *= loop->loop.extent;
    for (const Stmt& stmt : nest.back()->body->stmts) {
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      if (reduce == nullptr ? std::holds_alternative<LoopStmt>(stmt) : !MayBeShared(*reduce, kernel_))
        return {};
      if (reduce == nullptr) continue;
      shortest = std::min(shortest, reduce->loops.back().extent);
      bytes += int64_t{Info(kernel_.TypeOf(reduce->inits[0])).host_bytes()};
    }
    if (bytes == 0) return {};
    Columns columns{TogetherOf(iterations), kTeamLanes};
    if (columns.together < std::min(kFewest, iterations)) return {};
    while (columns.threads > 1 && (columns.threads * columns.together > target_.blocks.most_threads ||
                                   columns.threads * kLeastOfThread > shortest ||
                                   columns.threads * iterations > target_.blocks.full ||
                                   columns.threads * columns.together * bytes > target_.blocks.shared))
      columns.threads /= 2;
    return columns.threads < 2 ? std::nullopt : std::optional(columns);
  }
  /// As many as there are lanes, or the most that divide all.
  [[nodiscard]] int64_t TogetherOf(int64_t iterations) const {
    const int64_t lanes = target_.blocks.lanes;
    if (iterations % lanes == 0) return lanes;
    int64_t together = std::min(iterations, 2 * lanes);
    while (iterations % together != 0) --together;
    return together;
  }
  Schedule ShareColumns(llvm::ArrayRef<const LoopStmt*> nest, const Columns& columns) {
    std::vector<LoopId> loops;
    int64_t iterations = 1;
    for (const LoopStmt* loop : nest) {
      loops.push_back(loop->loop.id);
      iterations *= loop->loop.extent;
    }
    const LoopId loop = Fused(loops), block = NewLoop();
    LoopId thread = loop;
    if (iterations == columns.together) {
      schedule_.push_back({ScheduleStep::Kind::Once, {block}});
    } else {
      thread = NewLoop();
      schedule_.push_back({ScheduleStep::Kind::Split, {loop, block, thread}, columns.together});
    }
    AddBind(block, Binding::BlockX);
    AddBind(thread, Binding::ThreadX);
    ScheduleStep team{ScheduleStep::Kind::Team, {thread}, columns.threads};
    team.across = true;
    schedule_.push_back(team);
    return std::move(schedule_);
  }

  /// Sums of products that are worth it are taken in tiles. Whether these are.
  bool Multiply(llvm::ArrayRef<const LoopStmt*> nest) {
    llvm::SmallVector<Dimension, 4> loops;
    for (const LoopStmt* loop : nest) loops.push_back(loop->loop);
    const auto product = FindProduct(kernel_, loops, *nest.back()->body);
    if (!product) return false;
    const auto shape = ChooseProduct(kernel_, *product, target_);
    if (!shape) return false;
    ScheduleStep step{ScheduleStep::Kind::Product, {}, shape->rows};
    for (const Dimension& d : loops) step.loops.push_back(d.id);
    step.loops.push_back(NewLoop());
    step.product = *shape;
    schedule_.push_back(step);
    AddBind(step.loops.back(), Binding::BlockX);
    return true;
  }

  /// Loads that run along another loop than the innermost go through tiles. Whether there are any, which are
  /// worth it.
  bool Tile(llvm::ArrayRef<const LoopStmt*> nest) {
    const LoopStmt& along = *nest.back();
    for (const Stmt& stmt : along.body->stmts) {
      const auto* store = std::get_if<StoreStmt>(&stmt);
      if (store != nullptr ? store->address.FactorOf(along.loop.id) != 1
                           : ResultOf(stmt) < 0 || std::holds_alternative<ReduceStmt>(stmt))
        return false;
    }
    const LoopStmt* across = nullptr;
    int64_t most = 0;
    for (const LoopStmt* loop : nest.drop_back()) {
      int64_t bytes = 0;
      for (const LoadStmt* load : LoadsAcross(kernel_, *along.body, loop->loop.id, along.loop.id))
        bytes += int64_t{Info(kernel_.TypeOf(load->result)).host_bytes()};
      if (bytes > most) across = loop, most = bytes;
    }
    if (across == nullptr) return false;
    const auto shape = ShapeOfTile(*across, along);
    if (!shape) return false;
    std::vector<LoopId> loops;
    for (const LoopStmt* loop : nest)
      if (loop != across && loop != &along) loops.push_back(loop->loop.id);
    if (nest[nest.size() - 2] != across) {
      ScheduleStep reorder{ScheduleStep::Kind::Reorder, {}};
      reorder.loops.assign(loops.begin(), loops.end());
      reorder.loops.append({across->loop.id, along.loop.id});
      schedule_.push_back(reorder);
    }
    const LoopId tiles = NewLoop();
    schedule_.push_back(
        {ScheduleStep::Kind::Tile, {across->loop.id, along.loop.id, tiles}, shape->threads, shape->width});
    next_loop_ +=
        LoopsOfTile(*shape, LoadsAcross(kernel_, *along.body, across->loop.id, along.loop.id).size());
    loops.push_back(tiles);
    AddBind(Fused(loops), Binding::BlockX);
    return true;
  }

  /// Tiles whose lines fill lines of memory as far as there is room; nothing for loops too short for any.
  [[nodiscard]] std::optional<TileShape> ShapeOfTile(const LoopStmt& across, const LoopStmt& along) const {
    constexpr int64_t kShort = 8, kLong = 16, kLarge = 8192, kLeastOfShort = 1024;
    const int64_t rows = across.loop.extent, columns = along.loop.extent, least = std::min(rows, columns);
    const TiledExtents extents{rows, columns};
    const bool is_short = least > 1 && rows * columns >= kLeastOfShort && extents.IsShort({});
    if (!is_short && (least < kShort || (least < kLong && rows * columns < kLarge))) return {};
    llvm::SmallVector<ElementType, 2> types;
    int64_t bytes = 1;
    for (const LoadStmt* load : LoadsAcross(kernel_, *along.body, across.loop.id, along.loop.id))
      types.push_back(kernel_.TypeOf(load->result));
    for (const Stmt& stmt : along.body->stmts)
      if (const auto* store = std::get_if<StoreStmt>(&stmt)) bytes = std::max(bytes, BytesOf(store->buffer));
    for (const ElementType type : types) bytes = std::max(bytes, int64_t{Info(type).host_bytes()});
    TileShape shape{.threads = target_.blocks.threads};
    const auto fits = [&] {
      int64_t shared = 0;
      for (const ElementType type : types) shared += BytesOfTile(shape, extents, type);
      return shared <= target_.blocks.shared;
    };
    shape.width = std::max<int64_t>(target_.caches.line / target_.blocks.lanes / bytes, 1);
    while (shape.width > 1 &&
           (rows % shape.width != 0 || columns % shape.width != 0 || !fits() || shape.edge() >= 2 * least))
      shape.width /= 2;
    if (!fits()) return {};
    // Larger tiles have more threads: each does as much as in small ones.
    shape.threads = std::min(shape.threads * shape.width, target_.blocks.most_threads);
    return shape;
  }

  [[nodiscard]] int64_t BytesOf(BufferId buffer) const {
    return int64_t{Info(kernel_.buffers[static_cast<size_t>(buffer)].type).host_bytes()};
  }

  /// Consecutive elements of a thread: what it stores lies side by side, and moves in the widest accesses.
  [[nodiscard]] int64_t WidthOf(const LoopStmt& innermost, int64_t iterations) const {
    const LoopId id = innermost.loop.id;
    int64_t most = 0;
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
      most = std::max(most, BytesOf(buffer));
    });
    if (!plain || !side_by_side || most == 0 || most > target_.blocks.access / 2) return 1;
    // One access of the widest elements: with several of them lanes would leave gaps in each.
    int64_t width = target_.blocks.access / most;
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
  std::pair<LoopId, int64_t> OneLoop(llvm::ArrayRef<const LoopStmt*> nest, bool wide) {
    std::vector<LoopId> loops;
    int64_t iterations = 1;
    for (const LoopStmt* loop : nest) {
      loops.push_back(loop->loop.id);
      iterations *= loop->loop.extent;
    }
    if (const int64_t width = wide ? WidthOf(*nest.back(), iterations) : 1; width > 1) {
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

  static bool HoldsLoops(const LoopStmt& loop) {
    return llvm::any_of(loop.body->stmts,
                        [](const Stmt& stmt) { return std::holds_alternative<LoopStmt>(stmt); });
  }

  /// Loops that stand beside others within loops as nests of their own; nothing where there are none.
  [[nodiscard]] Schedule Parted(llvm::ArrayRef<const LoopStmt*> loops) const {
    Kernel kernel = Clone(kernel_);
    if (!DistributeLoops(kernel)) return {};
    Schedule rest = ThreadChooser(kernel, target_).Run();
    if (rest.empty()) return {};
    ScheduleStep step{ScheduleStep::Kind::Distribute, {}};
    for (const LoopStmt* loop : loops) step.loops.push_back(loop->loop.id);
    rest.insert(rest.begin(), step);
    return rest;
  }

  /// Several nests in the same blocks, of which there are as many as the longest needs.
  Schedule Joined(llvm::ArrayRef<const LoopStmt*> loops) {
    ScheduleStep join{ScheduleStep::Kind::Join, {}};
    std::vector<LoopId> threads;
    for (const LoopStmt* outermost : loops) {
      const auto [loop, iterations] = OneLoop(NestOf(*outermost), /*wide=*/true);
      const auto [block, thread] = Cut(loop, iterations);
      // What has one iteration is run by the first block.
      if (thread < 0 && HoldsLoops(*outermost)) return {};
      join.loops.push_back(block);
      threads.push_back(thread < 0 ? block : thread);
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
  bool atomic_ = false;  // loops are made such that need no order
  Schedule schedule_;
};

}  // namespace

Schedule ChooseThreads(const Kernel& kernel, const Target& target) {
  return ThreadChooser(kernel, target).Run();
}

}  // namespace hlo::kernel
