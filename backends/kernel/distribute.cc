// Loops side by side that get loops of their own around them.
#include "backends/kernel/copy_region.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {
namespace {

/// Where a piece lies: in each region the place of the loop that it is in, and `kStores` for what a region
/// writes itself, beside its loops.
using Path = llvm::SmallVector<size_t, 6>;
constexpr size_t kStores = SIZE_MAX;
/// Of more, blocks would run through code that is mostly of others.
constexpr size_t kMostPieces = 16;

bool IsLoop(const Stmt& stmt) { return std::holds_alternative<LoopStmt>(stmt); }

/// A loop like any other: all iterations, in any order, by one thread.
bool IsPlain(const Dimension& d) {
  return !d.ordered && !d.parallel && !HasEnd(d) && d.outer < 0 && d.width == 1 && d.unroll == 1 &&
         d.when < 0 && d.before < 0 && d.binding == Binding::None;
}

/// The pieces of a region, in the order in which they stand there; false where they cannot be told apart.
bool FindPieces(const Region& region, Path& path, std::vector<Path>& pieces) {
  size_t loops = 0;
  bool writes = false, folds = false;
  for (const Stmt& stmt : region.stmts) {
    loops += IsLoop(stmt) ? 1 : 0;
    folds |= std::holds_alternative<ReduceStmt>(stmt);
    writes |= !IsLoop(stmt) && ResultOf(stmt) < 0 && !std::holds_alternative<ReduceStmt>(stmt);
  }
  // What is folded once for several pieces is not folded for each.
  if (folds && loops > 0) return false;
  if (writes || loops == 0) {
    pieces.push_back(path);
    pieces.back().push_back(kStores);
  }
  for (size_t i = 0; i < region.stmts.size(); ++i) {
    const auto* loop = std::get_if<LoopStmt>(&region.stmts[i]);
    if (loop == nullptr) continue;
    if (!IsPlain(loop->loop)) return false;
    path.push_back(i);
    if (!FindPieces(*loop->body, path, pieces)) return false;
    path.pop_back();
  }
  return true;
}

/// Leaves of a region what a piece is and the values that it may read.
void Prune(Region& region, llvm::ArrayRef<size_t> path) {
  std::vector<Stmt> kept;
  for (size_t i = 0; i < region.stmts.size(); ++i) {
    Stmt& stmt = region.stmts[i];
    const bool is_value = !IsLoop(stmt) && (ResultOf(stmt) >= 0 || std::holds_alternative<ReduceStmt>(stmt));
    const bool writes = !IsLoop(stmt) && !is_value;
    if (is_value || i == path.front() || (writes && path.front() == kStores)) kept.push_back(std::move(stmt));
  }
  region.stmts = std::move(kept);
  for (Stmt& stmt : region.stmts)
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) Prune(*loop->body, path.drop_front());
}

/// Takes away values that nobody reads.
void RemoveUnread(Region& region, llvm::DenseSet<ValueId>& read) {
  for (size_t i = region.stmts.size(); i-- > 0;) {
    Stmt& stmt = region.stmts[i];
    const ValueId result = ResultOf(stmt);
    if (result >= 0 && !read.contains(result)) {
      region.stmts.erase(region.stmts.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const auto reads = [&](const Stmt& user) {
      ForEachUse(user, [&](ValueId value) { read.insert(value); });
    };
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      ForEachStmt(*reduce->body, reads);
      ForEachStmt(*reduce->combiner, reads);
    }
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) RemoveUnread(*loop->body, read);
    reads(stmt);
  }
}

}  // namespace

bool DistributeLoops(Kernel& kernel) {
  std::vector<Path> pieces;
  Path path;
  if (llvm::any_of(kernel.body.stmts, [](const Stmt& s) { return !IsLoop(s) && ResultOf(s) < 0; }) ||
      !FindPieces(kernel.body, path, pieces) || pieces.size() > kMostPieces)
    return false;
  if (pieces.size() <= static_cast<size_t>(llvm::count_if(kernel.body.stmts, IsLoop))) return false;
  std::vector<Stmt> all;
  for (const Path& piece : pieces) {
    RegionCopier copier(kernel);
    const std::unique_ptr<Region> copy = copier.Copy(kernel.body);
    Prune(*copy, piece);
    llvm::DenseSet<ValueId> read;
    RemoveUnread(*copy, read);
    llvm::move(copy->stmts, std::back_inserter(all));
  }
  kernel.body.stmts = std::move(all);
  return true;
}

Status Distribute(Kernel& kernel, const ScheduleStep& step) {
  const auto outermost = OutermostLoops(kernel);
  if (outermost.size() != step.loops.size() || !llvm::all_of(outermost, [&](const LoopStmt* loop) {
        return llvm::is_contained(step.loops, loop->loop.id);
      }))
    return ScheduleError("expected all outermost loops");
  bool reads = false, threads = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      reads |= kernel.buffers[static_cast<size_t>(load->buffer)].written;
    threads |= std::visit([](const auto& s) { return ThreadStmt<std::decay_t<decltype(s)>>; }, stmt);
  });
  if (threads) return ScheduleError("it holds what threads do");
  if (reads) return ScheduleError("a loop may read what another writes");
  if (!DistributeLoops(kernel)) return ScheduleError("there are no loops side by side that may be parted");
  return {};
}

}  // namespace hlo::kernel
