#include "backends/kernel/product_steps.h"

#include <numeric>

#include "backends/kernel/copy_region.h"
#include "backends/kernel/product_results.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Bytes of the smallest copy.
constexpr int64_t kLeastCopy = 4;

class ProductTiler : ProductResults {
 public:
  ProductTiler(Kernel& kernel, const ProductShape& shape, const Product& product, Region body)
      : ProductResults(kernel, shape, product, std::move(body)) {
    left_.factor = &product_.left, left_.edge = shape.rows, left_.value = product_.left.value;
    right_.factor = &product_.right, right_.edge = shape.columns, right_.value = product_.right.value;
  }

  /// Statements of the iteration `into` of the loop over tiles.
  Region Run(LoopId into) {
    Plan(left_);
    Plan(right_);
    lane_ = NewLoop(), warp_ = NewLoop();
    Region tile, threads;
    {
      const Into out(*this, tile.stmts);
      PlaceTile(into);
    }
    const Into out(*this, threads.stmts);
    MakeThreads();
    Region lanes;
    lanes.stmts.push_back(Bound(lane_, kMatrixLanes, Binding::Lane, std::move(threads)));
    tile.stmts.push_back(
        Bound(warp_, shape_.warp_rows * shape_.warp_columns, Binding::ThreadX, std::move(lanes)));
    return tile;
  }

  [[nodiscard]] int64_t Tiles() const { return ExtentOf(product_.batch) * TilesOf(left_) * TilesOf(right_); }

 private:
  [[nodiscard]] int64_t TilesOf(const Operand& operand) const {
    return (ExtentOf(operand.factor->loops) + operand.edge - 1) / operand.edge;
  }
  [[nodiscard]] int64_t Pieces() const {
    return (ExtentOf(product_.depth) + shape_.depth - 1) / shape_.depth;
  }

  // What is staged.

  /// The statements that compute `value`, and those of the reduction among them, in order, as a copy of their
  /// own; `value` becomes that of the copy.
  Region Slice(ValueId& value) {
    RegionCopier copier(kernel_);
    const auto copy = copier.Copy(body_);
    value = copier.of(value);
    std::vector<Stmt> all;
    for (Stmt& stmt : copy->stmts) {
      if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
        renamed_ = Renamed(*reduce);
        Append(all, std::move(*reduce->body));
      } else {
        all.push_back(std::move(stmt));
      }
    }
    return Needed(std::move(all), {value});
  }
  /// The copies of the loops that are summed over stand for those.
  [[nodiscard]] Bys Renamed(const ReduceStmt& copy) const {
    Bys renamed;
    for (const auto& [of, loop] : llvm::zip(copy.loops, product_.depth))
      renamed.push_back({of.id, Counting(loop.id)});
    return renamed;
  }
  /// Neighbours along a loop that all loads of the region may take at once, all of them whole accesses.
  [[nodiscard]] int64_t WidthAlong(const Region& region, const Dimension& d, int64_t most) const {
    int64_t width = most;
    bool along = false;
    for (const Stmt& stmt : region.stmts) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      const auto* index = std::get_if<IndexStmt>(&stmt);
      if (index != nullptr && index->address.FactorOf(d.id) != 0) width = 1;
      if (load == nullptr || load->address.FactorOf(d.id) == 0) continue;
      along = true;
      if (load->address.FactorOf(d.id) != 1) return 0;
      int64_t unit = std::gcd(most, load->address.offset);
      for (const auto& term : load->address.loops)
        if (term.id != d.id) unit = std::gcd(unit, term.factor);
      for (const auto& term : load->address.values) unit = std::gcd(unit, term.factor);
      width = std::min(width, std::gcd(unit, d.extent));
    }
    return along ? width : 0;
  }

  /// Whether a load gives zeros where it reads nothing, if there is such a place.
  [[nodiscard]] bool IsZeroOutside(const LoadStmt& load, const Region& slice) const {
    bool zero = load.mask < 0;
    const auto look = [&](const Stmt& stmt) {
      const auto* constant = std::get_if<ConstantStmt>(&stmt);
      zero |= constant != nullptr && constant->result == load.otherwise && constant->bits[0] == 0;
    };
    ForEachStmt(slice, look);
    ForEachStmt(kernel_.body, look);
    return zero;
  }

  void Plan(Operand& operand) {
    ValueId value = operand.value;
    Region slice = Slice(value);
    Substitute(slice, {});
    const int64_t most = kProductAccess / BytesOf(shape_.unit.type);
    const int64_t deep = WidthAlong(slice, product_.depth.back(), std::min(most, shape_.depth));
    const int64_t wide = WidthAlong(slice, operand.factor->loops.back(), std::min(most, operand.edge));
    operand.in_depth = deep >= wide;
    operand.width = std::max({deep, wide, int64_t{1}});
    // Each thread has something to move.
    const int64_t elements = operand.edge * shape_.depth;
    while (operand.width > 1 && elements / operand.width < shape_.threads()) operand.width /= 2;
    const auto* load = slice.stmts.empty() ? nullptr : std::get_if<LoadStmt>(&slice.stmts.back());
    operand.copied = load != nullptr && load->result == value && IsZeroOutside(*load, slice) &&
                     std::max(deep, wide) > 0 && operand.width * BytesOf(shape_.unit.type) >= kLeastCopy;
    const int64_t lines = operand.lines(shape_), run = operand.run(shape_);
    operand.shared = Shared(shape_.unit.type, shape_.stages * lines * run);
    kernel_.buffers.back().swizzle = SwizzleOfFactor(shape_.unit, lines * run, run);
  }

  void PlaceTile(LoopId into) {
    const ValueId number = Index(Counting(into));
    const int64_t across = TilesOf(right_), down = TilesOf(left_);
    right_.tile = Rest(number, across);
    const ValueId rest = Divided(number, across);
    left_.tile = Rest(rest, down);
    Unflatten(product_.batch, Times(Divided(rest, down), 1), -1, batch_);
  }

  // A tile.

  /// Piece `number` of a factor goes to the place of stage `stage`, both addresses.
  void Fetch(const Operand& operand, const Address& number, const Address& stage) {
    const int64_t lines = operand.lines(shape_), run = operand.run(shape_);
    ForChunks(lines, run, operand.width, [&](const Address& line, const Address& first, ValueId exists) {
      Region region;
      const Into out(*this, region.stmts);
      Address deep = operand.in_depth ? first : line, wide = operand.in_depth ? line : first;
      deep.Add(number, shape_.depth);
      wide.Add(Times(operand.tile, operand.edge));
      exists = Both(exists, Exists(deep, ExtentOf(product_.depth), shape_.depth));
      exists = Both(exists, Exists(wide, ExtentOf(operand.factor->loops), operand.edge));
      Address to = first;
      to.Add(line, run);
      to.Add(stage, lines * run);
      const LoopId lane = operand.width > 1 && !operand.copied ? NewLoop() : -1;
      Bys bys = batch_;
      Unflatten(product_.depth, deep, operand.in_depth ? lane : -1, bys);
      Unflatten(operand.factor->loops, wide, operand.in_depth ? -1 : lane, bys);
      ValueId value = operand.value;
      Region slice = Slice(value);
      Substitute(slice, bys);
      if (exists >= 0) Mask(slice, exists);
      Region inner;
      {
        const Into into(*this, inner.stmts);
        if (operand.copied)
          MakeCopy(operand, std::move(slice), to);
        else
          Store(operand, std::move(slice), value, exists, to, lane);
      }
      Append(region.stmts, InLanes(lane, operand.width, std::move(inner)));
      return region;
    });
  }
  void MakeCopy(const Operand& operand, Region slice, const Address& to) {
    const auto load = std::get<LoadStmt>(slice.stmts.back());
    slice.stmts.pop_back();
    Append(*out_, std::move(slice));
    out_->emplace_back(CopyStmt{operand.shared, to, load.buffer, load.address, operand.width, load.mask});
  }
  void Store(const Operand& operand, Region slice, ValueId value, ValueId exists, Address to, LoopId lane) {
    Append(*out_, std::move(slice));
    if (exists >= 0)
      value = Op(OpKind::Select, shape_.unit.type, {exists, value, Constant(shape_.unit.type, 0)});
    if (lane >= 0) to.AddLoop(lane, 1);
    out_->emplace_back(StoreStmt{operand.shared, to, value});
  }

  // Tiles of a warp, and those of a unit in it.

  void LoadFactor(const Operand& operand, BufferId words, const Address& at, const Address& line, LoopId step,
                  const Address& stage) {
    const int64_t pitch = operand.run(shape_);
    LoadMatrixStmt load{.unit = shape_.unit,
                        .right = &operand == &right_,
                        .across = !operand.in_depth,
                        .into = words,
                        .at = at,
                        .from = operand.shared,
                        .address = {},
                        .pitch = pitch};
    load.address.Add(stage, operand.lines(shape_) * pitch);
    load.address.Add(line, operand.in_depth ? pitch : 1);
    load.address.AddLoop(step, shape_.unit.depth * (operand.in_depth ? 1 : pitch));
    out_->emplace_back(std::move(load));
  }
  void Multiply(const Address& stage) {
    const MatrixUnit& unit = shape_.unit;
    ForEach({shape_.depth / unit.depth}, [&](llvm::ArrayRef<LoopId> steps) {
      ForEach({UnitsDown()}, [&](llvm::ArrayRef<LoopId> down) {
        Address line = Times(warp_row_, WarpRows());
        line.AddLoop(down[0], unit.rows);
        LoadFactor(left_, left_words_, Counting(down[0], LeftWords(unit)), line, steps[0], stage);
      });
      ForEach({UnitsAcross()}, [&](llvm::ArrayRef<LoopId> across) {
        Address line = Times(warp_column_, WarpColumns());
        line.AddLoop(across[0], unit.columns);
        LoadFactor(right_, right_words_, Counting(across[0], RightWords(unit)), line, steps[0], stage);
        ForEach({UnitsDown()}, [&](llvm::ArrayRef<LoopId> down) {
          out_->emplace_back(MultiplyMatrixStmt{unit,
                                                {sums_, SumAt(down[0], across[0])},
                                                {left_words_, Counting(down[0], LeftWords(unit))},
                                                {right_words_, Counting(across[0], RightWords(unit))}});
        });
      });
    });
  }

  void MakeThreads() {
    const MatrixUnit& unit = shape_.unit;
    Address number = Counting(lane_);
    number.AddLoop(warp_, kMatrixLanes);
    thread_ = Index(number);
    const ValueId warp = Index(Counting(warp_));
    warp_row_ = Divided(warp, shape_.warp_columns);
    warp_column_ = Rest(warp, shape_.warp_columns);
    sums_ = Local(product_.sum, UnitsDown() * UnitsAcross() * SumWords(unit));
    left_words_ = Local(WordTypeOf(unit), UnitsDown() * LeftWords(unit));
    right_words_ = Local(WordTypeOf(unit), UnitsAcross() * RightWords(unit));
    const ValueId zero = Constant(product_.sum, 0);
    ForEach({UnitsDown(), UnitsAcross(), SumWords(unit)}, [&](llvm::ArrayRef<LoopId> loops) {
      Address at = SumAt(loops[0], loops[1]);
      at.AddLoop(loops[2], 1);
      out_->emplace_back(StoreStmt{sums_, at, zero});
    });
    MakePipeline();
    MakeResults();
  }

  void FetchBoth(const Address& number, const Address& stage) {
    Fetch(left_, number, stage);
    Fetch(right_, number, stage);
  }
  void Commit() {
    if (left_.copied || right_.copied) out_->emplace_back(CommitCopiesStmt{});
  }
  void MakePipeline() {
    const int64_t pieces = Pieces(), ahead = shape_.stages - 1;
    for (int64_t i = 0; i < ahead; ++i) {
      Address constant;
      constant.offset = i;
      if (i < pieces) FetchBoth(constant, constant);
      Commit();
    }
    const LoopId piece = NewLoop();
    Region body;
    {
      const Into out(*this, body.stmts);
      if (left_.copied || right_.copied) out_->emplace_back(WaitForCopiesStmt{ahead - 1});
      out_->emplace_back(BarrierStmt{});
      if (pieces > ahead) {
        // What comes into the place of the piece that was multiplied last, if there is more.
        const LoopId more = NewLoop();
        Region fetch;
        {
          const Into into(*this, fetch.stmts);
          Address next = Counting(piece);
          next.offset = ahead;
          FetchBoth(next, Times(Rest(Index(next), shape_.stages), 1));
        }
        out_->push_back(
            Loop({.id = more, .extent = 1, .outer = piece, .limit = pieces - ahead}, std::move(fetch)));
      }
      Commit();
      Multiply(Times(Rest(Index(Counting(piece)), shape_.stages), 1));
    }
    out_->push_back(Loop({.id = piece, .extent = pieces}, std::move(body)));
  }
};

}  // namespace

Status TileProduct(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, const ProductShape& shape, LoopId into) {
  HLO_CHECK_OK(CheckProduct(shape));
  llvm::SmallVector<Dimension, 4> loops;
  for (const LoopStmt* loop : nest) {
    const Dimension& d = loop->loop;
    if (d.width > 1 || d.unroll > 1 || d.parallel || d.ordered || HasEnd(d) || d.binding != Binding::None)
      return ScheduleError("i{0} is run in a way of its own", d.id);
    loops.push_back(d);
  }
  auto product = FindProduct(kernel, loops, *nest.back()->body);
  if (!product) return ScheduleError("i{0} holds no product", nest.back()->loop.id);
  for (Product::Factor* factor : {&product->left, &product->right}) {
    const ElementType type = kernel.TypeOf(factor->value);
    factor->value = FactorOf(kernel, factor->value, shape.unit.type);
    if (factor->value < 0)
      return ScheduleError("a factor is of {0}, which is not made of {1}", ToString(type),
                           ToString(shape.unit.type));
  }
  if (product->sum != SumTypeOf(shape.unit))
    return ScheduleError("sums of {0}, tiles {1} have {2}", ToString(product->sum), ToString(shape.unit),
                         ToString(SumTypeOf(shape.unit)));
  kernel.loop_count = std::max(kernel.loop_count, into + 1);
  ProductTiler tiler(kernel, shape, *product, std::move(*nest.back()->body));
  const int64_t tiles = tiler.Tiles();
  Region tile = tiler.Run(into);
  *nest[0] = LoopStmt{{.id = into, .extent = tiles}, std::make_unique<Region>(std::move(tile))};
  return {};
}

}  // namespace hlo::kernel
