#include "backends/kernel/team.h"

#include "backends/kernel/copy_region.h"
#include "backends/kernel/interpret.h"
#include "backends/kernel/row_values.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/thread_stmts.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// Elements of a row that a thread keeps of what it has computed, each in a register.
constexpr int64_t kMostKept = 64;

class RowSharer : ThreadStmts {
 public:
  RowSharer(Kernel& kernel, const Team& team)
      : ThreadStmts(kernel),
        team_(team),
        lanes_(team.across ? 1 : std::min(team.threads, kTeamLanes)),
        warps_(team.threads / lanes_) {}

  Status RunAcross(LoopStmt& loop) {
    columns_ = loop.loop;
    warp_ = NewLoop();
    std::vector<Stmt> stmts = std::exchange(loop.body->stmts, {});
    out_ = &row_.stmts;
    first_ = Compare(Direction::EQ, Index(Thread()), Integer(0));
    for (Stmt& stmt : stmts) HLO_CHECK_OK(Share(std::move(stmt)));
    if (team_.keep) {
      KeepRow();
      KeepValues(kernel_, bodies_, kMostKept);
    }
    loop.body->stmts.push_back(Bound(warp_, warps_, Binding::ThreadY, std::move(row_)));
    return {};
  }

  Status Run(LoopStmt& loop) {
    lane_ = kernel_.loop_count++;
    if (warps_ > 1) warp_ = kernel_.loop_count++;
    std::vector<Stmt> stmts = std::exchange(loop.body->stmts, {});
    out_ = &row_.stmts;
    const ValueId zero = Integer(0);
    first_ = Compare(Direction::EQ, Index(Thread()), zero);
    first_lane_ = warps_ == 1 ? first_ : Compare(Direction::EQ, Index(Lane()), zero);
    for (Stmt& stmt : stmts) HLO_CHECK_OK(Share(std::move(stmt)));
    if (team_.keep) {
      KeepRow();
      KeepValues(kernel_, bodies_, kMostKept);
    }
    loop.body->stmts.push_back(Bound(lane_, lanes_, Binding::Lane, std::move(row_)));
    if (warps_ == 1) return {};
    Region threads = std::move(*loop.body);
    loop.body->stmts.clear();
    loop.body->stmts.push_back(Bound(warp_, warps_, Binding::ThreadX, std::move(threads)));
    return {};
  }

 private:
  // The number of the thread in its team, and of the lane in its warp.
  [[nodiscard]] Address Lane() const {
    Address address;
    address.AddLoop(lane_, 1);
    return address;
  }
  [[nodiscard]] Address Thread() const {
    if (team_.across) return Counting(warp_);
    Address address = Lane();
    if (warps_ > 1) address.AddLoop(warp_, lanes_);
    return address;
  }

  ValueId LaneReduce(OpKind op, ValueId value) {
    const ValueId result = kernel_.NewValue(kernel_.TypeOf(value));
    out_->emplace_back(LaneReduceStmt{result, op, value});
    return result;
  }

  Status Share(Stmt stmt) {
    if (auto* reduce = std::get_if<ReduceStmt>(&stmt); reduce != nullptr && MayBeShared(*reduce, kernel_))
      return ShareReduce(std::move(*reduce));
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) return ShareLoop(std::move(*loop));
    if (auto* store = std::get_if<StoreStmt>(&stmt)) {
      store->mask = store->mask < 0 ? first_ : Op(OpKind::And, ElementType::Pred, {store->mask, first_});
    } else if (ResultOf(stmt) < 0 && !std::holds_alternative<ReduceStmt>(stmt)) {
      return ScheduleError("a team runs reductions, loops and stores");
    }
    out_->push_back(std::move(stmt));
    return {};
  }

  /// How `extent` elements are divided: `whole` rounds of all threads with neighbours, then single ones.
  struct Parts {
    int64_t extent, width, whole, rest;
    [[nodiscard]] RowShare Share(bool of_whole_rounds) const { return {extent, width, of_whole_rounds}; }
  };
  [[nodiscard]] Parts Divide(int64_t extent, bool neighbours) const {
    const int64_t width = neighbours && extent % team_.width == 0 ? team_.width : 1;
    const int64_t round = team_.threads * width;
    return {extent, width, extent / round, extent % round};
  }

  /// The loops of the whole rounds, of which `body` is gone through.
  llvm::SmallVector<Dimension, 2> WholeRounds(const Parts& parts, LoopId loop, Region& body) {
    const LoopId round = kernel_.loop_count++;
    llvm::SmallVector<Dimension, 2> loops = {{.id = round, .extent = parts.whole}};
    Address place;
    place.Add(Thread(), parts.width);
    place.AddLoop(round, team_.threads * parts.width);
    if (parts.width > 1) {
      const LoopId neighbour = kernel_.loop_count++;
      loops.push_back({.id = neighbour, .extent = parts.width, .width = static_cast<int32_t>(parts.width)});
      place.AddLoop(neighbour, 1);
    }
    Substitute(body, loop, place);
    return loops;
  }

  /// The loop of what is left, whose body begins with whether the element exists: `exists`, or -1 if all do.
  Dimension Rest(const Parts& parts, LoopId loop, Region& body, ValueId& exists) {
    const LoopId round = kernel_.loop_count++;
    Address place = Thread();
    place.offset = parts.extent - parts.rest;
    place.AddLoop(round, team_.threads);
    Substitute(body, loop, place);
    exists = -1;
    if (parts.rest % team_.threads != 0) {
      std::vector<Stmt> before;
      {
        const Into into(*this, before);
        const ValueId end = Integer(parts.extent);
        exists = Compare(Direction::LT, Index(place), end);
      }
      Mask(body, exists);
      body.stmts.insert(body.stmts.begin(), std::make_move_iterator(before.begin()),
                        std::make_move_iterator(before.end()));
    }
    return {.id = round, .extent = (parts.rest + team_.threads - 1) / team_.threads};
  }

  /// What a load reads of the row, whatever loop goes through it.
  struct Source {
    BufferId buffer;
    Address rest;    // without the loop
    int64_t factor;  // of the loop
    bool operator==(const Source&) const = default;
  };
  struct RowLoad {
    ValueId load;
    Source source;
    Region* body = nullptr;
    Address kept = {};  // the number of the element among those of the thread, of which there are `count`
    int64_t count = 0;
    RowShare share = {};
  };

  /// The loads of what is not written, in a body that a loop over the row runs.
  [[nodiscard]] std::vector<RowLoad> LoadsOf(Region& body, LoopId loop) const {
    std::vector<RowLoad> loads;
    for (const Stmt& stmt : body.stmts) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      if (load == nullptr || load->mask >= 0 || kernel_.buffers[static_cast<size_t>(load->buffer)].written)
        continue;
      Source source{load->buffer, load->address, load->address.FactorOf(loop)};
      source.rest.AddLoop(loop, -source.factor);
      if (source.factor != 0) loads.push_back({load->result, source, &body});
    }
    return loads;
  }
  void Note(std::vector<RowLoad> loads, llvm::ArrayRef<Dimension> loops, RowShare share) {
    for (RowLoad& load : loads) {
      load.count = 1, load.share = share;
      for (const Dimension& d : llvm::reverse(loops)) {
        load.kept.AddLoop(d.id, load.count);
        load.count *= d.extent;
      }
      if (bodies_.empty() || bodies_.back().body != load.body)
        bodies_.push_back({load.body, load.kept, load.count, share});
      noted_.push_back(std::move(load));
    }
  }

  /// What several loops read of the row is read by the first, and stays with the thread.
  void KeepRow() {
    for (size_t i = 0; i < noted_.size(); ++i) {
      BufferId local = -1;
      for (size_t j = i + 1; j < noted_.size(); ++j) {
        const RowLoad &first = noted_[i], &again = noted_[j];
        if (again.body == nullptr || again.body == first.body || again.share != first.share ||
            !(again.source == first.source))
          continue;
        if (local < 0) local = KeepFrom(first);
        LoadStmt& load = LoadIn(again);
        load = LoadStmt{load.result, local, again.kept};
        noted_[j].body = nullptr;
      }
    }
  }
  static LoadStmt& LoadIn(const RowLoad& row) {
    const auto at = llvm::find_if(row.body->stmts, [&](const Stmt& s) { return ResultOf(s) == row.load; });
    return std::get<LoadStmt>(*at);
  }
  BufferId KeepFrom(const RowLoad& row) {
    const auto local = static_cast<BufferId>(kernel_.buffers.size());
    kernel_.buffers.push_back(
        {.type = kernel_.TypeOf(row.load), .count = row.count, .written = true, .space = Space::Local});
    auto& stmts = row.body->stmts;
    const auto at = llvm::find_if(stmts, [&](const Stmt& s) { return ResultOf(s) == row.load; });
    stmts.insert(at + 1, StoreStmt{local, row.kept, row.load});
    return local;
  }

  Status ShareReduce(ReduceStmt reduce) {
    const OpKind op = *ReductionOp(reduce);
    const ValueId init = reduce.inits[0], result = reduce.results[0];
    const ElementType type = kernel_.TypeOf(init);
    const Dimension last = reduce.loops.back();
    const Parts parts = Divide(last.extent, /*neighbours=*/true);
    const ValueId neutral = Neutral(op, type);
    reduce.inits[0] = neutral;
    ValueId sum = -1;
    if (parts.rest > 0) {
      RegionCopier copier(kernel_);
      Region around;
      around.stmts.emplace_back(std::move(reduce));
      auto copied = copier.Copy(around);
      reduce = std::get<ReduceStmt>(std::move(around.stmts[0]));
      auto& rest = std::get<ReduceStmt>(copied->stmts[0]);
      rest.origin = nullptr;  // a part of what is folded here, and no other place of it
      const LoopId loop = rest.loops.back().id;
      auto loads = LoadsOf(*rest.body, loop);
      ValueId exists = -1;
      rest.loops.back() = Rest(parts, loop, *rest.body, exists);
      if (rest.loops.size() == 1) Note(std::move(loads), rest.loops, parts.Share(/*of_whole_rounds=*/false));
      if (exists >= 0) {
        const Into into(*this, rest.body->stmts);
        rest.body->yields[0] = Op(OpKind::Select, type, {exists, rest.body->yields[0], neutral});
      }
      sum = rest.results[0];
      out_->push_back(std::move(copied->stmts[0]));
    }
    if (parts.whole > 0) {
      auto loads = LoadsOf(*reduce.body, last.id);
      const auto loops = WholeRounds(parts, last.id, *reduce.body);
      reduce.loops.pop_back();
      if (reduce.loops.empty()) Note(std::move(loads), loops, parts.Share(/*of_whole_rounds=*/true));
      reduce.loops.append(loops.begin(), loops.end());
      const ValueId whole = reduce.results[0] = kernel_.NewValue(type);
      out_->emplace_back(std::move(reduce));
      sum = sum < 0 ? whole : Op(op, type, {whole, sum});
    }
    const ValueId all = FoldThreads(op, sum, neutral);
    out_->emplace_back(OpStmt{result, op, type, {init, all}, {}});
    return {};
  }

  /// What all threads have, folded, in each of them.
  ValueId FoldThreads(OpKind op, ValueId value, ValueId neutral) {
    if (team_.across) return FoldAcross(op, value, neutral);
    const ValueId of_warp = lanes_ > 1 ? LaneReduce(op, value) : value;
    if (warps_ == 1) return of_warp;
    const BufferId shared = Shared(kernel_.TypeOf(value), warps_);
    Address warp;
    warp.AddLoop(warp_, 1);
    out_->emplace_back(StoreStmt{shared, warp, of_warp, first_lane_});
    out_->emplace_back(BarrierStmt{});
    const ValueId exists = warps_ == lanes_ ? -1 : Compare(Direction::LT, Index(Lane()), Integer(warps_));
    return LaneReduce(op, Load(shared, Lane(), exists, exists < 0 ? -1 : neutral));
  }

  /// The same where threads of a team are no lanes of a warp: each reads what all have.
  ValueId FoldAcross(OpKind op, ValueId value, ValueId neutral) {
    const ElementType type = kernel_.TypeOf(value);
    const BufferId shared = Shared(type, team_.threads * columns_.extent);
    Address own = Counting(warp_, columns_.extent);
    own.AddLoop(columns_.id, 1);
    out_->emplace_back(StoreStmt{shared, own, value});
    out_->emplace_back(BarrierStmt{});
    const LoopId part = NewLoop();
    ReduceStmt fold;
    fold.loops.push_back(
        {.id = part, .extent = team_.threads, .unroll = static_cast<int32_t>(team_.threads)});
    fold.results = {kernel_.NewValue(type)};
    fold.inits = {neutral};
    fold.parameters = {kernel_.NewValue(type), kernel_.NewValue(type)};
    fold.body = std::make_unique<Region>(), fold.combiner = std::make_unique<Region>();
    {
      const Into into(*this, fold.body->stmts);
      Address place = Counting(part, columns_.extent);
      place.AddLoop(columns_.id, 1);
      fold.body->yields = {Load(shared, place)};
    }
    {
      const Into into(*this, fold.combiner->stmts);
      fold.combiner->yields = {Op(op, type, fold.parameters)};
    }
    const ValueId result = fold.results[0];
    out_->emplace_back(std::move(fold));
    return result;
  }

  /// The innermost of loops that hold nothing but each other, and values.
  static LoopStmt& InnermostOf(LoopStmt& outer) {
    LoopStmt* at = &outer;
    for (;;) {
      LoopStmt* inner = nullptr;
      for (Stmt& stmt : at->body->stmts) {
        auto* loop = std::get_if<LoopStmt>(&stmt);
        if (loop != nullptr ? inner != nullptr : ResultOf(stmt) < 0) return *at;
        if (loop != nullptr) inner = loop;
      }
      if (inner == nullptr) return *at;
      at = inner;
    }
  }

  /// Whether neighbours may be lanes: what is stored lies side by side, and there are no loops inside.
  bool MayBeVector(const LoopStmt& loop) const {
    bool may = true;
    ForEachStmt(*loop.body, [&](const Stmt& stmt) {
      may &= !std::holds_alternative<LoopStmt>(stmt);
      const auto* store = std::get_if<StoreStmt>(&stmt);
      if (store != nullptr)
        may &= store->address.FactorOf(loop.loop.id) == 1 &&
               !kernel_.buffers[static_cast<size_t>(store->buffer)].IsLocal();
    });
    return may;
  }

  Status ShareLoop(LoopStmt outer) {
    LoopStmt& inner = InnermostOf(outer);
    const Dimension d = inner.loop;
    if (d.ordered || d.width > 1 || d.unroll > 1 || d.parallel || HasEnd(d))
      return ScheduleError("i{0} is ordered, or run in another way already", d.id);
    const Parts parts = Divide(d.extent, MayBeVector(inner));
    std::vector<Stmt> stmts;
    if (parts.rest > 0) {
      RegionCopier copier(kernel_);
      auto body = copier.Copy(*inner.body);
      ValueId exists = -1;
      auto loads = LoadsOf(*body, d.id);
      const Dimension rest = Rest(parts, d.id, *body, exists);
      if (&inner == &outer) Note(std::move(loads), rest, parts.Share(/*of_whole_rounds=*/false));
      stmts.emplace_back(LoopStmt{rest, std::move(body)});
    }
    if (parts.whole > 0) {
      auto body = std::move(inner.body);
      auto loads = LoadsOf(*body, d.id);
      const auto loops = WholeRounds(parts, d.id, *body);
      if (&inner == &outer) Note(std::move(loads), loops, parts.Share(/*of_whole_rounds=*/true));
      for (const Dimension& loop : llvm::reverse(loops)) {
        auto around = std::make_unique<Region>();
        around->stmts.emplace_back(LoopStmt{loop, std::move(body)});
        body = std::move(around);
      }
      stmts.insert(stmts.begin(), std::make_move_iterator(body->stmts.begin()),
                   std::make_move_iterator(body->stmts.end()));
    }
    // The loops take the place of the one that they divide.
    if (&inner == &outer) {
      out_->insert(out_->end(), std::make_move_iterator(stmts.begin()), std::make_move_iterator(stmts.end()));
      return {};
    }
    Replace(outer, d.id, std::move(stmts));
    out_->emplace_back(std::move(outer));
    return {};
  }

  static void Replace(LoopStmt& around, LoopId loop, std::vector<Stmt> by) {
    auto& stmts = around.body->stmts;
    const auto at = llvm::find_if(stmts, [](const Stmt& s) { return std::holds_alternative<LoopStmt>(s); });
    auto& inner = std::get<LoopStmt>(*at);
    if (inner.loop.id != loop) return Replace(inner, loop, std::move(by));
    const auto place = stmts.erase(at);
    stmts.insert(place, std::make_move_iterator(by.begin()), std::make_move_iterator(by.end()));
  }

  Team team_;
  int64_t lanes_, warps_;
  LoopId lane_ = -1, warp_ = -1;
  Dimension columns_ = {};  // of rows side by side
  Region row_;
  std::vector<RowLoad> noted_;
  std::vector<RowBody> bodies_;  // of those
  ValueId first_ = -1, first_lane_ = -1;
};

}  // namespace

bool MayBeShared(const ReduceStmt& reduce, const Kernel& kernel) {
  const std::optional<OpKind> op = ReductionOp(reduce);
  const Dimension& last = reduce.loops.back();
  if (!op || reduce.results.size() != 1 || last.width > 1 || last.unroll > 1 || HasEnd(last)) return false;
  const ElementType type = kernel.TypeOf(reduce.inits[0]);
  return !IsComplex(type) && !IsPred(type) && NeutralElement(*op, type).has_value();
}

namespace {

Status CheckAcross(const Dimension& d, const Team& team) {
  if (d.binding != Binding::ThreadX || HasEnd(d))
    return ScheduleError("i{0} is not bound to thread.x, or cut such that its last piece is smaller", d.id);
  if (team.threads < 2 || team.threads > kTeamLanes || team.width != 1 ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(team.threads)))
    return ScheduleError("a team of {0} across: expected a power of two from 2 to {1}, without vectors",
                         team.threads, kTeamLanes);
  return {};
}

}  // namespace

Status ShareRow(Kernel& kernel, LoopStmt& loop, const Team& team) {
  if (team.across) HLO_CHECK_OK(CheckAcross(loop.loop, team));
  const bool warps = team.threads % kTeamLanes == 0;
  if (!warps && (team.threads > kTeamLanes || !llvm::isPowerOf2_64(static_cast<uint64_t>(team.threads))))
    return ScheduleError("a team of {0}: expected a power of two up to {1}, or a multiple of it",
                         team.threads, kTeamLanes);
  if (team.threads / kTeamLanes > kTeamLanes)
    return ScheduleError("a team of {0}: expected at most {1}", team.threads, kTeamLanes * kTeamLanes);
  bool reads = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      reads |= kernel.buffers[static_cast<size_t>(load->buffer)].written;
  });
  if (reads) return ScheduleError("i{0} reads what it writes", loop.loop.id);
  RowSharer sharer(kernel, team);
  return team.across ? sharer.RunAcross(loop) : sharer.Run(loop);
}

}  // namespace hlo::kernel
