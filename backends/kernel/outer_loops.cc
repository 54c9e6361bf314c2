#include "backends/kernel/outer_loops.h"

#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// What an array's accesses move by with a loop, in elements; nothing if they differ, or if the loop's
/// variable is anything but a place in arrays.
std::optional<llvm::SmallVector<int64_t, 8>> StridesOf(const Kernel& kernel, const LoopStmt& loop) {
  const LoopId id = loop.loop.id;
  std::vector<std::optional<int64_t>> found(kernel.buffers.size());
  bool moves = true;
  ForEachStmt(*loop.body, [&](const Stmt& stmt) {
    const auto touch = [&](BufferId buffer, const Address& address) {
      std::optional<int64_t>& stride = found[static_cast<size_t>(buffer)];
      const int64_t factor = address.FactorOf(id);
      moves &= !stride || *stride == factor;
      stride = factor;
    };
    if (const Address* place = PlaceOf(stmt)) touch(BufferOf(stmt), *place);
    if (const auto* index = std::get_if<IndexStmt>(&stmt)) moves &= index->address.FactorOf(id) == 0;
  });
  if (!moves) return std::nullopt;
  llvm::SmallVector<int64_t, 8> strides;
  for (const auto& stride : found) strides.push_back(stride.value_or(0));
  return strides;
}

/// How far apart neighbouring iterations store; 0 if that is not known.
int64_t StoreDistance(const LoopStmt& loop, BufferId output) {
  std::optional<int64_t> distance;
  ForEachStmt(*loop.body, [&](const Stmt& stmt) {
    const auto* store = std::get_if<StoreStmt>(&stmt);
    if (store == nullptr || store->buffer != output) return;
    const int64_t factor = store->address.FactorOf(loop.loop.id);
    distance = !distance || *distance == factor ? factor : 0;
  });
  return distance.value_or(0);
}

}  // namespace

std::optional<llvm::SmallVector<OuterLoop, 2>> TakeOuterLoops(Kernel& kernel, BufferId output,
                                                              int64_t distance) {
  llvm::SmallVector<OuterLoop, 2> taken;
  for (;;) {
    const LoopStmt* outermost = OutermostLoop(kernel);
    if (outermost == nullptr || StoreDistance(*outermost, output) <= distance) return taken;
    std::optional<llvm::SmallVector<int64_t, 8>> strides = StridesOf(kernel, *outermost);
    if (!strides || outermost->loop.ordered || outermost->loop.binding != Binding::None) return std::nullopt;
    const LoopId id = outermost->loop.id;
    taken.push_back({outermost->loop.extent, std::move(*strides)});
    const auto at = llvm::find_if(kernel.body.stmts,
                                  [](const Stmt& stmt) { return std::holds_alternative<LoopStmt>(stmt); });
    const std::unique_ptr<Region> body = std::move(std::get<LoopStmt>(*at).body);
    ForEachAddress(*body, [&](Address& address) { address.AddLoop(id, -address.FactorOf(id)); });
    const auto place = kernel.body.stmts.erase(at);
    kernel.body.stmts.insert(place, std::make_move_iterator(body->stmts.begin()),
                             std::make_move_iterator(body->stmts.end()));
  }
}

bool KeepsToRows(const Kernel& kernel, BufferId buffer, int64_t count) {
  const LoopStmt* rows = OutermostLoop(kernel);
  if (rows == nullptr) return false;
  std::vector<int64_t> extents(static_cast<size_t>(kernel.loop_count), 1);
  bool keeps = true;
  const auto touch = [&](BufferId touched, const Address& address) {
    if (touched != buffer) return;
    int64_t first = address.offset, last = address.offset;
    for (const auto& term : address.loops) {
      if (term.id == rows->loop.id) continue;
      const int64_t way = term.factor * (extents[static_cast<size_t>(term.id)] - 1);
      (way < 0 ? first : last) += way;
    }
    keeps &= address.values.empty() && address.FactorOf(rows->loop.id) == count && first >= 0 && last < count;
  };
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto enter = [&](const Dimension& d) { extents[static_cast<size_t>(d.id)] = d.extent; };
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) enter(loop->loop);
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) llvm::for_each(reduce->loops, enter);
    if (const Address* place = PlaceOf(stmt)) touch(BufferOf(stmt), *place);
  });
  return keeps;
}

}  // namespace hlo::kernel
