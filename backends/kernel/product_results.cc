#include "backends/kernel/product_results.h"

#include <numeric>

#include "backends/kernel/copy_region.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {

int64_t ProductResults::UnitsAtOnce(int64_t bytes) const {
  int64_t units = UnitsDown();
  while (units > 1 && (UnitsDown() % units != 0 || BytesOfSums(units) > bytes)) --units;
  return units;
}

int64_t ProductResults::BytesOfSums(int64_t units) const {
  return shape_.warp_rows * units * shape_.unit.rows * PitchOfSums() * BytesOf(product_.sum);
}

int64_t ProductResults::WidthOfResults(const Region& region) const {
  int64_t width = kProductAccess;
  const Dimension& along = product_.right.loops.back();
  for (const Stmt& stmt : region.stmts) {
    const auto* store = std::get_if<StoreStmt>(&stmt);
    if (store == nullptr) continue;
    const auto& buffer = kernel_.buffers[static_cast<size_t>(store->buffer)];
    if (store->address.FactorOf(along.id) != 1) return 1;
    int64_t unit =
        std::gcd(kProductAccess / std::min(BytesOf(buffer.type), kProductAccess), store->address.offset);
    for (const auto& term : store->address.loops)
      if (term.id != along.id) unit = std::gcd(unit, term.factor);
    for (const auto& term : store->address.values) unit = std::gcd(unit, term.factor);
    width = std::min(width, std::gcd(unit, along.extent));
  }
  return width;
}

void ProductResults::MakeResults() {
  const Operand& below = kernel_.buffers[static_cast<size_t>(left_.shared)].count >=
                                 kernel_.buffers[static_cast<size_t>(right_.shared)].count
                             ? left_
                             : right_;
  const int64_t bytes = kernel_.buffers[static_cast<size_t>(below.shared)].count * BytesOf(shape_.unit.type);
  const int64_t units = UnitsAtOnce(bytes), rows = shape_.warp_rows * units * shape_.unit.rows;
  const BufferId handed = Shared(product_.sum, rows * PitchOfSums());
  if (BytesOfSums(units) <= bytes) kernel_.buffers.back().over = below.shared;
  kernel_.buffers.back().swizzle = SwizzleOfSums(product_.sum, rows * PitchOfSums(), WidthOfResults(body_));
  const int64_t parts = int64_t{shape_.unit.columns} / SumPlaceOf(shape_.unit, 1, 0).column;
  const ValueId lane = Index(Counting(lane_)), group = Divided(lane, parts), part = Rest(lane, parts);
  ForEach({UnitsDown() / units}, [&](llvm::ArrayRef<LoopId> passes) {
    out_->emplace_back(BarrierStmt{});
    HandOn(handed, units, passes[0], group, part);
    out_->emplace_back(BarrierStmt{});
    if (product_.padded) Repair(handed, units, passes[0]);
    TakeResults(handed, units, passes[0]);
  });
}

void ProductResults::HandOn(BufferId handed, int64_t units, LoopId pass, ValueId group, ValueId part) {
  const MatrixUnit& unit = shape_.unit;
  const int64_t neighbours = SumPlaceOf(unit, 1, 0).column, rows = SumWords(unit) / neighbours;
  ForEach({units, UnitsAcross(), rows}, [&](llvm::ArrayRef<LoopId> loops) {
    const LoopId lane = NewLoop();
    Region together;
    Address at = SumAt(loops[0], loops[1]);
    at.AddLoop(pass, units * UnitsAcross() * SumWords(unit));
    at.AddLoop(loops[2], neighbours);
    if (neighbours > 1) at.AddLoop(lane, 1);
    Address row = Times(warp_row_, units * unit.rows);
    row.AddLoop(loops[0], unit.rows);
    row.AddLoop(loops[2], SumPlaceOf(unit, 0, neighbours).row);
    row.AddValue(group, 1);
    Address to = Times(warp_column_, WarpColumns());
    to.AddLoop(loops[1], unit.columns);
    to.AddValue(part, neighbours);
    if (neighbours > 1) to.AddLoop(lane, 1);
    to.Add(row, PitchOfSums());
    {
      const Into out(*this, together.stmts);
      out_->emplace_back(StoreStmt{handed, to, Load(sums_, at)});
    }
    Append(*out_, InLanes(neighbours > 1 ? lane : -1, neighbours, std::move(together)));
  });
}

Address ProductResults::RowOfLine(const Address& line, int64_t units, LoopId pass) {
  Address row = line;
  if (units < UnitsDown()) {
    const int64_t of_warp = units * shape_.unit.rows;
    const ValueId number = Index(line);
    row = Sum(Times(Divided(number, of_warp), WarpRows()), Times(Rest(number, of_warp), 1));
    row.AddLoop(pass, of_warp);
  }
  row.Add(Times(left_.tile, shape_.rows));
  return row;
}

ValueId ProductResults::BothExist(ValueId exists, const Address& row, const Address& column) {
  exists = Both(exists, Exists(row, ExtentOf(product_.left.loops), shape_.rows));
  return Both(exists, Exists(column, ExtentOf(product_.right.loops), shape_.columns));
}

void ProductResults::Repair(BufferId handed, int64_t units, LoopId pass) {
  const int64_t lines = shape_.warp_rows * units * shape_.unit.rows;
  ForChunks(lines, shape_.columns, 1, [&](const Address& line, const Address& first, ValueId exists) {
    const Address row = RowOfLine(line, units, pass);
    const Address column = Sum(first, Times(right_.tile, shape_.columns));
    exists = BothExist(exists, row, column);
    Bys bys = batch_;
    Unflatten(product_.left.loops, row, -1, bys);
    Unflatten(product_.right.loops, column, -1, bys);
    Address at = first;
    at.Add(line, PitchOfSums());
    Region again, region;
    {
      const Into out(*this, again.stmts);
      const ValueId sum = AppendSum(again.stmts, body_);
      out_->emplace_back(StoreStmt{handed, at, sum});
    }
    renamed_.clear();
    Substitute(again, bys);
    const Into out(*this, region.stmts);
    const ValueId sum = Load(handed, at);
    const ValueId wrong = Both(exists, Compare(Direction::NE, sum, sum));
    out_->push_back(Loop({.id = NewLoop(), .extent = 1, .when = wrong}, std::move(again)));
    return region;
  });
  out_->emplace_back(BarrierStmt{});
}

Region ProductResults::Results(ValueId& sum) {
  RegionCopier copier(kernel_);
  auto copy = copier.Copy(body_);
  std::vector<Stmt> all;
  for (Stmt& stmt : copy->stmts) {
    if (auto* reduce = std::get_if<ReduceStmt>(&stmt))
      sum = reduce->results[0];
    else
      all.push_back(std::move(stmt));
  }
  return Needed(std::move(all), {});
}

void ProductResults::TakeResults(BufferId handed, int64_t units, LoopId pass) {
  const int64_t width = std::min(WidthOfResults(body_), shape_.columns);
  ForChunks(shape_.warp_rows * units * shape_.unit.rows, shape_.columns, width,
            [&](const Address& line, const Address& first, ValueId exists) {
              const Address row = RowOfLine(line, units, pass);
              const Address column = Sum(first, Times(right_.tile, shape_.columns));
              exists = BothExist(exists, row, column);
              const LoopId lane = width > 1 ? NewLoop() : -1;
              Bys bys = batch_;
              Unflatten(product_.left.loops, row, -1, bys);
              Unflatten(product_.right.loops, column, lane, bys);
              ValueId sum = -1;
              Region results = Results(sum);
              renamed_.clear();
              Substitute(results, bys);
              if (exists >= 0) Mask(results, exists);
              Address from = first;
              if (lane >= 0) from.AddLoop(lane, 1);
              from.Add(line, PitchOfSums());
              Region inner;
              inner.stmts.emplace_back(LoadStmt{sum, handed, from});
              Append(inner.stmts, std::move(results));
              return InLanes(lane, width, std::move(inner));
            });
}

}  // namespace hlo::kernel
