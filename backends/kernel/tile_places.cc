#include "backends/kernel/tile_places.h"

#include "backends/kernel/copy_region.h"
#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {

void Append(std::vector<Stmt>& to, Region region) {
  to.insert(to.end(), std::make_move_iterator(region.stmts.begin()),
            std::make_move_iterator(region.stmts.end()));
}

Region Needed(std::vector<Stmt> all, llvm::ArrayRef<ValueId> wanted) {
  llvm::DenseSet<ValueId> needed(wanted.begin(), wanted.end());
  std::vector<Stmt> kept;
  for (Stmt& stmt : llvm::reverse(all)) {
    if (!std::holds_alternative<StoreStmt>(stmt) && !needed.contains(ResultOf(stmt))) continue;
    if (std::holds_alternative<StoreStmt>(stmt) && !wanted.empty()) continue;
    ForEachUse(stmt, [&](ValueId value) { needed.insert(value); });
    kept.push_back(std::move(stmt));
  }
  Region region;
  region.stmts.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  return region;
}

ValueId TilePlaces::AppendSum(std::vector<Stmt>& to, const Region& body) {
  RegionCopier copier(kernel_);
  auto copy = copier.Copy(body);
  llvm::SmallVector<ValueId, 8> used;
  std::vector<Stmt> before;
  for (Stmt& stmt : copy->stmts) {
    const auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (reduce == nullptr) {
      before.push_back(std::move(stmt));
      continue;
    }
    const ValueId result = reduce->results[0];
    const auto use = [&](const Stmt& inner) {
      ForEachUse(inner, [&](ValueId value) { used.push_back(value); });
    };
    use(stmt);
    ForEachStmt(*reduce->body, use);
    Append(to, Needed(std::move(before), used));
    to.push_back(std::move(stmt));
    return result;
  }
  return -1;
}

ValueId TilePlaces::Divided(ValueId x, int64_t by) {
  return by == 1 ? x : Op(OpKind::Divide, ElementType::S64, {x, Integer(by)});
}

ValueId TilePlaces::Rest(ValueId x, int64_t by) {
  return Op(OpKind::Remainder, ElementType::S64, {x, Integer(by)});
}

Address TilePlaces::Times(ValueId value, int64_t factor) {
  Address address;
  address.AddValue(value, factor);
  return address;
}

Address TilePlaces::Sum(Address x, const Address& y) {
  x.Add(y);
  return x;
}

void TilePlaces::Unflatten(llvm::ArrayRef<Dimension> loops, const Address& index, LoopId lane, Bys& bys) {
  if (loops.empty()) return;
  Address last = index;
  if (loops.size() > 1) {
    ValueId rest = Index(index);
    last = Times(Rest(rest, loops.back().extent), 1);
    for (size_t i = loops.size() - 1; i-- > 0;) {
      rest = Divided(rest, loops[i + 1].extent);
      bys.push_back({loops[i].id, Times(i == 0 ? rest : Rest(rest, loops[i].extent), 1)});
    }
  }
  if (lane >= 0) last.AddLoop(lane, 1);
  bys.push_back({loops.back().id, last});
}

ValueId TilePlaces::Exists(const Address& place, int64_t extent, int64_t tile) {
  return extent % tile == 0 ? -1 : Compare(Direction::LT, Index(place), Integer(extent));
}

BufferId TilePlaces::Local(ElementType type, int64_t count) {
  kernel_.buffers.push_back({.type = type, .count = count, .written = true, .space = Space::Local});
  return static_cast<BufferId>(kernel_.buffers.size()) - 1;
}

void TilePlaces::ForEach(llvm::ArrayRef<int64_t> extents,
                         llvm::function_ref<void(llvm::ArrayRef<LoopId> loops)> body) {
  llvm::SmallVector<LoopId, 3> loops;
  for (size_t i = 0; i < extents.size(); ++i) loops.push_back(NewLoop());
  Region region;
  {
    const Into out(*this, region.stmts);
    body(loops);
  }
  for (size_t i = extents.size(); i-- > 0;) {
    Region around;
    around.stmts.push_back(Loop({.id = loops[i], .extent = extents[i]}, std::move(region)));
    region = std::move(around);
  }
  Append(*out_, std::move(region));
}

Region TilePlaces::InLanes(LoopId lane, int64_t width, Region region) {
  if (lane < 0) return region;
  Region around;
  around.stmts.push_back(
      Loop({.id = lane, .extent = width, .width = static_cast<int32_t>(width)}, std::move(region)));
  return around;
}

void TilePlaces::ForChunks(
    int64_t lines, int64_t run, int64_t width,
    llvm::function_ref<Region(const Address& line, const Address& first, ValueId exists)> body) {
  const int64_t chunks = run / width, at_once = std::max<int64_t>(threads_ / chunks, 1);
  const LoopId round = NewLoop();
  Address line = Counting(round), first;
  LoopId part = -1;
  Region inner;
  {
    const Into out(*this, inner.stmts);
    ValueId exists = -1;
    if (chunks <= threads_) {
      line = Times(Divided(thread_, chunks), 1);
      line.AddLoop(round, at_once);
      first = Times(Rest(thread_, chunks), width);
      exists = Exists(line, lines, at_once);
    } else {
      part = NewLoop();
      first = Times(thread_, width);
      first.AddLoop(part, threads_ * width);
    }
    Append(inner.stmts, body(line, first, exists));
  }
  if (part >= 0) {
    Region around;
    around.stmts.push_back(Loop({.id = part, .extent = chunks / threads_}, std::move(inner)));
    inner = std::move(around);
  }
  out_->push_back(Loop({.id = round, .extent = (lines + at_once - 1) / at_once}, std::move(inner)));
}

}  // namespace hlo::kernel
