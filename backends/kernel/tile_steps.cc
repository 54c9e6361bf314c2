#include "backends/kernel/tile_steps.h"

#include "backends/kernel/copy_region.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/thread_stmts.h"
#include "backends/kernel/tile_places.h"
#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {
namespace {

/// Elements from a line of a tile to the next.
int64_t PitchOf(const TileShape& shape, const TiledExtents& extents, ElementType type) {
  if (!extents.IsShort(shape)) return shape.edge() + 1;
  constexpr int64_t kBankBytes = 4;
  const int64_t bytes = Info(type).host_bytes(), lines = extents.shorter();
  const int64_t in_bank = std::max(kBankBytes / bytes, int64_t{1});
  // What the lanes that are served together take of a line, in words or wider elements.
  const int64_t lanes = TileShape::kLanes * kBankBytes / std::max(bytes, kBankBytes) / in_bank;
  const int64_t words = (lanes + lines - 1) / lines;
  // One more where lines begin within a word, if there are banks for it.
  const bool more = in_bank > 1 && lines * (words + 1) <= TileShape::kLanes;
  return shape.threads + in_bank * (words + (more ? 1 : 0));
}

int64_t ElementsOf(const TileShape& shape, const TiledExtents& extents, ElementType type) {
  return PitchOf(shape, extents, type) * (extents.IsShort(shape) ? extents.shorter() : shape.edge());
}

class Tiler : ThreadStmts {
 public:
  Tiler(Kernel& kernel, const TileShape& shape, const Dimension& across, const Dimension& along)
      : ThreadStmts(kernel),
        shape_(shape),
        extents_{across.extent, along.extent},
        is_short_(extents_.IsShort(shape)),
        across_{across},
        along_{along} {}

  /// Statements of the iteration `into` of the loop over tiles.
  Region Run(Region body, llvm::ArrayRef<const LoadStmt*> loads, LoopId into) {
    lane_ = NewLoop(), warp_ = NewLoop();
    Region tile, threads;
    {
      const Into out(*this, tile.stmts);
      const ValueId number = Index(Counting(into)), tiles = Integer(TilesOf(along_.d));
      across_.tile = Op(OpKind::Divide, ElementType::S64, {number, tiles});
      along_.tile = Op(OpKind::Remainder, ElementType::S64, {number, tiles});
    }
    const Into out(*this, threads.stmts);
    llvm::DenseMap<ValueId, BufferId> staged;
    for (const LoadStmt* load : loads) staged[load->result] = Fetch(*load, body);
    out_->emplace_back(BarrierStmt{});
    Use(std::move(body), staged);
    Region lanes;
    lanes.stmts.push_back(Bound(lane_, TileShape::kLanes, Binding::Lane, std::move(threads)));
    tile.stmts.push_back(Bound(warp_, warps(), Binding::ThreadX, std::move(lanes)));
    return tile;
  }

  [[nodiscard]] int64_t TilesOf(const Dimension& d) const { return (d.extent + EdgeOf(d) - 1) / EdgeOf(d); }

 private:
  struct Edge {
    Dimension d;
    ValueId tile = -1;  // which of them, in this direction
  };

  [[nodiscard]] int64_t warps() const { return shape_.threads / TileShape::kLanes; }
  [[nodiscard]] bool IsShort(const Dimension& d) const { return is_short_ && d.extent == extents_.shorter(); }
  [[nodiscard]] int64_t EdgeOf(const Dimension& d) const {
    return !is_short_ ? shape_.edge() : IsShort(d) ? d.extent : shape_.threads;
  }

  /// The index of an element of the tile in all.
  [[nodiscard]] Address Whole(const Edge& edge, const Address& in_tile) const {
    Address address = in_tile;
    address.AddValue(edge.tile, EdgeOf(edge.d));
    return address;
  }
  /// The place of an element in shared memory.
  [[nodiscard]] Address Place(Address across, Address along, ElementType type) const {
    if (IsShort(across_.d)) std::swap(across, along);
    across.Add(along, PitchOf(shape_, extents_, type));
    return across;
  }

  /// Whether the element exists; -1: all do.
  ValueId Exists(const Edge& edge, const Address& place) {
    if (edge.d.extent % EdgeOf(edge.d) == 0) return -1;
    const ValueId end = Integer(edge.d.extent);
    return Compare(Direction::LT, Index(place), end);
  }

  /// One pass over the tile, row by row of what lanes go along: `body` is told of the index in the tile of
  /// lines, of neighbours, of the first of these, and makes the statements.
  void Pass(const Edge& lines, const Edge& neighbours,
            llvm::function_ref<Region(const Address& line, const Address& neighbour, ValueId exists)> body) {
    if (is_short_) return ShortPass(lines, neighbours, body);
    const LoopId round = NewLoop();
    Address line = Counting(warp_);
    line.AddLoop(round, warps());
    const Address first = Counting(lane_, shape_.width);
    Address neighbour = first;
    Region region;
    const Into out(*this, region.stmts);
    const ValueId exists =
        Both(Exists(lines, Whole(lines, line)), Exists(neighbours, Whole(neighbours, first)));
    Dimension vector;
    if (shape_.width > 1) {
      vector = {.id = NewLoop(), .extent = shape_.width, .width = static_cast<int32_t>(shape_.width)};
      neighbour.AddLoop(vector.id, 1);
    }
    Region inner = body(line, neighbour, exists);
    if (shape_.width > 1)
      region.stmts.push_back(Loop(vector, std::move(inner)));
    else
      region.stmts.insert(region.stmts.end(), std::make_move_iterator(inner.stmts.begin()),
                          std::make_move_iterator(inner.stmts.end()));
    rounds_.push_back(Loop({.id = round, .extent = shape_.edge() / warps()}, std::move(region)));
  }
  /// The same for a tile that is short in one direction: element by element where lanes go along that.
  void ShortPass(
      const Edge& lines, const Edge& neighbours,
      llvm::function_ref<Region(const Address& line, const Address& neighbour, ValueId exists)> body) {
    const LoopId round = NewLoop();
    Address thread = Counting(lane_), line = Counting(round);
    thread.AddLoop(warp_, TileShape::kLanes);
    Address neighbour = thread;
    Region region;
    {
      const Into out(*this, region.stmts);
      if (IsShort(neighbours.d)) {
        thread.AddLoop(round, shape_.threads);
        const ValueId number = Index(thread), extent = Integer(neighbours.d.extent);
        line = neighbour = {};
        line.AddValue(Op(OpKind::Divide, ElementType::S64, {number, extent}), 1);
        neighbour.AddValue(Op(OpKind::Remainder, ElementType::S64, {number, extent}), 1);
      }
      const bool is_line = IsShort(neighbours.d);
      const Edge& other = is_line ? lines : neighbours;
      Region inner = body(line, neighbour, Exists(other, Whole(other, is_line ? line : neighbour)));
      region.stmts.insert(region.stmts.end(), std::make_move_iterator(inner.stmts.begin()),
                          std::make_move_iterator(inner.stmts.end()));
    }
    rounds_.push_back(Loop({.id = round, .extent = extents_.shorter()}, std::move(region)));
  }
  void FinishPass() {
    for (Stmt& stmt : rounds_) out_->push_back(std::move(stmt));
    rounds_.clear();
  }

  BufferId Fetch(const LoadStmt& load, const Region& body) {
    const ElementType type = kernel_.TypeOf(load.result);
    const BufferId shared = Shared(type, ElementsOf(shape_, extents_, type));
    Pass(along_, across_, [&](const Address& line, const Address& neighbour, ValueId exists) {
      Region region;
      const Into out(*this, region.stmts);
      Address from = load.address;
      const int64_t factor = from.FactorOf(along_.d.id);
      from.AddLoop(along_.d.id, -factor);
      from.AddLoop(across_.d.id, -1);
      from.Add(Whole(along_, line), factor);
      from.Add(Whole(across_, neighbour));
      ValueId mask = -1, otherwise = -1;
      if (load.mask >= 0) std::tie(mask, otherwise) = MaskAt(load, body, line, neighbour);
      mask = Both(exists, mask);
      if (mask >= 0 && otherwise < 0) otherwise = Constant(type, 0);
      const Address to = Place(neighbour, line, type);
      const ValueId value = Load(load.buffer, from, mask, otherwise);
      out_->emplace_back(StoreStmt{shared, to, value});
      return region;
    });
    FinishPass();
    return shared;
  }

  /// Whether the load is one at this place of the tile, and what is there if not.
  std::pair<ValueId, ValueId> MaskAt(const LoadStmt& load, const Region& body, const Address& line,
                                     const Address& neighbour) {
    RegionCopier copier(kernel_);
    const std::unique_ptr<Region> copy = copier.Copy(body);
    const ValueId mask = copier.of(load.mask), otherwise = copier.of(load.otherwise);
    Region needed = Needed(std::move(copy->stmts), {mask, otherwise});
    Substitute(needed, along_.d.id, Whole(along_, line));
    Substitute(needed, across_.d.id, Whole(across_, neighbour));
    Append(*out_, std::move(needed));
    return {mask, otherwise};
  }

  void Use(Region body, const llvm::DenseMap<ValueId, BufferId>& staged) {
    Pass(across_, along_, [&](const Address& line, const Address& neighbour, ValueId exists) {
      Substitute(body, across_.d.id, Whole(across_, line));
      Substitute(body, along_.d.id, Whole(along_, neighbour));
      if (exists >= 0) Mask(body, exists);
      for (Stmt& stmt : body.stmts) {
        auto* load = std::get_if<LoadStmt>(&stmt);
        const auto found = load == nullptr ? staged.end() : staged.find(load->result);
        if (found == staged.end()) continue;
        // All of the tile is written, what does not exist as well.
        const Address from = Place(line, neighbour, kernel_.TypeOf(load->result));
        *load = LoadStmt{load->result, found->second, from};
      }
      return std::move(body);
    });
    FinishPass();
  }

  TileShape shape_;
  TiledExtents extents_;
  bool is_short_;
  Edge across_, along_;
  LoopId lane_ = -1, warp_ = -1;
  std::vector<Stmt> rounds_;
};

/// What a tile cannot hold: loops, and what is run in a way of its own.
Status CheckTile(const LoopStmt& across, const LoopStmt& along, const TileShape& shape) {
  for (const Dimension& d : {across.loop, along.loop}) {
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || HasEnd(d) || d.binding != Binding::None)
      return ScheduleError("i{0} is run in a way of its own", d.id);
    if (d.extent % shape.width != 0)
      return ScheduleError("i{0} in {1} has no whole vectors of {2}", d.id, d.extent, shape.width);
  }
  for (const Stmt& stmt : along.body->stmts)
    if (!std::holds_alternative<StoreStmt>(stmt) &&
        (ResultOf(stmt) < 0 || std::holds_alternative<ReduceStmt>(stmt)))
      return ScheduleError("i{0} holds more than values and stores", along.loop.id);
  const int64_t warps = shape.threads / TileShape::kLanes;
  if (shape.threads % TileShape::kLanes != 0 || warps < 1 || warps > TileShape::kLanes ||
      shape.edge() % warps != 0)
    return ScheduleError("a tile for {0} threads: expected whole warps that divide {1}", shape.threads,
                         shape.edge());
  return {};
}

}  // namespace

llvm::SmallVector<const LoadStmt*, 2> LoadsAcross(const Kernel& kernel, const Region& body, LoopId across,
                                                  LoopId along) {
  llvm::SmallVector<const LoadStmt*, 2> loads;
  llvm::DenseSet<ValueId> loaded;  // values that are made of what is loaded
  for (const Stmt& stmt : body.stmts) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    bool is_read = load != nullptr;
    ForEachUse(stmt, [&](ValueId value) { is_read |= loaded.contains(value); });
    if (is_read && ResultOf(stmt) >= 0) loaded.insert(ResultOf(stmt));
    if (load == nullptr || !load->address.values.empty() || loaded.contains(load->mask) ||
        loaded.contains(load->otherwise))
      continue;
    if (kernel.buffers[static_cast<size_t>(load->buffer)].written) continue;
    const int64_t steps = load->address.FactorOf(along);
    if (load->address.FactorOf(across) == 1 && steps != 0 && steps != 1) loads.push_back(load);
  }
  return loads;
}

int64_t BytesOfTile(const TileShape& shape, const TiledExtents& extents, ElementType type) {
  return ElementsOf(shape, extents, type) * int64_t{Info(type).host_bytes()};
}

int32_t LoopsOfTile(const TileShape& shape, size_t loads) {
  const auto passes = static_cast<int32_t>(loads) + 1;
  return 2 + passes * (shape.width > 1 ? 2 : 1);
}

Status TileNest(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, const TileShape& shape, LoopId into) {
  LoopStmt &across = *nest[0], &along = *nest[1];
  HLO_CHECK_OK(CheckTile(across, along, shape));
  const auto loads = LoadsAcross(kernel, *along.body, across.loop.id, along.loop.id);
  if (loads.empty()) return ScheduleError("nothing in i{0} runs along i{1}", along.loop.id, across.loop.id);
  kernel.loop_count = std::max(kernel.loop_count, into + 1);
  Tiler tiler(kernel, shape, across.loop, along.loop);
  const int64_t tiles = tiler.TilesOf(across.loop) * tiler.TilesOf(along.loop);
  const std::unique_ptr<Region> body = std::move(along.body);
  Region tile = tiler.Run(std::move(*body), loads, into);
  across = LoopStmt{{.id = into, .extent = tiles}, std::make_unique<Region>(std::move(tile))};
  return {};
}

}  // namespace hlo::kernel
